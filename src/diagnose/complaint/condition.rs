//! What the conditions of an object complain of. Their polarity is free
//! (`kubernetes/community:contributors/devel/sig-architecture/api-conventions.md`, "Typical status properties"): `Ready`
//! is bad if it is False, `Stalled` if it is True. So the type decides where its name tells, and otherwise the message.

use jiff::Timestamp;
use serde_json::Value;

use super::{Complaint, author, join, reports_failure, shortened};
use crate::{diagnose::kinds::Condition, object::capitalized, snapshot::facts::Object};

/// Words in types that are bad if they are True. `Recoverable` and `Terminal` are those of ACK
/// (`aws-controllers-k8s/runtime:apis/core/v1alpha1/conditions.go`).
const NEGATIVE: [&str; 14] = [
    "Error",
    "Fail",
    "Stalled",
    "Blocked",
    "Degraded",
    "Unavailable",
    "Unreachable",
    "Offline",
    "NotReady",
    "Denied",
    "Conflict",
    "Recoverable",
    "Terminal",
    "Violat",
];
/// Words in types that report an error, and not only that something is not done.
const ERRORS: [&str; 3] = ["Error", "Fail", "Stalled"];
/// Words in types that are good if they are True.
const POSITIVE: [&str; 11] = [
    "Ready",
    "Available",
    "Synced",
    "Succe",
    "Complete",
    "Valid",
    "Healthy",
    "Accepted",
    "Resolved",
    "Reconciled",
    "Established",
];
/// Words of conditions about the deletion itself.
const DELETION: [&str; 4] = ["Delet", "Terminat", "Finaliz", "Destroy"];

/// What its conditions complain of since then, and what speaks of the deletion.
pub(super) fn complaints(object: &Object, since: Timestamp) -> impl Iterator<Item = Complaint> {
    let all = Condition::all(object).filter_map(move |condition| complaint(object, condition, since));
    all.filter_map(|(complaint, is_open)| (!is_open).then_some(complaint))
}

/// Errors of before then that nobody took back, and why the object was not ready. They may still be the reason, and explain
/// less than newer words.
pub(super) fn open_errors(object: &Object, since: Timestamp) -> impl Iterator<Item = Complaint> {
    let all = Condition::all(object).filter_map(move |condition| complaint(object, condition, since));
    all.filter_map(|(complaint, is_open)| is_open.then_some(complaint))
}

/// The complaint of a condition, and whether it is only an error of before then.
fn complaint(object: &Object, condition: Condition<'_>, since: Timestamp) -> Option<(Complaint, bool)> {
    let (type_name, reason, message) = (condition.kind(), condition.reason(), condition.message());
    let time = condition.changed();
    let (author, written) = author::of_condition(object, type_name);
    let author = author.unknown_if_older(time.is_none_or(|time| time < since));
    // Whoever wrote it again since then still says so.
    let is_fresh = time.max(written).is_some_and(|time| time >= since);
    let text = shortened(&join(reason, message));
    let is_of_now = is_fresh || is_of_deletion(condition) || says(type_name, &NEGATIVE);
    // An object that was not ready before is often stuck for the same reason.
    let was_not_ready = condition.status() == "False" && says(type_name, &POSITIVE);
    let is_open = was_not_ready || reports_failure(&text);
    let is_told = is_bad(condition) && is_in_words(condition) && (is_of_now || is_open);
    is_told.then(|| {
        let complaint = Complaint {
            is_of_holder: false,
            source: source(object, type_name),
            is_failure: says(type_name, &ERRORS) || reports_failure(&text),
            text,
            time,
            author,
            written,
            once: None,
        };
        (complaint, !is_of_now)
    })
}

/// The first condition that reports a failure, or something bad that is True, whatever its age.
pub(crate) fn failing(object: &Object) -> Option<String> {
    let is_failing = |condition: &Condition<'_>| {
        let text = join(condition.reason(), condition.message());
        let is_failure = says(condition.kind(), &ERRORS) || reports_failure(&text);
        let is_raised = condition.status() == "True" && says(condition.kind(), &NEGATIVE);
        is_bad(*condition) && is_in_words(*condition) && (is_failure || is_raised)
    };
    let first = Condition::all(object).find(is_failing)?;
    Some(shortened(&join(first.reason(), first.message())))
}

/// What the condition of a part of an object complains of. Gateway API has one for each parent of a route, and a policy one for
/// each of its templates.
pub(super) fn words_of_part(value: &Value) -> Option<String> {
    let condition = Condition::of_part(value);
    let is_told = is_bad(condition) && is_in_words(condition);
    is_told.then(|| join(condition.reason(), condition.message()))
}

/// Whether the type has one of these words. Some types begin with a small letter: `error`.
fn says(type_name: &str, words: &[&str]) -> bool {
    let told = capitalized(type_name);
    words.iter().any(|word| told.contains(word))
}

fn is_of_deletion(condition: Condition<'_>) -> bool {
    DELETION
        .iter()
        .any(|word| condition.kind().contains(word) || condition.reason().contains(word))
}

fn is_bad(condition: Condition<'_>) -> bool {
    let (type_name, message) = (condition.kind(), condition.message());
    let is_negative = says(type_name, &NEGATIVE);
    match condition.status() {
        "True" if is_negative => true,
        // `Deleting` is True with what it waits for, and any other type with an error.
        "True" => !says(type_name, &POSITIVE) && (is_of_deletion(condition) || reports_failure(message)),
        "False" => !is_negative,
        _ => reports_failure(message),
    }
}

/// Some products write a sentence into the reason, and no message.
fn is_in_words(condition: Condition<'_>) -> bool {
    !condition.message().is_empty() || condition.reason().trim().contains(' ')
}

/// Where a condition stands, as the source of a report.
pub(crate) fn source(object: &Object, type_name: &str) -> String {
    format!("{} {} condition {type_name}", object.kind, object.name())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::testing::world::bare;

    /// When the deletion was requested.
    fn since() -> Timestamp {
        "2026-01-01T11:00:00Z".parse().expect("a time")
    }

    fn object_with(condition: &Value) -> Object {
        let value = json!({"metadata": {"name": "a"}, "status": {"conditions": [condition]}});
        bare("x.test", "as", "A", value)
    }

    fn is_told(ty: &str, status: &str, message: &str) -> bool {
        let condition = json!({"type": ty, "status": status, "message": message,
            "lastTransitionTime": "2026-01-01T12:00:00Z"});
        complaints(&object_with(&condition), since()).next().is_some()
    }

    #[test]
    fn a_sentence_may_stand_in_the_reason() {
        let told = |reason: &str| -> Vec<String> {
            let condition = json!({"type": "Ready", "status": "False", "reason": reason,
                "lastTransitionTime": "2026-01-01T10:00:00Z"});
            open_errors(&object_with(&condition), since())
                .map(|complaint| complaint.text)
                .collect()
        };
        assert_eq!(
            told("failed to schedule: no server"),
            ["failed to schedule: no server"]
        );
        // It was not ready, which may still be the reason. One word is a code.
        assert_eq!(told("not scheduled yet"), ["not scheduled yet"]);
        assert!(told("ScheduleFailed").is_empty());
    }

    #[test]
    fn the_type_tells_which_status_is_bad() {
        for (ty, status, message) in [
            ("Ready", "False", "no endpoints"),
            ("ACK.Recoverable", "True", "the resource doesn't exist"),
            ("ReconcileError", "True", "x"),
            ("error", "True", "storage s3 doesn't exist"),
            ("Stalled", "True", "x"),
            ("Deleting", "True", "waiting for 2 volumes"),
            ("Dependencies", "True", "cannot list Services"),
            ("Ready", "Unknown", "failed to connect"),
            ("Planned", "True", "10 errors occurred"),
        ] {
            assert!(is_told(ty, status, message), "{ty}={status}");
        }
        for (ty, status, message) in [
            ("Ready", "True", "no error was found"),
            ("Degraded", "False", "all is well"),
            ("ACK.Terminal", "False", "no error"),
            ("Created", "True", "All resources were created."),
            ("Planned", "True", "planned without errors"),
            ("Planned", "True", "3 applied, 0 failed, no error"),
            ("Ready", "False", ""),
            ("Ready", "Unknown", "not looked at yet"),
        ] {
            assert!(!is_told(ty, status, message), "{ty}={status}");
        }
    }
}
