//! What the storage rules share: what sidecars said, and how to let go of one finalizer.

use crate::{
    diagnose::{
        model::{Finding, Safety, Step, Verdict},
        view::{Missing, View},
    },
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// Takes one finalizer off, and only if it still stands where it was seen. `costs` says first what it costs.
pub(super) fn let_go(object: &Object, finalizer: &Finalizer, when: &'static str, costs: &str) -> Step {
    Step {
        when,
        text: costs.to_owned(),
        command: Some(super::take_out(object, finalizer)),
        safety: Safety::Destructive,
    }
}

/// A verdict of unknown, with what was missing.
pub(super) fn unknown(finalizer: &Finalizer, says: &str, question: &str, missing: &Missing) -> Finding {
    Finding::new(
        Some(finalizer.clone()),
        Verdict::Unknown,
        format!("{says}; {question} is not known: {}", missing.in_words()),
    )
}

/// The newest event of these reasons about an object. That there is none says nothing: events expire.
pub(super) fn last_event<'a>(
    object: &Object,
    reasons: &[&str],
    view: &View<'a>,
) -> Result<Option<&'a Object>, Missing> {
    Ok(view
        .events(object)?
        .iter()
        .filter(|event| reasons.contains(&event.text("/reason")))
        .filter(|event| {
            let about = event.text("/involvedObject/uid");
            about.is_empty() || about == object.uid()
        })
        .max_by_key(|event| event_time(event)))
}

/// Whether a sign of life is of the last hour.
pub(super) fn is_lately(time: jiff::Timestamp, view: &View<'_>) -> bool {
    Age::between(time, view.now()).0.as_secs() < 3600
}

/// When an event was last seen.
pub(super) fn event_time(event: &Object) -> Option<jiff::Timestamp> {
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"]
        .iter()
        .find_map(|pointer| event.time(pointer))
}
