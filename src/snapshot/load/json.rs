//! JSON: one value after another, each an object, a list, or an array of objects.
//!
//! Each item of a list is first found as a slice and then looked at. That reads the text twice, a gigabyte in
//! 2.3 s all in all, and buys that a fault in one object is that object's alone.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{
    collect::{Collector, ListHead},
    place::{Place, line_breaks},
};

/// How deep lists may lie in lists. kubectl makes one level.
pub(super) const DEEPEST: u8 = 8;

/// `kubectl cluster-info dump` without a directory prints the logs between the objects.
const LOGS: (&str, &str) = ("==== START logs for", "==== END logs for");

/// Reads all values of a file. After one that cannot be read it goes on at the next line that begins with a
/// brace, which only a new value does in JSON as anybody prints it.
pub(super) fn documents(found: &mut Collector<'_>, text: &str) {
    let mut at = 0;
    let mut line = 1;
    let mut any = false;
    loop {
        let rest = text[at..].trim_start();
        let skipped = text.len() - rest.len();
        line += line_breaks(&text.as_bytes()[at..skipped]);
        at = skipped;
        if rest.is_empty() {
            break;
        }
        any = true;
        let read = if rest.starts_with("---") {
            // JSON documents with YAML's mark between them.
            Ok(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with(LOGS.0) {
            logs(rest).ok_or_else(|| (rest.len(), line, "cut short within logs".to_owned()))
        } else {
            value(found, rest, Place::Within(rest, line), 0).map_err(|error| {
                let (next, fault) = resume(rest, &error);
                (next, line + fault - 1, what_is_wrong(&error))
            })
        };
        let length = match read {
            Ok(length) => length,
            Err((next, fault, message)) => {
                found.gap(Some(fault), message);
                next
            }
        };
        line += line_breaks(&rest.as_bytes()[..length]);
        at += length;
    }
    if !any {
        found.gap(None, "empty".into());
    }
}

/// The length of a section of logs.
fn logs(rest: &str) -> Option<usize> {
    let end = rest.find(LOGS.1)?;
    Some(rest[end..].find('\n').map_or(rest.len(), |length| end + length))
}

/// Where to go on after an error, and the line of the error within `rest`, from 1.
fn resume(rest: &str, error: &serde_json::Error) -> (usize, u64) {
    let fault = error.line().max(1);
    if error.is_eof() {
        return (rest.len(), fault as u64);
    }
    // The line at which a reader stumbles may be the first good one after a torn line, so the search begins at
    // the line break before it.
    let before: usize = rest
        .split_inclusive('\n')
        .take(fault - 1)
        .map(str::len)
        .sum::<usize>()
        .saturating_sub(1);
    let next = rest[before..]
        .find("\n{")
        .map_or(rest.len(), |at| before + at + 1);
    (next, fault as u64)
}

fn what_is_wrong(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "cut short; what came before was used".into();
    }
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("not JSON from here on: {what}")
}

/// Reads the one value at the beginning of `text` and returns how long it is.
pub(super) fn value(
    found: &mut Collector<'_>,
    text: &str,
    place: Place<'_>,
    depth: u8,
) -> Result<usize, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut head = ListHead::default();
    let kind = json.deserialize_any(Value {
        found,
        head: &mut head,
        place,
        depth,
    })?;
    let length = json.into_iter::<IgnoredAny>().byte_offset();
    match kind {
        Shape::List => found.close_list(&head, place.line(text)),
        Shape::Object => found.object(&text[..length], &mut ListHead::default(), place, depth),
        Shape::Array => {}
    }
    Ok(length)
}

enum Shape {
    List,
    Object,
    Array,
}

struct Value<'f, 'c, 't> {
    found: &'f mut Collector<'c>,
    head: &'f mut ListHead,
    place: Place<'t>,
    depth: u8,
}

impl<'de> Visitor<'de> for Value<'_, '_, '_> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            self.found
                .object(item.get(), &mut ListHead::default(), self.place, self.depth);
        }
        Ok(Shape::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut shape = Shape::Object;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "apiVersion" => self.head.api_version = text(map.next_value()?),
                "kind" => self.head.kind = text(map.next_value()?),
                "metadata" => self.head.is_page = is_page(map.next_value()?),
                // What says of itself that it is something else may call a field of its own `items`.
                "items" if self.head.may_be_list() => {
                    let items = Items {
                        found: &mut *self.found,
                        head: &mut *self.head,
                        place: self.place,
                        depth: self.depth,
                    };
                    if map.next_value_seed(items)? {
                        shape = Shape::List;
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(shape)
    }
}

/// Whether the metadata of a list says that there is more than it has.
fn is_page(metadata: &RawValue) -> bool {
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Page {
        r#continue: String,
        remaining_item_count: u64,
    }
    let page: Page = serde_json::from_str(metadata.get()).unwrap_or_default();
    !page.r#continue.is_empty() || page.remaining_item_count > 0
}

/// A value that should be a string.
fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// The value of `items`; whether it is a list's.
struct Items<'f, 'c, 't> {
    found: &'f mut Collector<'c>,
    head: &'f mut ListHead,
    place: Place<'t>,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    /// Some servers write `"items": null` for an empty list.
    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        self.head.is_list = true;
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            self.found.object(item.get(), self.head, self.place, self.depth);
        }
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_borrowed_str<E>(self, _: &'de str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }
}
