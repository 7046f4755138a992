//! `matchConditions` and validations: CEL, of which only what is common and certain is understood.
//!
//! `&&`, `||`, `!`, comparisons of a field of the request with a text, and whether the object is being deleted.
//! Everything else is [`Truth::Unknown`], and CEL's own logic makes the best of it: false and anything is false.
//! Source: `kubernetes/apiserver:pkg/admission/plugin/webhook/matchconditions/matcher.go`.

use serde_json::Value;

use super::{Change, Truth};

/// Longer expressions are no idiom.
const LONGEST: usize = 1024;
/// Deeper ones neither; whoever wrote them may be testing our stack.
const DEEPEST: usize = 12;

/// Whether all conditions of a list hold. One that is false keeps the webhook from being called, whatever the others
/// are.
pub(super) fn all(list: Option<&Value>, change: &Change<'_>) -> Truth {
    let conditions = list.and_then(Value::as_array).into_iter().flatten();
    conditions.fold(Truth::Yes, |so_far, condition| {
        so_far.and(expression(condition, change))
    })
}

/// What the `expression` of a condition or a validation comes to.
pub(super) fn expression(holder: &Value, change: &Change<'_>) -> Truth {
    match holder.get("expression").and_then(Value::as_str) {
        // Escapes, comments and raw texts are rare, and would have to be understood before anything is split.
        Some(text)
            if text.len() <= LONGEST
                && !["\\", "//", "'''", "\"\"\"", "?"]
                    .iter()
                    .any(|odd| text.contains(odd)) =>
        {
            value(text, change, 0)
        }
        _ => Truth::Unknown,
    }
}

fn value(text: &str, change: &Change<'_>, depth: usize) -> Truth {
    let text = text.trim();
    if depth > DEEPEST {
        return Truth::Unknown;
    }
    let below = |text: &str| value(text, change, depth + 1);
    let Some(parts) = split(text, "||") else {
        return Truth::Unknown;
    };
    if parts.len() > 1 {
        return parts.into_iter().map(below).fold(Truth::No, Truth::or);
    }
    let parts = split(text, "&&").unwrap_or_default();
    if parts.len() > 1 {
        return parts.into_iter().map(below).fold(Truth::Yes, Truth::and);
    }
    if let Some(known) = relation(text, change) {
        return known;
    }
    if let Some(negated) = text.strip_prefix('!') {
        return !below(negated);
    }
    match text {
        "true" => Truth::Yes,
        "false" => Truth::No,
        _ if has_deletion_timestamp(text) => Truth::Yes,
        _ => in_parentheses(text).map_or(Truth::Unknown, below),
    }
}

/// Only objects that are being deleted are looked at: both the old and the new one have it.
const DELETION_TIMESTAMPS: [&str; 2] = [
    "object.metadata.deletionTimestamp",
    "oldObject.metadata.deletionTimestamp",
];

fn has_deletion_timestamp(text: &str) -> bool {
    let inside = text.strip_prefix("has(").and_then(|text| text.strip_suffix(')'));
    inside.is_some_and(|field| DELETION_TIMESTAMPS.contains(&field.trim()))
}

/// `a == b`, `a != b` or `a in [b, c]`; none if it is something else.
fn relation(text: &str, change: &Change<'_>) -> Option<Truth> {
    for (operator, negate) in [("==", false), ("!=", true)] {
        if let [left, right] = split(text, operator)?[..] {
            let equal = equal(left.trim(), right.trim(), change);
            return Some(if negate { !equal } else { equal });
        }
    }
    let [left, right] = split(text, " in ")?[..] else {
        return None;
    };
    let list = right
        .trim()
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'));
    let Some(list) = list.and_then(|list| split(list, ",")) else {
        return Some(Truth::Unknown);
    };
    let equals = list
        .into_iter()
        .map(|item| equal(left.trim(), item.trim(), change));
    Some(equals.fold(Truth::No, Truth::or))
}

fn equal(left: &str, right: &str, change: &Change<'_>) -> Truth {
    if right == "null" && DELETION_TIMESTAMPS.contains(&left) {
        return Truth::No;
    }
    match (operand(left, change), operand(right, change)) {
        (Some(left), Some(right)) => (left == right).into(),
        _ => Truth::Unknown,
    }
}

/// A text, or a field whose value is known.
fn operand<'a>(text: &'a str, change: &Change<'a>) -> Option<&'a str> {
    for quote in ['\'', '"'] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return Some(inner);
        }
    }
    let object = change.object;
    let known = match text {
        "request.operation" => "UPDATE",
        "request.subResource" => change.subresource,
        "request.resource.resource" => &object.resource.plural,
        // An empty group is there, unlike what else is empty.
        "request.resource.group" => {
            return is_in_one_group(change).then_some(object.resource.group.as_str());
        }
        "request.kind.kind" => &object.kind,
        "request.name" | "object.metadata.name" | "oldObject.metadata.name" => object.name(),
        // A Namespace is in itself, as far as requests go.
        "request.namespace" if object.is("", "namespaces") => object.name(),
        "request.namespace" | "object.metadata.namespace" | "oldObject.metadata.namespace" => {
            object.namespace()
        }
        _ => return None,
    };
    // What is empty is left out of the request, and to name it is an error then.
    Some(known).filter(|known| !known.is_empty())
}

/// The request is handed over in the group that a rule names.
fn is_in_one_group(change: &Change<'_>) -> bool {
    change
        .served
        .iter()
        .all(|(group, _)| *group == change.object.resource.group)
}

fn in_parentheses(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    // `(a) + (b)` begins and ends like that too.
    split(inner, "||").map(|_| inner)
}

/// Splits outside quotes, parentheses and brackets; none if these do not fit together.
fn split<'a>(text: &'a str, operator: &str) -> Option<Vec<&'a str>> {
    let bytes = text.as_bytes();
    let (mut parts, mut depth, mut quote, mut start, mut at) = (Vec::new(), 0_u32, None, 0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        match quote {
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None => match byte {
                b'\'' | b'"' => quote = Some(byte),
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                _ if depth == 0 && bytes[at..].starts_with(operator.as_bytes()) => {
                    parts.push(&text[start..at]);
                    at += operator.len();
                    start = at;
                    continue;
                }
                _ => {}
            },
        }
        at += 1;
    }
    parts.push(&text[start..]);
    (depth == 0 && quote.is_none()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Around;
    use super::*;
    use crate::snapshot::facts::{Object, Resource};

    #[test]
    fn what_is_certain_is_known_and_nothing_else() {
        let object = Object {
            resource: Resource::new("x.test", "widgets"),
            kind: "Widget".into(),
            api_version: "x.test/v1".into(),
            value: json!({"metadata": {"name": "w", "namespace": "a"}}),
        };
        let change = Change {
            object: &object,
            subresource: "",
            served: vec![("x.test", "v1")],
            around: Around::Nothing,
            labels: None,
        };
        let of = |text: &str| expression(&json!({"expression": text}), &change);
        for (truth, texts) in [
            (
                Truth::Yes,
                &[
                    "true",
                    " has( object.metadata.deletionTimestamp ) ",
                    "oldObject.metadata.deletionTimestamp != null",
                    "(request.operation == \"UPDATE\") && !(request.name != 'w')",
                    "request.operation in ['CREATE', 'UPDATE'] || object.spec.x > 3",
                    "'a||b' != 'a&&b'",
                    "!(!(true))",
                ][..],
            ),
            (
                Truth::No,
                &[
                    "!has(object.metadata.deletionTimestamp)",
                    "object.spec.replicas > 3 && request.operation == 'DELETE'",
                    "request.resource.group == 'apps' || request.namespace in ['b']",
                    "object.metadata.deletionTimestamp == null",
                ],
            ),
            (
                Truth::Unknown,
                &[
                    "",
                    "object.spec.done",
                    "!object.spec.done",
                    "request.userInfo.username == 'me'",
                    "request.subResource == ''",
                    "request.operation == 'DELETE' ? true : false",
                    "!request.name == 'w'",
                    "request.name == 'w' == true",
                    "(true) + (false)",
                    "request.name == 'it\\'s'",
                    "true // && false",
                    "request.name in names",
                    "'a",
                    "(true",
                    "true)",
                    "é == 'ü'",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(of(text), truth, "{text}");
            }
        }
        assert_eq!(
            of(&format!("{}true{}", "(".repeat(500), ")".repeat(500))),
            Truth::Unknown
        );
        assert_eq!(expression(&json!({}), &change), Truth::Unknown);
    }
}
