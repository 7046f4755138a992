//! What an object and its events say is wrong, literally: people search for these words.
//!
//! Events expire after an hour or so: one that is there counts, none says nothing. A condition stays, so only one
//! that changed after the deletion, or that speaks of it, is about it.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    model::{Evidence, Strength},
    view::View,
};
use crate::{object::Age, snapshot::facts::Object};

/// Longer texts are cut: some controllers put whole stack traces into a condition.
const LONGEST: usize = 600;

/// Something that is said to be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Where it is said.
    pub source: String,
    /// What.
    pub text: String,
    /// When.
    pub time: Option<Timestamp>,
}

impl Complaint {
    /// As part of the evidence.
    pub fn evidence(&self, now: Timestamp) -> Evidence {
        let ago = self
            .time
            .map_or_else(String::new, |time| format!(", {} ago", Age::between(time, now)));
        Evidence {
            source: self.source.clone(),
            value: format!("{}{ago}", self.text),
            strength: Strength::Strong,
        }
    }
}

/// What is said to be wrong with this object since it is being deleted, the newest first. Asks for events only where
/// the object itself was read: of one that a scan has merely listed nothing more is asked.
pub fn complaints(object: &Object, view: &View<'_>) -> Vec<Complaint> {
    let since = object.deletion().map(|deletion| deletion.requested_at());
    let mut all: Vec<_> = conditions(object, since).collect();
    let was_read = object
        .value
        .as_object()
        .is_some_and(|fields| fields.keys().any(|key| key != "metadata"));
    if was_read && let Ok(events) = view.events(object) {
        all.extend(events.iter().filter_map(|event| warning(event, object)));
    }
    all.sort_by_key(|complaint| std::cmp::Reverse(complaint.time));
    all.dedup_by(|a, b| a.text == b.text);
    all
}

fn conditions(object: &Object, since: Option<Timestamp>) -> impl Iterator<Item = Complaint> {
    let (kind, name) = (&object.kind, object.name());
    object
        .list("/status/conditions")
        .iter()
        .filter_map(move |condition| {
            let field = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
            let (type_name, status, message) = (field("type"), field("status"), field("message"));
            let time: Option<Timestamp> = field("lastTransitionTime").parse().ok();
            let of_deletion = ["Delet", "Terminat", "Finaliz", "Destroy"]
                .iter()
                .any(|word| type_name.contains(word) || field("reason").contains(word));
            let of_error =
                type_name.contains("Error") || type_name.contains("Fail") || type_name.contains("Stalled");
            let bad = if of_error {
                status == "True"
            } else {
                status == "False"
            };
            let fresh = since.is_some_and(|since| time.is_some_and(|time| time >= since));
            (bad && !message.is_empty() && (fresh || of_deletion || of_error)).then(|| Complaint {
                source: format!("{kind} {name} condition {type_name}"),
                text: shortened(&join(field("reason"), message)),
                time,
            })
        })
}

fn warning(event: &Object, object: &Object) -> Option<Complaint> {
    let about = event.text("/involvedObject/uid");
    let of_another = !about.is_empty() && about != object.uid();
    if event.text("/type") != "Warning" || of_another {
        return None;
    }
    let time = [
        "/series/lastObservedTime",
        "/lastTimestamp",
        "/eventTime",
        "/metadata/creationTimestamp",
    ]
    .iter()
    .find_map(|pointer| event.time(pointer));
    let count = event
        .number("/series/count")
        .or_else(|| event.number("/count"))
        .filter(|count| *count > 1)
        .map_or_else(String::new, |count| format!(" ({count} times)"));
    let from = match (event.text("/source/component"), event.text("/reportingComponent")) {
        ("", "") => String::new(),
        ("", from) | (from, _) => format!(" from {from}"),
    };
    Some(Complaint {
        source: format!("Event of {} {}{from}", object.kind, object.name()),
        text: format!(
            "{}{count}",
            shortened(&join(event.text("/reason"), event.text("/message")))
        ),
        time,
    })
}

fn join(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", message) => message.to_owned(),
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
