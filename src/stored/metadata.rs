//! The metadata of a stored object as people read it: a line a field, with what matters of its value.

use serde_json::{Map, Value};

/// How much of a value is shown.
const MAX_VALUE: usize = 160;

/// The value of a field, of its parts. A long one is cut.
pub(super) fn shown(parts: &[String]) -> String {
    let all = parts.join(", ");
    let mut shown: String = all.chars().take(MAX_VALUE).collect();
    if shown.len() < all.len() {
        shown.push_str("...");
    }
    shown
}

/// The fields of metadata in JSON.
pub(super) fn of_json(metadata: &Map<String, Value>) -> Vec<(String, String)> {
    let shown_value = |field: &str, value: &Value| match value {
        Value::String(text) => shown(std::slice::from_ref(text)),
        Value::Array(all) => shown(&all.iter().map(|one| part(field, one)).collect::<Vec<_>>()),
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{key}={}", plain(value)));
            shown(&pairs.collect::<Vec<_>>())
        }
        other => other.to_string(),
    };
    let fields = metadata.iter();
    fields
        .map(|(field, value)| (field.clone(), shown_value(field, value)))
        .collect()
}

/// What matters of an owner, of a writer, or of a finalizer.
fn part(field: &str, value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    match field {
        "ownerReferences" => format!("{} {}", text("kind"), text("name")),
        "managedFields" => text("manager").to_owned(),
        _ => plain(value),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
