//! Reads fields of the object as CEL names them: `object.spec.done`, `oldObject.metadata.labels['app']`.
//!
//! The change removes one finalizer and leaves the rest of the object as it was read. So an expression finds
//! the current values, in the old object and in the new one. Fields that change with the finalizer are unknown,
//! and so are fields that were not read. A path through a missing field is an error in CEL, and is unknown
//! here. An expression sees the object in the version that a rule names: the fields of the spec and the status
//! are known only if there is one version. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/cel/condition.go`.

use serde_json::Value;

use crate::diagnose::admission::{Change, is_whole};

/// The value of a field in an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// The field has this value.
    Is(&'a Value),
    /// The field does not exist, and `has` may ask for it.
    Absent,
    /// The value is unknown, or it is no field of the object.
    NotKnown,
}

/// Names in the metadata with an unknown value; a snapshot leaves out the last one.
const UNKNOWN_METADATA: [&str; 5] = [
    "finalizers",
    "managedFields",
    "resourceVersion",
    "generation",
    "kubectl.kubernetes.io/last-applied-configuration",
];

/// The value of this expression, if it is a field and nothing else.
pub(super) fn field<'a>(text: &str, change: &Change<'a>) -> Field<'a> {
    let Some(path) = path(text) else {
        return Field::NotKnown;
    };
    if !is_known(&path, change) {
        return Field::NotKnown;
    }
    let (mut at, last) = (&change.object.value, path.len() - 1);
    for (depth, name) in path.iter().enumerate() {
        let Some(fields) = at.as_object() else {
            return Field::NotKnown;
        };
        match fields.get(*name) {
            Some(Value::Null) => return Field::NotKnown,
            Some(value) => at = value,
            None if depth == last => return Field::Absent,
            None => return Field::NotKnown,
        }
    }
    Field::Is(at)
}

fn is_known(path: &[&str], change: &Change<'_>) -> bool {
    let object = change.object;
    if path.first() == Some(&"metadata") {
        // The metadata as a whole changes.
        return path.len() > 1
            && is_whole(object)
            && !path.iter().any(|name| UNKNOWN_METADATA.contains(name));
    }
    let own = |name: &String| !["apiVersion", "kind", "metadata"].contains(&name.as_str());
    let more_was_read = object
        .value
        .as_object()
        .is_some_and(|fields| fields.keys().any(own));
    let one_version = change
        .served
        .windows(2)
        .all(|two| matches!(two, [one, next] if one == next));
    // The spec of a Namespace contains finalizers.
    let changes = object.is("", "namespaces") && path.first() == Some(&"spec");
    more_was_read && one_version && !changes
}

/// The names on the path to the field: `a.b` and `a['b']` are the same.
fn path(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let mut rest = ["object", "oldObject"].into_iter().find_map(|root| {
        text.strip_prefix(root)
            .filter(|rest| rest.starts_with(['.', '[']))
    })?;
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix('[') {
            let mut letters = quoted.chars();
            let quote = letters.next().filter(|c| ['\'', '"'].contains(c))?;
            let (name, after) = letters.as_str().split_once(quote)?;
            (name, after.strip_prefix(']')?)
        } else {
            let name = rest.strip_prefix('.')?;
            let end = name
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            let is_word = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
            // CEL escapes invalid characters of a name with `__`.
            is_word.then_some(()).filter(|()| !name.contains("__"))?;
            (name, after)
        };
        names.push(name);
        rest = after;
    }
    Some(names)
}
