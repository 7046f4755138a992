//! Leftovers: objects that should be deleted, and that no controller deletes.
//!
//! As with [`diagnose`](crate::diagnose::diagnose), the caller answers the queries and calls again.

mod missing_namespace;
mod unreclaimed_volume;
mod volume_attachment;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{
    diagnose::{Verdict, view::View},
    knowledge::Knowledge,
    snapshot::{
        Gap, LeftoverCount,
        facts::{Facts, Object, Query},
    },
};

/// An object that a deletion left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The verdict on the controller that should clean it up.
    pub verdict: Verdict,
    /// The time since when it is a leftover, if known.
    pub since: Option<Timestamp>,
    /// The reason, a clause each.
    pub says: Vec<String>,
}

/// The result of inspecting one object.
#[derive(Debug)]
pub struct Inspection {
    /// The leftover. None if nothing is wrong, or if too little is known to say so.
    pub leftover: Option<Leftover>,
    /// The queries to answer next; empty if the result is final.
    pub wanted: BTreeSet<Query>,
    /// What could not be read.
    pub gaps: Vec<Gap>,
}

fn inspect(facts: &Facts, knowledge: &Knowledge, find: impl Fn(&View<'_>) -> Option<Leftover>) -> Inspection {
    let view = crate::diagnose::view(facts, knowledge);
    Inspection {
        leftover: find(&view),
        wanted: view.wanted(),
        gaps: view.gaps(),
    }
}

/// Whether the disk of this volume should be deleted by `now`.
pub fn is_unreclaimed(volume: &Object, now: Timestamp) -> bool {
    unreclaimed_volume::is_due(volume, now)
}

/// The time since when a volume is in its phase, if known.
pub fn released(volume: &Object) -> Option<Timestamp> {
    unreclaimed_volume::since(volume)
}

/// The leftover that stands for all objects in a namespace that does not exist.
pub fn in_missing_namespace(name: &str) -> Leftover {
    missing_namespace::leftover(name)
}

/// Why the disk of such a volume is not deleted. `attached` are the attachments that name the volume; none if
/// they could not be read.
pub fn unreclaimed(
    volume: &Object,
    attached: Option<&[Object]>,
    facts: &Facts,
    knowledge: &Knowledge,
) -> Inspection {
    inspect(facts, knowledge, |view| {
        Some(unreclaimed_volume::leftover_volume(volume, attached, view))
    })
}

/// Why an attachment is a leftover, if it is one.
pub fn attachment(attachment: &Object, facts: &Facts, knowledge: &Knowledge) -> Inspection {
    inspect(facts, knowledge, |view| {
        volume_attachment::leftover_attachment(attachment, view)
    })
}

/// Whether a namespace does not exist although objects in it were listed. `leftovers` are those objects, by
/// type.
pub fn namespace(
    name: &str,
    leftovers: &BTreeMap<String, LeftoverCount>,
    facts: &Facts,
    knowledge: &Knowledge,
) -> Inspection {
    inspect(facts, knowledge, |view| {
        missing_namespace::leftover_if_missing(name, leftovers, view)
    })
}
