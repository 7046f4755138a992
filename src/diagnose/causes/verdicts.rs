//! Verdicts that several causes share.

use crate::{
    diagnose::{
        holder::Holder,
        model::{Finding, Said, Verdict},
        timing,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The verdict if nothing blocks the controller: `waiting` for a short time, then `stalled`.
pub(crate) fn nothing_blocks(object: &Object, view: &View<'_>) -> Verdict {
    if timing::is_deletion_recent(object, view) {
        Verdict::Waiting
    } else {
        Verdict::Stalled
    }
}

/// A finding with the verdict `unknown`. It names the open question and what could not be read.
pub(crate) fn unknown(finalizer: &Finalizer, said: &Said, question: &str, missing: &Missing) -> Finding {
    Finding::new(
        Some(finalizer.clone()),
        Verdict::Unknown,
        said.clone()
            .now(format!("{question} is not known: {}", missing.in_words())),
    )
}

/// Sets the verdict, unless the controller is at fault. A controller that still waits for something is not to blame.
/// A controller that could not be read may be gone, and then the wait explains nothing.
pub(crate) fn set_unless_holder_is_at_fault(finding: &mut Finding, holder: &Holder, verdict: Verdict) {
    let excused = match finding.wait.verdict {
        Verdict::Unknown => holder.unseen.is_empty(),
        Verdict::Stalled | Verdict::Waiting => true,
        _ => false,
    };
    if excused {
        finding.wait.verdict = verdict;
    }
}
