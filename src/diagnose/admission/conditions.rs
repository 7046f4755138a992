//! Evaluates the CEL of `matchConditions` and validations, as far as it is common and certain.
//!
//! Understood are `&&`, `||`, `!`, comparisons of fields of the request and of the object, and whether fields
//! exist. Everything else is [`Truth::Unknown`]. CEL's own logic still gives an answer in part: false and
//! anything is false. Source: `kubernetes/apiserver:pkg/admission/plugin/webhook/matchconditions/matcher.go`.

use serde_json::Value;

use crate::diagnose::{
    admission::{
        Change, Truth,
        fields::{Field, field},
    },
    limits,
};

/// Whether all conditions of a list are true. If one is false, the webhook is not called, whatever the others
/// are.
pub(super) fn all<'a>(conditions: impl Iterator<Item = Option<&'a str>>, change: &Change<'_>) -> Truth {
    conditions.fold(Truth::Yes, |so_far, condition| {
        so_far.and(expression(condition, change))
    })
}

/// The value of the expression of a condition or a validation; it is unknown if there is none.
pub(super) fn expression(text: Option<&str>, change: &Change<'_>) -> Truth {
    match text {
        // Escapes, comments and raw strings are rare, and would have to be parsed before the text can be split.
        Some(text)
            if text.len() <= limits::EXPRESSION
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
    if depth > limits::EXPRESSION_DEPTH {
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
    if let Some(known) = comparison(text, change) {
        return known;
    }
    if let Some(negated) = text.strip_prefix('!') {
        return !below(negated);
    }
    match text {
        "true" => Truth::Yes,
        "false" => Truth::No,
        _ => match (in_has(text), in_parentheses(text)) {
            (Some(inside), _) => has(inside, change),
            (None, Some(inside)) => below(inside),
            (None, None) => match field(text, change) {
                Field::Is(Value::Bool(known)) => (*known).into(),
                _ => Truth::Unknown,
            },
        },
    }
}

/// Only objects in deletion are diagnosed, so both the old and the new object have this field.
const DELETION_TIMESTAMPS: [&str; 2] = [
    "object.metadata.deletionTimestamp",
    "oldObject.metadata.deletionTimestamp",
];

fn in_has(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("has(").and_then(|text| text.strip_suffix(')'));
    inside.map(str::trim)
}

fn has(name: &str, change: &Change<'_>) -> Truth {
    match field(name, change) {
        _ if DELETION_TIMESTAMPS.contains(&name) => Truth::Yes,
        Field::Is(_) => Truth::Yes,
        Field::Absent => Truth::No,
        Field::NotKnown => Truth::Unknown,
    }
}

/// `a == b`, `a != b` or `a in [b, c]`; none if it is something else.
fn comparison(text: &str, change: &Change<'_>) -> Option<Truth> {
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
        return Some(is_in(left.trim(), right.trim(), change));
    };
    let equals = list
        .into_iter()
        .map(|item| equal(left.trim(), item.trim(), change));
    Some(equals.fold(Truth::No, Truth::or))
}

/// Whether a string is a key of a map, or an element of a list.
fn is_in(left: &str, right: &str, change: &Change<'_>) -> Truth {
    match (operand(left, change), field(right, change)) {
        (Some(Operand::Text(key)), Field::Is(Value::Object(fields))) => fields.contains_key(key).into(),
        (Some(Operand::Text(text)), Field::Is(Value::Array(items))) if items.iter().all(Value::is_string) => {
            items.iter().any(|item| item == text).into()
        }
        _ => Truth::Unknown,
    }
}

fn equal(left: &str, right: &str, change: &Change<'_>) -> Truth {
    if right == "null" {
        let is_there = DELETION_TIMESTAMPS.contains(&left) || matches!(field(left, change), Field::Is(_));
        return if is_there { Truth::No } else { Truth::Unknown };
    }
    if let (Field::Is(left), Field::Is(right)) = (field(left, change), field(right, change))
        && std::ptr::eq(left, right)
    {
        // It is the same field of the old and of the new object, whatever its value.
        return Truth::Yes;
    }
    match (operand(left, change), operand(right, change)) {
        (Some(Operand::Text(left)), Some(Operand::Text(right))) => (left == right).into(),
        (Some(Operand::Bool(left)), Some(Operand::Bool(right))) => (left == right).into(),
        (Some(Operand::Int(left)), Some(Operand::Int(right))) => (left == right).into(),
        // For operands of two types CEL may return false or fail.
        _ => Truth::Unknown,
    }
}

/// A value that can be compared.
#[derive(Clone, Copy)]
enum Operand<'a> {
    Text(&'a str),
    Bool(bool),
    Int(i64),
}

fn operand<'a>(text: &'a str, change: &Change<'a>) -> Option<Operand<'a>> {
    if let Some(known) = self::text(text, change) {
        return Some(Operand::Text(known));
    }
    match (text, field(text, change)) {
        ("true", _) => Some(Operand::Bool(true)),
        ("false", _) => Some(Operand::Bool(false)),
        (_, Field::Is(Value::String(known))) => Some(Operand::Text(known)),
        (_, Field::Is(Value::Bool(known))) => Some(Operand::Bool(*known)),
        (_, Field::Is(Value::Number(known))) => known.as_i64().map(Operand::Int),
        _ => text.parse().ok().map(Operand::Int),
    }
}

/// A string literal, or a field of the request with a known value.
fn text<'a>(text: &'a str, change: &Change<'a>) -> Option<&'a str> {
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
        // An empty group is part of the request, unlike other empty fields.
        "request.resource.group" => {
            return is_in_one_group(change).then_some(object.resource.group.as_str());
        }
        "request.kind.kind" => &object.kind,
        "request.name" | "object.metadata.name" | "oldObject.metadata.name" => object.name(),
        // In requests the namespace of a Namespace is its own name.
        "request.namespace" if object.is("", "namespaces") => object.name(),
        "request.namespace" | "object.metadata.namespace" | "oldObject.metadata.namespace" => {
            object.namespace()
        }
        _ => return None,
    };
    // Empty fields are left out of the request, and to name them is then an error.
    Some(known).filter(|known| !known.is_empty())
}

/// Whether the object is served in one group alone. The request has the group that a rule names.
fn is_in_one_group(change: &Change<'_>) -> bool {
    change
        .served
        .iter()
        .all(|(group, _)| *group == change.object.resource.group)
}

fn in_parentheses(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    // `(a) + (b)` also begins and ends with parentheses.
    split(inner, "||").map(|_| inner)
}

/// Splits a text outside quotes, parentheses and brackets. None if these are unbalanced.
fn split<'a>(text: &'a str, operator: &str) -> Option<Vec<&'a str>> {
    let bytes = text.as_bytes();
    let (mut parts, mut depth, mut quote, mut start, mut at) = (Vec::new(), 0_u32, None, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match quote {
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None => match byte {
                b'\'' | b'"' => quote = Some(byte),
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                _ if depth == 0 && bytes.get(at..)?.starts_with(operator.as_bytes()) => {
                    parts.push(text.get(start..at)?);
                    at += operator.len();
                    start = at;
                    continue;
                }
                _ => {}
            },
        }
        at += 1;
    }
    parts.push(text.get(start..)?);
    (depth == 0 && quote.is_none()).then_some(parts)
}

#[cfg(test)]
mod tests;
