//! Reads a field of a part of an object. A field that is missing, or has another JSON type, is absent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::snapshot::field::field;

/// A text, empty if absent.
pub(super) fn text<'a>(part: &'a Value, pointer: &str) -> &'a str {
    some_text(part, pointer).unwrap_or_default()
}

/// A text. An empty one is not absent.
pub(super) fn some_text<'a>(part: &'a Value, pointer: &str) -> Option<&'a str> {
    field(part, pointer).and_then(Value::as_str)
}

/// A boolean.
pub(super) fn boolean(part: &Value, pointer: &str) -> Option<bool> {
    field(part, pointer).and_then(Value::as_bool)
}

/// A whole number.
pub(super) fn number(part: &Value, pointer: &str) -> Option<i64> {
    field(part, pointer).and_then(Value::as_i64)
}

/// A time.
pub(super) fn time(part: &Value, pointer: &str) -> Option<Timestamp> {
    text(part, pointer).parse().ok()
}

/// The elements of a list, empty if absent.
pub(super) fn list<'a>(part: &'a Value, pointer: &str) -> &'a [Value] {
    let list = field(part, pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The texts of a list.
pub(super) fn texts<'a>(part: &'a Value, pointer: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    list(part, pointer).iter().filter_map(Value::as_str)
}

/// Keys and texts of a map, such as labels.
pub(super) fn pairs(part: &Value, pointer: &str) -> BTreeMap<String, String> {
    let map = field(part, pointer).and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    map.into_iter().flatten().filter_map(text).collect()
}
