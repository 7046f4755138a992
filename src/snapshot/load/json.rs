//! JSON: one value after another, each an object, a list, or an array of objects.
//!
//! Each item of a list is first found as a slice and then parsed. That reads the text twice, a gigabyte in 2.3 s in
//! total. In return, a fault in one object affects only that object.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{
    collect::{Collector, ListHead, Taken},
    place::{Location, line_breaks},
};
use crate::snapshot::Why;

/// How deep lists may be nested. kubectl makes one level.
const MAX_DEPTH: u8 = 8;

/// The marks around logs. `kubectl cluster-info dump` without a directory prints logs between the objects.
const LOG_MARKS: (&str, &str) = ("==== START logs for", "==== END logs for");

/// Reads all values of a file. After a value that cannot be read it continues at the next line that begins with a
/// brace. In JSON as tools print it, only a new value begins like that.
pub(super) fn documents(collector: &mut Collector<'_>, text: &str) {
    let mut at = 0;
    let mut line = 1;
    let mut any = false;
    loop {
        let begin = text.get(at..).unwrap_or_default();
        let rest = begin.trim_start();
        let skipped = begin.len().saturating_sub(rest.len());
        line += line_breaks(begin.as_bytes().get(..skipped).unwrap_or_default());
        at += skipped;
        if rest.is_empty() {
            break;
        }
        any = true;
        let read = if rest.starts_with("---") {
            // JSON documents may be separated by YAML's mark.
            Ok(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with(LOG_MARKS.0) {
            logs(rest).ok_or_else(|| (rest.len(), line, "cut short within logs".to_owned()))
        } else {
            value(collector, rest, Location::Within(rest, line), 0).map_err(|error| {
                let (next, fault) = resume(rest, &error);
                (next, line + fault - 1, error_message(&error))
            })
        };
        let length = match read {
            Ok(length) => length,
            Err((next, fault, message)) => {
                collector.gap(Some(fault), message);
                next
            }
        };
        line += line_breaks(rest.as_bytes().get(..length).unwrap_or_default());
        at += length;
    }
    if !any {
        collector.gap(None, "empty".into());
    }
}

/// The length of a section of logs, up to its end mark.
fn logs(rest: &str) -> Option<usize> {
    let end = rest.find(LOG_MARKS.1)?;
    let last = rest.get(end..)?.find('\n');
    Some(last.map_or(rest.len(), |length| end + length))
}

/// Where to continue after an error, and the line of the error within `rest`, from 1.
fn resume(rest: &str, error: &serde_json::Error) -> (usize, u64) {
    let fault = error.line().max(1);
    if error.is_eof() {
        return (rest.len(), fault as u64);
    }
    // The line of the error may be the first good one after a torn line. So the search begins at the line break before
    // it.
    let before: usize = rest
        .split_inclusive('\n')
        .take(fault - 1)
        .map(str::len)
        .sum::<usize>()
        .saturating_sub(1);
    // An error within a character leaves the search to what follows it.
    let next = rest
        .get(before..)
        .and_then(|after| after.find("\n{"))
        .map_or(rest.len(), |at| before + at + 1);
    (next, fault as u64)
}

fn error_message(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "cut short; what came before was used".into();
    }
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("not JSON from here on: {what}")
}

/// Reads the first value of `text` and returns its length.
pub(super) fn value(
    collector: &mut Collector<'_>,
    text: &str,
    location: Location<'_>,
    depth: u8,
) -> Result<usize, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut head = ListHead::default();
    let kind = json.deserialize_any(Value {
        collector,
        head: &mut head,
        location,
        depth,
    })?;
    let length = json.into_iter::<IgnoredAny>().byte_offset();
    match kind {
        Shape::List => collector.close_list(&head, location.line(text)),
        Shape::Object => object(
            collector,
            text.get(..length).unwrap_or_default(),
            &mut ListHead::default(),
            location,
            depth,
        ),
        Shape::Array => {}
    }
    Ok(length)
}

/// Takes one object into the collector. `list` gives its type if the object does not. A list in place of an object is
/// unpacked.
pub(super) fn object(
    collector: &mut Collector<'_>,
    text: &str,
    list: &mut ListHead,
    location: Location<'_>,
    depth: u8,
) {
    let result = match collector.take(text, list, location) {
        Ok(Taken::List) => nested_list(collector, text, location, depth),
        Ok(Taken::Object | Taken::Nothing) => Ok(()),
        Err(why) => Err(why),
    };
    if let Err(why) = result {
        collector.fault(|| Some(location.line(text)), why);
    }
}

fn nested_list(
    collector: &mut Collector<'_>,
    text: &str,
    location: Location<'_>,
    depth: u8,
) -> Result<(), Why> {
    if depth >= MAX_DEPTH {
        return Err(Why::Undecodable("lists in lists, too deep to follow".into()));
    }
    let location = match location {
        Location::Within(..) => Location::Within(text, location.line(text)),
        line @ Location::Line(_) => line,
    };
    value(collector, text, location, depth + 1)
        .map(drop)
        .map_err(|error| Why::Undecodable(error.to_string()))
}

enum Shape {
    List,
    Object,
    Array,
}

struct Value<'f, 'c, 't> {
    collector: &'f mut Collector<'c>,
    head: &'f mut ListHead,
    location: Location<'t>,
    depth: u8,
}

impl<'de> Visitor<'de> for Value<'_, '_, '_> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            object(
                self.collector,
                item.get(),
                &mut ListHead::default(),
                self.location,
                self.depth,
            );
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
                // An object of another kind may have a field of its own that is called `items`.
                "items" if self.head.may_be_list() => {
                    let items = Items {
                        collector: &mut *self.collector,
                        head: &mut *self.head,
                        location: self.location,
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

/// Whether the metadata of a list says that more items follow.
fn is_page(raw: &RawValue) -> bool {
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct ListMeta {
        r#continue: String,
        remaining_item_count: u64,
    }
    let metadata: ListMeta = serde_json::from_str(raw.get()).unwrap_or_default();
    !metadata.r#continue.is_empty() || metadata.remaining_item_count > 0
}

/// A value that should be a string.
fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Reads the value of `items`, and returns whether it belongs to a list.
struct Items<'f, 'c, 't> {
    collector: &'f mut Collector<'c>,
    head: &'f mut ListHead,
    location: Location<'t>,
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
            object(self.collector, item.get(), self.head, self.location, self.depth);
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
