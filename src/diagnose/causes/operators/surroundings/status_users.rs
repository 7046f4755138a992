//! What the status of an object says of its use: `status.inUse`, or a list such as `status.linked_by_policies`. Its controller
//! wrote that, and mostly keeps the object as long as it is so.

use serde_json::Value;

use super::named_settings::words;
use crate::{
    diagnose::{causes::operators::referenced_by::name_of_item, limits, model::Finding},
    snapshot::facts::Object,
};

/// Words in front of `by` that tell of a use.
const USED: [&str; 8] = [
    "attached",
    "claimed",
    "consumed",
    "held",
    "linked",
    "locked",
    "referenced",
    "used",
];
/// Names of lists of users.
const USERS: [&str; 4] = ["consumers", "dependants", "dependents", "users"];

/// Tells who uses the object according to its status, and returns whether anybody does.
pub(super) fn add_users(object: &Object, finding: &mut Finding) -> bool {
    let status = object.value.get("status").and_then(Value::as_object);
    let mut is_used = false;
    for (key, value) in status.into_iter().flatten() {
        let says = match value {
            Value::Bool(true) if words(key) == ["in", "use"] => "true".to_owned(),
            Value::Array(_) | Value::String(_) if tells_of_users(key) => names(value).join(", "),
            _ => continue,
        };
        if !says.is_empty() {
            super::tell(object, finding, format!("status.{key} is {says}"));
            is_used = true;
        }
    }
    is_used
}

fn tells_of_users(key: &str) -> bool {
    let words = words(key);
    let by = |pair: &[String]| matches!(pair, [how, by] if by == "by" && USED.contains(&&**how));
    words.windows(2).any(by) || matches!(words.as_slice(), [only] if USERS.contains(&&**only))
}

/// The first names in a value, with their namespaces.
fn names(value: &Value) -> Vec<String> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let named = items.iter().filter_map(|item| {
        let name = name_of_item(item)?;
        Some(match item.get("namespace").and_then(Value::as_str) {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.to_owned(),
        })
    });
    named
        .filter(|name| !name.is_empty())
        .take(limits::NAMES_IN_SENTENCE)
        .collect()
}
