//! Which words tell most about a stuck deletion.
//!
//! A failure tells more than a wait. A consequence of the deletion explains nothing, so it is never given as a reason:
//! "Deletion was triggered", "not ready because it is being deleted".

use super::Complaint;

/// Words of a text that says what is still waited for.
const WAITING: [&str; 15] = [
    "wait", "until", "still", "block", "remain", "in use", "used by", "depend", "refer", "exist", "pending",
    "first", "left", "retry", "must",
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

/// The most telling of these, the newest if several tell as much. None if all of them are consequences.
pub(super) fn most_telling(all: Vec<Complaint>) -> Option<Complaint> {
    let telling = all.into_iter().filter(|complaint| !is_consequence(complaint));
    telling.max_by_key(|complaint| {
        let time = complaint.time.max(complaint.written);
        (complaint.is_failure, tells_of_a_wait(&complaint.text), time)
    })
}

/// Whether a text says that something is still waited for.
pub(super) fn tells_of_a_wait(text: &str) -> bool {
    let text = text.to_lowercase();
    WAITING.iter().any(|word| text.contains(word))
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
            written: None,
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
        assert!(told(&[("Deleting: waiting for 2 volumes to be detached", false)]).is_some());
        assert!(told(&[("DeletionFailed: deletion of the bucket failed", true)]).is_some());
    }
}
