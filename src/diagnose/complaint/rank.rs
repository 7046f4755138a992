//! Which words tell most about a stuck deletion.
//!
//! A failure tells more than a wait, and of two that tell as much, the words of the object's own controller come first. A
//! consequence of the deletion explains nothing, so it is never given as a reason: "Deletion was triggered", "not ready
//! because it is being deleted".

use super::Complaint;

/// Words of a text that says what is still waited for.
const WAITING: [&str; 18] = [
    "wait", "until", "still", "block", "remain", "in use", "used by", "depend", "refer", "exist", "pending",
    "first", "left", "retry", "must", "before", "clean", "drain",
];
/// Words of a text about the deletion as such, or about what stops with it.
const CONSEQUENCE: [&str; 8] = [
    "deletion",
    "deleting",
    "deleted",
    "terminat",
    "being removed",
    "not reported as running",
    "not running",
    "stopped",
];

/// The most telling of these. Of several that tell as much, the words of the controller that put the finalizers on come first.
/// Prose then comes before a bare state, and the newest first.
/// None if all of them are consequences.
pub(super) fn most_telling(all: Vec<Complaint>) -> Option<Complaint> {
    let telling = all.into_iter().filter(|complaint| !is_consequence(complaint));
    telling.max_by_key(|complaint| {
        let time = complaint.time.max(complaint.written);
        (
            complaint.is_failure,
            tells_of_a_wait(&complaint.text),
            complaint.is_of_holder,
            !is_bare_state(&complaint.text),
            time,
        )
    })
}

/// Whether a text is the state of the object or of a part of it in one word: `state: Error`.
fn is_bare_state(text: &str) -> bool {
    let (field, state) = text.split_once(": ").unwrap_or_default();
    let names_a_state = ["state", "phase"].iter().any(|name| field.starts_with(name));
    names_a_state && !state.contains(' ')
}

/// Whether a text says that something is still waited for.
pub(super) fn tells_of_a_wait(text: &str) -> bool {
    let text = text.to_lowercase();
    WAITING.iter().any(|word| text.contains(word))
}

/// Whether a text says that somebody still uses the object.
pub(crate) fn tells_of_use(text: &str) -> bool {
    let text = text.to_lowercase();
    ["referenc", "in use", "used by", "still use", "is using", "depend"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether a clause of a text says that something waits for the end of what it names: `refused while Config a exists`.
pub(crate) fn waits_for_end(text: &str) -> bool {
    let text = text.to_lowercase();
    let clauses = text.split(['\n', ';', ':']).flat_map(|line| line.split(". "));
    let exists = clauses.into_iter().any(|clause| {
        ["while ", "as long as ", "because "].iter().any(|word| {
            let said = clause.split_once(word).map(|(_, said)| said);
            said.is_some_and(|said| said.contains("exist"))
        })
    });
    exists
        && !["not exist", "n't exist", "no longer exist"]
            .iter()
            .any(|word| text.contains(word))
}

/// Whether it reports only what the deletion brings about.
fn is_consequence(complaint: &Complaint) -> bool {
    let text = complaint.text.to_lowercase();
    !complaint.is_failure && !tells_of_a_wait(&text) && CONSEQUENCE.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::complaint::author::Author;

    fn told(texts: &[(&str, bool)]) -> Option<String> {
        let complaint = |(text, is_failure): &(&str, bool)| Complaint {
            source: "s".into(),
            text: (*text).to_owned(),
            time: None,
            is_failure: *is_failure,
            author: Author::Unknown,
            is_of_holder: false,
            written: None,
            once: None,
        };
        most_telling(texts.iter().map(complaint).collect()).map(|complaint| complaint.text)
    }

    #[test]
    fn a_failure_tells_more_than_a_wait_and_a_wait_more_than_a_state() {
        let all = [
            ("GuestNotReady: no agent", false),
            ("waiting for the primary", false),
            ("AccessDenied: no", true),
        ];
        assert_eq!(told(&all).as_deref(), Some("AccessDenied: no"));
        assert_eq!(told(&all[..2]).as_deref(), Some("waiting for the primary"));
        assert_eq!(told(&all[..1]).as_deref(), Some("GuestNotReady: no agent"));
        let states = [
            ("destroy failed, cannot get the program", true),
            ("state: Error", true),
            ("state of a: Error", true),
        ];
        let prose = Some("destroy failed, cannot get the program");
        assert_eq!(told(&states).as_deref(), prose);
    }

    #[test]
    fn the_words_of_its_own_controller_come_before_newer_ones_of_another() {
        let complaint = |text: &str, is_of_holder: bool, time: &str| Complaint {
            source: "s".into(),
            text: text.to_owned(),
            time: time.parse().ok(),
            is_failure: true,
            author: Author::Unknown,
            is_of_holder,
            written: None,
            once: None,
        };
        let (old, new) = ("2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z");
        let told = |all: Vec<Complaint>| most_telling(all).map(|complaint| complaint.text);
        let own = complaint("own error", true, old);
        let other = complaint("other error", false, new);
        assert_eq!(
            told(vec![own.clone(), other.clone()]).as_deref(),
            Some("own error")
        );
        // Between two of the same author, the newer one.
        let newer = complaint("newer error", true, new);
        assert_eq!(told(vec![own, newer, other]).as_deref(), Some("newer error"));
    }

    #[test]
    fn only_a_clause_with_both_words_waits_for_the_end_of_something() {
        for (text, waits) in [
            (
                "refused to delete it while FluentdConfig logging/aggregator exists",
                true,
            ),
            ("cannot be deleted because existing members use it", true),
            (
                "error while evaluating the condition: no attribute. Line 3: delete any existing pod",
                false,
            ),
            ("failed because the bucket does not exist", false),
        ] {
            assert_eq!(waits_for_end(text), waits, "{text}");
        }
    }

    #[test]
    fn a_consequence_of_the_deletion_is_no_reason() {
        for text in [
            "DeletionInProgress: Deletion was triggered",
            "GuestNotRunning: Guest VM is not reported as running",
            "Terminating: can't admit new workloads",
        ] {
            assert_eq!(told(&[(text, false)]), None, "{text}");
        }
        for text in [
            "Deleting: waiting for 2 volumes to be detached",
            "CleanUp: removing the load balancers before deletion",
        ] {
            assert!(told(&[(text, false)]).is_some(), "{text}");
        }
        assert!(told(&[("DeletionFailed: deletion of the bucket failed", true)]).is_some());
    }
}
