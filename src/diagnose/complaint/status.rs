//! The words that a controller writes below `status`, outside of conditions: `status.message`, `lastError`,
//! `failureMessage`, a state of each component. There is no convention, so the name of the field decides.
//!
//! Such a text may as well report a success. So it counts only if it tells of a failure, or of something that is waited for.
//! Nothing says when it was written. So it counts only if its manager wrote below the same field of `status`
//! since the deletion, or if `managedFields` were not read, as in most dumps. Then it is nobody's.

use jiff::Timestamp;
use serde_json::Value;

use super::{Complaint, author, join, rank, reports_failure, shortened};
use crate::{diagnose::limits, snapshot::facts::Object};

/// What a field that holds words is called, or ends with.
const WORDS: [&str; 4] = ["message", "error", "errors", "failure"];
/// What a field is called that explains the one beside it.
const REASONS: [&str; 3] = ["reason", "cause", "errorcode"];

pub(super) fn complaints(object: &Object, since: Timestamp) -> Vec<Complaint> {
    let mut found = Vec::new();
    let Some(status) = object.value.get("status") else {
        return found;
    };
    // Conditions have a time and a polarity of their own.
    let fields = status.as_object().into_iter().flatten();
    for (field, value) in fields.filter(|(field, _)| *field != "conditions") {
        let (author, written) = author::of_status(object, field);
        if written.is_some_and(|written| written < since) {
            continue;
        }
        let mut texts = Vec::new();
        collect(field, value, status, field.clone(), &mut texts);
        found.extend(texts.into_iter().filter_map(|(path, text)| {
            let is_failure = names_failure(&path) || reports_failure(&text);
            (is_failure || rank::tells_of_a_wait(&text)).then(|| Complaint {
                source: format!("{} {} status.{path}", object.kind, object.name()),
                text: shortened(&text),
                time: None,
                is_failure,
                author: author.clone(),
                written,
            })
        }));
    }
    found.truncate(limits::STATUS_TEXTS);
    found
}

/// Collects the texts at this field and below it, each with its path.
fn collect(key: &str, value: &Value, beside: &Value, path: String, found: &mut Vec<(String, String)>) {
    if found.len() >= limits::STATUS_TEXTS || path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::String(text) if holds_words(key) && !text.trim().is_empty() => {
            found.push((path, with_reason(key, beside, text)));
        }
        Value::Array(items) => {
            for item in items.iter().take(limits::STATUS_TEXTS) {
                collect(key, item, beside, path.clone(), found);
            }
        }
        Value::Object(fields) if !fields.contains_key("lastTransitionTime") => {
            for (key, inner) in fields {
                collect(key, inner, value, format!("{path}.{key}"), found);
            }
        }
        _ => {}
    }
}

/// The text with the reason that stands beside it.
fn with_reason(key: &str, beside: &Value, text: &str) -> String {
    let reason = beside.as_object().into_iter().flatten().find(|(other, value)| {
        *other != key && REASONS.iter().any(|word| other.to_lowercase().ends_with(word)) && value.is_string()
    });
    let reason = reason.and_then(|(_, value)| value.as_str()).unwrap_or_default();
    join(reason, text)
}

fn holds_words(key: &str) -> bool {
    let key = key.to_lowercase();
    WORDS.iter().any(|word| key.ends_with(word))
}

fn names_failure(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    last.contains("error") || last.contains("fail")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::testing::world::bare;

    fn told(status: &Value, written: &str) -> Vec<(String, bool)> {
        let object = bare(
            "x.test",
            "as",
            "A",
            json!({"metadata": {"name": "a", "managedFields": [{"manager": "m", "time": written,
                "fieldsV1": {"f:status": {"f:message": {}, "f:lastError": {}, "f:components": {}, "f:errors": {}}}}]},
                "status": status}),
        );
        let since = "2026-01-01T11:00:00Z".parse().expect("a time");
        complaints(&object, since)
            .into_iter()
            .map(|complaint| (complaint.text, complaint.is_failure))
            .collect()
    }

    const AFTER: &str = "2026-01-01T11:30:00Z";

    #[test]
    fn finds_words_wherever_they_stand() {
        for (status, text, is_failure) in [
            (
                json!({"message": "waiting for the primary"}),
                "waiting for the primary",
                false,
            ),
            (
                json!({"message": "no route, cannot connect", "reason": "Unreachable"}),
                "Unreachable: no route, cannot connect",
                true,
            ),
            (json!({"lastError": "403"}), "403", true),
            (
                json!({"errors": ["bucket is not empty"]}),
                "bucket is not empty",
                true,
            ),
            (
                json!({"components": {"db": {"failureMessage": "x", "failureReason": "DeleteError"}}}),
                "DeleteError: x",
                true,
            ),
        ] {
            assert_eq!(told(&status, AFTER), [(text.to_owned(), is_failure)], "{status}");
        }
    }

    #[test]
    fn old_words_and_other_fields_tell_nothing() {
        let words = json!({"message": "cannot connect"});
        assert!(told(&words, "2026-01-01T10:59:00Z").is_empty());
        for status in [
            json!({"phase": "Deleting", "url": "https://x", "observedGeneration": 3}),
            json!({"message": " "}),
            json!({"message": "Deployed with 3 replicas"}),
            json!({"conditions": [{"type": "Ready", "status": "True", "message": "fine"}]}),
            json!("x"),
        ] {
            assert!(told(&status, AFTER).is_empty(), "{status}");
        }
    }
}
