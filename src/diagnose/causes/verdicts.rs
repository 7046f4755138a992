//! Verdicts that several causes share.

use crate::{
    diagnose::{
        holder::Holder,
        model::{Finding, Verdict},
        timing,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The verdict where nothing blocks any more: the holder has a moment, then it is late.
pub(crate) fn nothing_blocks(object: &Object, view: &View<'_>) -> Verdict {
    if timing::is_recent(object, view) {
        Verdict::Waiting
    } else {
        Verdict::Stalled
    }
}

/// A verdict of unknown, with what was missing.
pub(crate) fn unknown(finalizer: &Finalizer, says: &str, question: &str, missing: &Missing) -> Finding {
    Finding::new(
        Some(finalizer.clone()),
        Verdict::Unknown,
        format!("{says}; {question} is not known: {}", missing.in_words()),
    )
}

/// A holder that has something left to wait for is not to blame. One that could not be looked at may be gone, and then
/// that keeps nothing.
pub(crate) fn waits(finding: &mut Finding, holder: &Holder, verdict: Verdict) {
    let excused = match finding.wait.verdict {
        Verdict::Unknown => holder.unseen.is_empty(),
        Verdict::Stalled | Verdict::Waiting => true,
        _ => false,
    };
    if excused {
        finding.wait.verdict = verdict;
    }
}
