//! Fields of the object as CEL names them: `object.spec.done`, `oldObject.metadata.labels['app']`.
//!
//! The change takes one finalizer out and leaves the rest as it was read, so what is there now is what an expression
//! finds, in the old object and in the new one. What changes with it is not known, and neither is what was not read. To
//! go through a field that is not there is an error in CEL, and is left open here. An expression sees the object in the
//! version that a rule names: its own fields are known only where there is but one.
//! Source: `kubernetes/apiserver:pkg/admission/plugin/cel/condition.go`.

use serde_json::Value;

use crate::diagnose::admission::{Change, is_whole};

/// What an expression finds at a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// This.
    Is(&'a Value),
    /// Nothing, and it may be asked for with `has`.
    Absent,
    /// It cannot be said, or it is no field of the object.
    NotKnown,
}

/// Of the metadata; a snapshot leaves the last one out.
const NEVER_KNOWN: [&str; 5] = [
    "finalizers",
    "managedFields",
    "resourceVersion",
    "generation",
    "kubectl.kubernetes.io/last-applied-configuration",
];

/// The field that this expression is, if it is nothing else.
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
    if path[0] == "metadata" {
        // The whole of it changes.
        return path.len() > 1 && is_whole(object) && !path.iter().any(|name| NEVER_KNOWN.contains(name));
    }
    let own = |name: &String| !["apiVersion", "kind", "metadata"].contains(&name.as_str());
    let more_was_read = object
        .value
        .as_object()
        .is_some_and(|fields| fields.keys().any(own));
    let one_version = change.served.iter().all(|served| *served == change.served[0]);
    // A Namespace keeps finalizers here.
    let changes = object.is("", "namespaces") && path[0] == "spec";
    more_was_read && one_version && !changes
}

/// The names that lead to it: `a.b` and `a['b']` are the same.
fn path(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let mut rest = ["object", "oldObject"].into_iter().find_map(|root| {
        text.strip_prefix(root)
            .filter(|rest| rest.starts_with(['.', '[']))
    })?;
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix('[') {
            let quote = quoted.chars().next().filter(|c| ['\'', '"'].contains(c))?;
            let (name, after) = quoted[1..].split_once(quote)?;
            (name, after.strip_prefix(']')?)
        } else {
            let name = rest.strip_prefix('.')?;
            let end = name
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            let is_word = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
            // `__` stands for what no name may hold.
            is_word.then_some(()).filter(|()| !name.contains("__"))?;
            (name, after)
        };
        names.push(name);
        rest = after;
    }
    Some(names)
}
