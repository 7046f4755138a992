//! The words that a controller writes below `status`, outside of conditions: `status.message`, `lastError`,
//! `failureMessage`, a state of each component. There is no convention, so the name of the field decides. Whatever prose
//! stands inside of an `error: {}` counts, whatever its field is called. A `reason`, `state` or `phase` alone counts if it
//! complains, and so does prose about a failure right below `status`. The condition of a part of the object has a polarity,
//! as those of the object.
//!
//! A text in a list is led in by the name of its item. If the items have times, the list is a history, and what is older than
//! the deletion is past.
//!
//! Such a text may as well report a success. So it counts only if it tells of a failure, or of something that is waited for.
//! Nothing says when it was written. So it counts only if its manager wrote below the same field of `status`
//! since the deletion, or if `managedFields` were not read, as in most dumps. Then it is nobody's.

use jiff::Timestamp;
use serde_json::Value;

use super::{Complaint, author, condition, join, rank, reports_failure, shortened};
use crate::{diagnose::limits, snapshot::facts::Object};

/// What a field that holds words is called, or ends with.
const WORDS: [&str; 4] = ["message", "error", "errors", "failure"];
/// What a field is called that explains the one beside it.
const REASONS: [&str; 3] = ["reason", "cause", "errorcode"];
/// What a field is called that tells in one word how the object is.
const STATES: [&str; 2] = ["state", "phase"];
/// How a field ends that names something, whatever stands around it: `taskID`.
const NAMES: [&str; 1] = ["id"];

pub(super) fn complaints(object: &Object, since: Timestamp) -> Vec<Complaint> {
    texts(object, since, |written| written >= since)
}

/// Errors of before then that nobody took back. They may still be the reason, and explain less than newer words.
pub(super) fn open_errors(object: &Object, since: Timestamp) -> impl Iterator<Item = Complaint> {
    let old = texts(object, since, |written| written < since);
    old.into_iter().filter(|complaint| complaint.is_failure)
}

/// What stands below each field of `status` that was written at such a time.
fn texts(object: &Object, since: Timestamp, is_meant: impl Fn(Timestamp) -> bool) -> Vec<Complaint> {
    let mut found = Vec::new();
    let Some(status) = object.value.get("status") else {
        return found;
    };
    // Conditions have a time and a polarity of their own.
    let fields = status.as_object().into_iter().flatten();
    for (field, value) in fields.filter(|(field, _)| *field != "conditions") {
        let (author, written) = author::of_status(object, field);
        // A time that nobody recorded may be of now.
        if !is_meant(written.unwrap_or(Timestamp::MAX)) {
            continue;
        }
        let mut texts = Vec::new();
        collect(field, value, (status, since), field.clone(), &mut texts);
        found.extend(texts.into_iter().filter_map(|(path, text)| {
            let is_failure = path.split('.').any(names_failure) || reports_failure(&text);
            let is_state = ends_with_one_of(&path, &STATES);
            (is_failure || !is_state && rank::tells_of_a_wait(&text)).then(|| Complaint {
                is_of_holder: false,
                source: format!("{} {} status.{path}", object.kind, object.name()),
                text: shortened(&text),
                time: None,
                is_failure,
                author: author.clone().unknown_if_older(!is_about_deletion(&text)),
                written,
                once: None,
            })
        }));
    }
    found.truncate(limits::STATUS_TEXTS);
    found
}

/// Whether a text without a time can only be about the deletion.
fn is_about_deletion(text: &str) -> bool {
    let text = text.to_lowercase();
    ["delet", "finaliz", "destroy", "terminat"]
        .iter()
        .any(|word| text.contains(word))
}

/// Collects the texts at this field and below it, each with its path.
fn collect(
    key: &str,
    value: &Value,
    (beside, since): (&Value, Timestamp),
    path: String,
    found: &mut Vec<(String, String)>,
) {
    if found.len() >= limits::STATUS_TEXTS || path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::String(text) if text.trim().is_empty() => {}
        Value::String(text) if ends_with_one_of(key, &WORDS) => {
            found.push((path, with_reason(key, beside, text)));
        }
        // A failure in prose right below `status` is one whatever its field is called.
        Value::String(text) if !path.contains('.') && tells_a_failure(text) => {
            found.push((path, text.clone()));
        }
        Value::String(text) if ends_with_one_of(key, &REASONS) && !has_words(beside) => {
            found.push((path, text.clone()));
        }
        // The headline has the phase of the whole object, and the catalogue says what it means.
        Value::String(text) if ends_with_one_of(key, &STATES) && path != "phase" => {
            found.push((path, format!("{key}: {text}")));
        }
        // Prose, and no code or time.
        Value::String(text)
            if path.split('.').any(names_failure)
                && text.trim().contains(' ')
                && !ends_with_one_of(key, &NAMES) =>
        {
            found.push((path, with_reason(key, beside, text)));
        }
        Value::Array(items) => {
            let is_new = |item: &&Value| newest_time(item).is_some_and(|time| time >= since);
            let has_new = items.iter().any(|item| is_new(&item));
            let told = items
                .iter()
                .filter(|item| !has_new || newest_time(item).is_none() || is_new(item));
            for item in told.take(limits::STATUS_TEXTS) {
                let first = found.len();
                collect(key, item, (beside, since), path.clone(), found);
                for (_, text) in found.iter_mut().skip(first) {
                    if let Some(name) = name_of(item).filter(|name| !text.contains(name)) {
                        *text = of_item(name, text);
                    }
                }
            }
        }
        Value::Object(fields) if !fields.contains_key("lastTransitionTime") => {
            for (key, inner) in fields {
                collect(key, inner, (value, since), format!("{path}.{key}"), found);
            }
        }
        Value::Object(_) => found.extend(condition::words_of_part(value).map(|text| (path, text))),
        _ => {}
    }
}

/// The failure that a status tells beside its state: `state: Error` with a `message`.
pub(crate) fn failing(object: &Object) -> Option<String> {
    let status = object.value.get("status")?;
    let text = |field: &str| status.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut words = ["state", "phase"].into_iter().map(text);
    let state = words.find(|word| names_failure(word))?;
    let message = text("message").trim();
    (!message.is_empty()).then(|| join(state, message))
}

/// Whether it is prose about an attempt that failed, and no setting or query with such a word in it.
fn tells_a_failure(text: &str) -> bool {
    const ATTEMPTS: [&str; 7] = [
        "failed to ",
        "error: ",
        "cannot ",
        "can't ",
        "could not ",
        "unable to ",
        "failed: ",
    ];
    let lower = text.trim_start().to_lowercase();
    let is_prose = !lower.starts_with(['{', '[']);
    is_prose && ATTEMPTS.iter().any(|attempt| lower.contains(attempt)) && reports_failure(text)
}

/// The newest time that a field of this item has.
fn newest_time(item: &Value) -> Option<Timestamp> {
    let fields = item.as_object().into_iter().flatten();
    fields.filter_map(|(_, value)| value.as_str()?.parse().ok()).max()
}

/// What an item of a list calls itself: its `name`, or what kind of step it is.
fn name_of(item: &Value) -> Option<&str> {
    let fields = item.as_object()?;
    let named = |is: fn(&str) -> bool| {
        fields
            .iter()
            .filter(|(key, _)| is(&key.to_lowercase()))
            .filter_map(|(_, value)| value.as_str())
            .find(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    };
    named(|key| key == "name")
        .or_else(|| named(|key| key.ends_with("name")))
        .or_else(|| named(|key| key.ends_with("type")))
}

/// The text with the name of the item that it is about.
fn of_item(name: &str, text: &str) -> String {
    match text.split_once(": ") {
        Some((key, state)) if ends_with_one_of(key, &STATES) => format!("{key} of {name}: {state}"),
        _ => format!("{name}: {text}"),
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

/// Whether a message stands among these fields, which is then told with its reason.
fn has_words(fields: &Value) -> bool {
    let mut fields = fields.as_object().into_iter().flatten();
    fields.any(|(key, value)| ends_with_one_of(key, &WORDS) && value.is_string())
}

fn ends_with_one_of(key: &str, words: &[&str]) -> bool {
    let key = key.to_lowercase();
    words.iter().any(|word| key.ends_with(word))
}

fn names_failure(field: &str) -> bool {
    let field = field.to_lowercase();
    field.contains("error") || field.contains("fail")
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
                "fieldsV1": {"f:status": {"f:message": {}, "f:lastError": {}, "f:components": {}, "f:errors": {},
                    "f:reason": {}, "f:state": {}, "f:phase": {}, "f:error": {}, "f:value": {}}}}]},
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
                json!({"errors": [{"description": "no such zone", "taskID": "Waiting until it is made"}]}),
                "no such zone",
                true,
            ),
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
                json!({"value": "failed to delete realm: 400"}),
                "failed to delete realm: 400",
                true,
            ),
            (
                json!({"components": [{"conditions": [{"type": "violation", "status": "True", "reason": "Template failure",
                    "message": "the add-on must be enabled", "lastTransitionTime": "2026-01-01T10:00:00Z"}]}]}),
                "violation: Template failure: the add-on must be enabled",
                true,
            ),
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
            (json!({"reason": "QuotaExceeded"}), "QuotaExceeded", true),
            (
                json!({"components": {"db": {"phase": "DeleteFailed"}}}),
                "phase: DeleteFailed",
                true,
            ),
            (json!({"state": "ERROR"}), "state: ERROR", true),
            (
                json!({"error": {"description": "bucket is not empty", "at": "2026-01-01T11:30:00Z", "code": "B7"}}),
                "bucket is not empty",
                true,
            ),
        ] {
            assert_eq!(told(&status, AFTER), [(text.to_owned(), is_failure)], "{status}");
        }
    }

    #[test]
    fn an_error_of_before_the_deletion_is_open_and_a_wait_of_before_is_past() {
        let old = |message: &str| {
            let object = bare(
                "x.test",
                "as",
                "A",
                json!({"metadata": {"name": "a", "managedFields": [{"manager": "m", "time": "2026-01-01T10:00:00Z",
                    "fieldsV1": {"f:status": {"f:message": {}}}}]}, "status": {"message": message}}),
            );
            let since = "2026-01-01T11:00:00Z".parse().expect("a time");
            assert!(complaints(&object, since).is_empty());
            open_errors(&object, since).count()
        };
        assert_eq!(old("failed to get pod a: not found"), 1);
        assert_eq!(old("waiting for the primary"), 0);
    }

    #[test]
    fn a_text_in_a_list_has_the_name_of_its_item_and_what_is_past_is_left_out() {
        let stage =
            |name: &str, stopped: &str| json!({"podType": name, "state": "failed", "stopTime": stopped});
        let failed = |text: &str| vec![(text.to_owned(), true)];
        let (before, after) = ("2026-01-01T10:00:00Z", "2026-01-01T11:20:00Z");
        let past = json!({"components": [stage("init", before), stage("init-delete", after)]});
        assert_eq!(told(&past, AFTER), failed("state of init-delete: failed"));
        // Without anything newer, it may still be so.
        let only = json!({"components": [stage("init", before)]});
        assert_eq!(told(&only, AFTER), failed("state of init: failed"));
        let named =
            json!({"components": [{"name": "db", "kind": "Database", "message": "db cannot connect"}]});
        assert_eq!(told(&named, AFTER), failed("db cannot connect"));
    }

    #[test]
    fn old_words_and_other_fields_tell_nothing() {
        let words = json!({"message": "cannot connect"});
        assert!(told(&words, "2026-01-01T10:59:00Z").is_empty());
        for status in [
            json!({"phase": "Deleting", "url": "https://x", "observedGeneration": 3}),
            json!({"phase": "Pending", "state": "waiting"}),
            json!({"phase": "Failed"}),
            json!({"reason": "Deployed"}),
            json!({"error": {"code": "B7", "at": "2026-01-01T11:30:00Z"}}),
            json!({"error": {}}),
            json!({"message": " "}),
            json!({"message": "Deployed with 3 replicas"}),
            json!({"value": "3 of 3 are there"}),
            json!({"value": r#"{"message": "failed to start", "x": 1}"#}),
            json!({"value": "rate(errors_total[5m]) > 0"}),
            json!({"value": "Keeps failed jobs for 3 days"}),
            json!({"conditions": [{"type": "Ready", "status": "True", "message": "fine"}]}),
            json!({"components": [{"conditions": [{"type": "Ready", "status": "True", "message": "it must be so",
                "lastTransitionTime": "2026-01-01T10:00:00Z"}]}]}),
            json!("x"),
        ] {
            assert!(told(&status, AFTER).is_empty(), "{status}");
        }
    }
}
