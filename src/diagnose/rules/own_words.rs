//! What an object says of itself, and what is said of it in events: for every finalizer that no rule of its own knows.
//!
//! **Recognises** `status.conditions` that are in a bad way or speak of the deletion, and Warning events. **Why:** an
//! operator that fails to clean up says so there, and nowhere else that can be read (conditions:
//! `kubernetes/community:contributors/devel/sig-architecture/api-conventions.md`). **Wants** the events, of an object of
//! which more than its metadata was read. **Concludes** `failing` only where the complaint is newer than the deletion,
//! the words are those of a failure, and one finalizer alone is open; else it is only quoted. **Advises** to repair what
//! is complained of.

use jiff::Timestamp;
use serde_json::Value;

use super::{complaint::ago, storage::event_time};
use crate::{
    diagnose::{
        model::{Evidence, Finding, Safety, Step, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

/// A message is quoted up to so many characters: some hold whole manifests.
const LONGEST: usize = 300;
/// More than this nobody reads.
const QUOTED: usize = 4;

/// One complaint.
pub(super) struct Words {
    source: String,
    /// `Synced is False: ReconcileError: …`
    pub(super) text: String,
    time: Option<Timestamp>,
    /// It came after the deletion was asked for.
    newer: bool,
    /// The words are those of a failure.
    fails: bool,
}

/// What is said of an object, the most telling first.
pub(super) fn of(object: &Object, view: &View<'_>) -> Vec<Words> {
    let mut all = Vec::new();
    if !is_whole(object) {
        return all;
    }
    let asked = object.deletion().map(|deletion| deletion.requested_at());
    let newer = |time: Option<Timestamp>| matches!((time, asked), (Some(time), Some(asked)) if time.as_second() >= asked.as_second());
    for condition in object.list("/status/conditions") {
        let field = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
        let (kind, status, reason) = (field("type"), field("status"), field("reason"));
        let time = field("lastTransitionTime").parse().ok();
        let said = said(reason, field("message"));
        let bad = status == "False" || status == "True" && has(kind, ABNORMAL);
        let fails = bad && has(&said, FAILURE);
        if !said.is_empty() && (fails || has(&format!("{kind} {reason}"), DELETION)) {
            all.push(Words {
                source: format!("{} {} condition {kind}", object.kind, object.name()),
                text: format!("{kind} is {status}: {said}"),
                time,
                newer: newer(time),
                fails,
            });
        }
    }
    // That there is no event says nothing. Of types that have rules there are many objects in a scan, and those rules ask
    // for the events that they need.
    let events = if super::look_into(&object.resource.name()) {
        &[]
    } else {
        view.events(object).unwrap_or_default()
    };
    for event in events {
        let about = event.text("/involvedObject/uid");
        let same = about.is_empty() || about == object.uid();
        let said = said(event.text("/reason"), event.text("/message"));
        if same && event.text("/type") == "Warning" && !said.is_empty() {
            let time = event_time(event);
            all.push(Words {
                source: format!("Event on {} {}", object.kind, object.name()),
                fails: has(&said, FAILURE),
                text: said,
                time,
                newer: newer(time),
            });
        }
    }
    all.sort_by_key(|words| (!words.newer, !words.fails, std::cmp::Reverse(words.time)));
    all.truncate(QUOTED);
    all
}

/// Conditions that are bad when they are True.
const ABNORMAL: &[&str] = &[
    "fail",
    "error",
    "recoverable",
    "terminal",
    "stalled",
    "degraded",
    "blocked",
];
/// What a failure is called.
const FAILURE: &[&str] = &[
    "fail",
    "error",
    "cannot",
    "could not",
    "couldn't",
    "unable",
    "denied",
    "forbidden",
    "not found",
    "notfound",
    "timed out",
    "timeout",
    "unauthorized",
    "in use",
    "exceeded",
    "refused",
];
/// What a deletion is called.
const DELETION: &[&str] = &["delet", "terminat", "finaliz", "cleanup", "drain", "destroy"];

fn has(text: &str, signs: &[&str]) -> bool {
    let text = text.to_lowercase();
    signs.iter().any(|sign| text.contains(sign))
}

fn said(reason: &str, message: &str) -> String {
    let both: Vec<_> = [reason, message]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let text = both.join(": ");
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.chars().count() + word.chars().count() > LONGEST {
            words.push_str(" …");
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

/// Whether more was read of it than its metadata.
fn is_whole(object: &Object) -> bool {
    ["/spec", "/status"]
        .iter()
        .any(|part| object.value.pointer(part).is_some())
}

/// Quotes them where the finding of `finalizer` stands. `certain` says that all was seen that may refuse its removal.
pub(super) fn quote(object: &Object, finding: &mut Finding, words: &[Words], certain: bool, view: &View<'_>) {
    for words in words {
        finding.evidence.push(Evidence {
            source: words.source.clone(),
            value: words.text.clone(),
            strength: if words.newer && words.fails {
                Strength::Strong
            } else {
                Strength::Hint
            },
        });
    }
    let Some(first) = words.first() else { return };
    let before = if first.newer { "" } else { ", before its deletion" };
    finding.say(format!(
        "; it says of itself{}{before}: {}",
        ago(first.time, view),
        first.text
    ));
    if !(first.newer && first.fails) {
        return;
    }
    if certain && finding.wait.verdict == Verdict::Unknown {
        finding.wait.verdict = Verdict::Failing;
    }
    finding.steps.insert(
        0,
        Step {
            when: "what to do",
            text: format!(
                "repair what its controller complains of: \"{}\". It tries again by itself",
                first.text
            ),
            command: Some(format!(
                "kubectl{} describe {}/{}",
                super::place_of(object),
                object.resource.name(),
                object.name()
            )),
            safety: Safety::Safe,
        },
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{NOW, World, object, said as told_text, verdict};
    use super::*;

    fn thing(conditions: &Value) -> Object {
        object(
            "x.test",
            "things",
            "Thing",
            json!({"metadata": {"name": "t", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
                "deletionTimestamp": "2026-01-01T11:00:00Z"}, "status": {"conditions": conditions}}),
        )
    }

    #[test]
    fn only_what_is_newer_than_the_deletion_and_fails_is_a_complaint() {
        let facts = crate::snapshot::facts::Facts {
            now: NOW.parse().expect("a time"),
            types: Vec::new(),
            gaps: Vec::new(),
            answers: std::collections::BTreeMap::new(),
        };
        let knowledge = crate::knowledge::Knowledge::builtin();
        let view = View::new(&facts, &knowledge);
        let found = of(
            &thing(&json!([
                {"type": "Ready", "status": "True", "reason": "Available", "message": "error budget is fine"},
                {"type": "Ready", "status": "False", "reason": "Creating", "message": "wait"},
                {"type": "Old", "status": "False", "reason": "Failed", "message": "quota",
                 "lastTransitionTime": "2026-01-01T10:00:00Z"},
                {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "cannot  delete\nbucket",
                 "lastTransitionTime": "2026-01-01T11:00:05Z"},
                {"type": 7, "status": null},
            ])),
            &view,
        );
        let texts: Vec<_> = found
            .iter()
            .map(|words| (&*words.text, words.newer && words.fails))
            .collect();
        assert_eq!(
            texts,
            [
                ("Synced is False: ReconcileError: cannot delete bucket", true),
                ("Old is False: Failed: quota", false),
            ]
        );
    }

    #[test]
    fn megabytes_are_cut() {
        let long = said("Failed", &"word ".repeat(300_000));
        assert!(
            long.chars().count() < LONGEST + 10 && long.ends_with(" …"),
            "{long}"
        );
    }

    #[test]
    fn where_a_refusal_may_have_been_missed_it_is_only_quoted() {
        let told = World::new().explain(&thing(&json!([
            {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "cannot delete",
             "lastTransitionTime": "2026-01-01T11:00:05Z"},
        ])));
        assert_eq!(verdict(&told, "x.test/clean"), Some(Verdict::Unknown));
        assert!(told_text(&told).contains("Synced is False: ReconcileError: cannot delete"));
    }
}
