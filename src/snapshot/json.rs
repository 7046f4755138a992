//! Reads a list of objects in JSON, from a server or from a file. The objects may be whole, but only their metadata is
//! read.
//!
//! Objects are passed on one by one and borrow from the text. Objects that are dropped are never built.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use jiff::Timestamp;
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use super::{Condition, Item, NamespaceOnly, driver};

/// Called for each object of a list. An error ends the reading and becomes its error.
pub type Each<'f> = &'f mut dyn FnMut(Object<'_>) -> Result<(), String>;

/// The part of a list beside its items.
#[derive(Debug, Default)]
pub struct List {
    /// Whether it has `items`: a `Status` or a single object has none.
    pub has_items: bool,
    /// `metadata.continue`, unless empty.
    pub next: Option<String>,
    /// `metadata.resourceVersion`, unless empty.
    pub resource_version: Option<String>,
}

/// Reads a list. Objects before a fault were passed on.
pub fn list(body: &[u8], each: Each<'_>) -> Result<List, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let list = json.deserialize_map(ListVisitor { each })?;
    json.end()?;
    Ok(list)
}

/// Reads a single object.
pub fn object(body: &[u8]) -> Result<Object<'_>, String> {
    serde_json::from_slice(body)
        .map_err(|error| format!("the answer is not an object that can be read: {error}"))
}

struct ListVisitor<'f> {
    each: Each<'f>,
}

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = List;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List, A::Error> {
        let mut list = List::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match &*key.0 {
                "metadata" => {
                    let metadata = map.next_value::<Option<ListMeta>>()?.unwrap_or_default();
                    list.next = metadata.next.filter(|token| !token.is_empty());
                    list.resource_version = metadata.resource_version.filter(|version| !version.is_empty());
                }
                "items" => {
                    map.next_value_seed(Items {
                        each: &mut *self.each,
                    })?;
                    list.has_items = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(list)
    }
}

struct Items<'f> {
    each: Each<'f>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    /// Some servers write `"items": null` for an empty list.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(object) = items.next_element::<Object<'de>>()? {
            (self.each)(object).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

#[derive(Default, Deserialize)]
struct ListMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
    #[serde(rename = "resourceVersion")]
    resource_version: Option<String>,
}

/// A string that borrows if the JSON has no escapes.
#[derive(Default, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields to read in addition to the common metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraFields {
    /// Nothing.
    Nothing,
    /// The `spec.finalizers` and the conditions of a Namespace.
    Namespace,
    /// The CSI driver that the object belongs to.
    Driver,
}

impl ExtraFields {
    /// The fields to read for objects of this type.
    pub fn of(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Namespace") => ExtraFields::Namespace,
            _ if driver::is_named_by(group, kind) => ExtraFields::Driver,
            _ => ExtraFields::Nothing,
        }
    }
}

/// One object of a list, not fully parsed yet.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Object<'a> {
    #[serde(borrow, default)]
    api_version: Option<Text<'a>>,
    #[serde(borrow, default)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    namespace: Option<Text<'a>>,
    #[serde(borrow, default)]
    uid: Option<Text<'a>>,
    #[serde(borrow, default)]
    creation_timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    deletion_timestamp: Option<Text<'a>>,
    deletion_grace_period_seconds: Option<i64>,
    #[serde(borrow, default)]
    finalizers: Option<Vec<Text<'a>>>,
    #[serde(borrow, default)]
    labels: Option<&'a RawValue>,
    #[serde(borrow, default)]
    annotations: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct NamespaceSpec {
    finalizers: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct NamespaceStatus {
    conditions: Option<Vec<ConditionJson>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConditionJson {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    last_transition_time: Option<String>,
}

impl<'a> Object<'a> {
    /// `apiVersion`; a server leaves it out in a list of one type.
    pub fn api_version(&self) -> Option<&str> {
        self.api_version.as_ref().map(|text| &*text.0)
    }

    /// `kind`; a server leaves it out in a list of one type.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_ref().map(|text| &*text.0)
    }

    /// `metadata.labels`, for sources that apply no selectors.
    pub fn labels(&self) -> Result<BTreeMap<String, String>, String> {
        self.metadata.labels.map_or(Ok(BTreeMap::new()), |labels| {
            serde_json::from_str::<Option<_>>(labels.get())
                .map(Option::unwrap_or_default)
                .map_err(|error| format!("metadata.labels: {error}"))
        })
    }

    /// Converts the object into an item.
    pub fn item(self, extra_fields: ExtraFields) -> Result<Item<'a>, String> {
        let driver = (extra_fields == ExtraFields::Driver)
            .then(|| self.driver())
            .flatten();
        let metadata = self.metadata;
        let mut item = Item {
            namespace: metadata.namespace.unwrap_or_default().0,
            name: metadata.name.unwrap_or_default().0,
            uid: metadata.uid.unwrap_or_default().0,
            deletion: metadata
                .deletion_timestamp
                .map(|text| timestamp("deletionTimestamp", &text.0))
                .transpose()?,
            grace_seconds: metadata.deletion_grace_period_seconds,
            finalizers: metadata
                .finalizers
                .unwrap_or_default()
                .into_iter()
                .map(|text| text.0)
                .collect(),
            driver,
            ..Item::default()
        };
        if extra_fields == ExtraFields::Namespace {
            item.namespace_only = namespace_only(self.spec, self.status)?;
        }
        if !item.is_bare() {
            item.created = metadata
                .creation_timestamp
                .map(|text| timestamp("creationTimestamp", &text.0))
                .transpose()?;
        }
        Ok(item)
    }

    /// The CSI driver; none if the fields cannot be parsed.
    fn driver(&self) -> Option<String> {
        let read = |raw: Option<&RawValue>| -> Value {
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
                .unwrap_or_default()
        };
        let metadata = json!({"annotations": read(self.metadata.annotations)});
        let object = json!({"metadata": metadata, "spec": read(self.spec)});
        driver::names(&object).next().map(str::to_owned)
    }
}

fn namespace_only(
    spec: Option<&RawValue>,
    status: Option<&RawValue>,
) -> Result<Option<Box<NamespaceOnly>>, String> {
    let read = |what: &str, error: serde_json::Error| format!("{what} of the Namespace: {error}");
    let finalizers = spec
        .map(|raw| serde_json::from_str::<NamespaceSpec>(raw.get()).map_err(|error| read("spec", error)))
        .transpose()?
        .and_then(|spec| spec.finalizers)
        .unwrap_or_default();
    let conditions = status
        .map(|raw| serde_json::from_str::<NamespaceStatus>(raw.get()).map_err(|error| read("status", error)))
        .transpose()?
        .and_then(|status| status.conditions)
        .unwrap_or_default()
        .into_iter()
        .map(|condition| Condition {
            kind: condition.kind,
            status: condition.status,
            reason: condition.reason,
            message: condition.message,
            since: condition.last_transition_time.and_then(|text| text.parse().ok()),
        })
        .collect::<Vec<_>>();
    let anything = !finalizers.is_empty() || !conditions.is_empty();
    Ok(anything.then(|| {
        Box::new(NamespaceOnly {
            finalizers,
            conditions,
        })
    }))
}

fn timestamp(field: &str, text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| format!("{field} {text:?} is not a time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(body: &str) -> Result<(usize, List), serde_json::Error> {
        let mut count = 0;
        list(body.as_bytes(), &mut |object| {
            object.item(ExtraFields::Nothing).map(|_| count += 1)
        })
        .map(|list| (count, list))
    }

    #[test]
    fn ignores_field_order_nulls_and_unknown_fields() {
        let (count, list) = items(
            r#"{"items":[{"metadata":{"name":"a","finalizers":null,"labels":null}}],"x":{},"metadata":{"continue":"t"}}"#,
        )
        .expect("a list");
        assert_eq!(
            (count, list.next.as_deref(), list.has_items),
            (1, Some("t"), true)
        );
        let (count, list) = items(r#"{"metadata":{"continue":""},"items":null}"#).expect("a list");
        assert_eq!((count, list.next, list.has_items), (0, None, true));
    }

    #[test]
    fn a_status_is_not_an_empty_list() {
        assert!(
            !items(r#"{"kind":"Status","status":"Failure"}"#)
                .expect("JSON")
                .1
                .has_items
        );
    }

    #[test]
    fn rejects_wrong_types_and_truncated_answers() {
        for wrong in [
            r#"{"items":[{"metadata":{"finalizers":7}}]}"#,
            r#"{"items":{}}"#,
            r#"{"items":[{"metadata":null}]}"#,
            r#"{"items":[{"metadata":{"deletionTimestamp":"soon"}}]}"#,
            r#"{"items":[{"metadata":{"name":"a"}}"#,
            "[]",
            "",
        ] {
            assert!(items(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn decodes_escapes_and_borrows_other_text() {
        let mut names = Vec::new();
        let body = r#"{"items":[{"metadata":{"name":"a\u0041"}},{"metadata":{"name":"plain"}}]}"#;
        list(body.as_bytes(), &mut |object| {
            let item = object.item(ExtraFields::Nothing)?;
            names.push((item.name.to_string(), matches!(item.name, Cow::Borrowed(_))));
            Ok(())
        })
        .expect("a list");
        assert_eq!(names, [("aA".to_owned(), false), ("plain".to_owned(), true)]);
    }
}
