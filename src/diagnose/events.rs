//! Reads the events about an object. A missing event proves nothing: events expire after an hour.

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// The newest event about an object with one of these reasons.
pub(crate) fn last_event<'a>(
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

/// When the event occurred last.
pub(crate) fn event_time(event: &Object) -> Option<jiff::Timestamp> {
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"]
        .iter()
        .find_map(|pointer| event.time(pointer))
}
