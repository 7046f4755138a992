//! What was left behind: nobody has to be deleting it, and by the look of it nobody will.
//!
//! As with [`diagnose`](crate::diagnose::diagnose), whoever calls these answers what is wanted and calls again.

pub(crate) mod missing_namespace;
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

/// Something that was left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// How it stands with whoever should clean it up.
    pub verdict: Verdict,
    /// Since when, if that is known.
    pub since: Option<Timestamp>,
    /// Why.
    pub says: String,
}

/// What came of a look.
#[derive(Debug)]
pub struct Looked {
    /// What was found; none if there is nothing wrong, or not enough to say so.
    pub left: Option<Left>,
    /// What it wants to see next; empty when it is final.
    pub wanted: BTreeSet<Query>,
    /// What could not be seen.
    pub gaps: Vec<Gap>,
}

fn looked(facts: &Facts, knowledge: &Knowledge, look: impl Fn(&View<'_>) -> Option<Left>) -> Looked {
    let view = crate::diagnose::view(facts, knowledge);
    Looked {
        left: look(&view),
        wanted: view.wanted(),
        gaps: view.gaps(),
    }
}

/// Whether somebody should have deleted the disk of this volume by `now`.
pub fn is_unreclaimed(volume: &Object, now: Timestamp) -> bool {
    unreclaimed_volume::is_due(volume, now)
}

/// Since when a volume is in its phase, as far as it says.
pub fn released(volume: &Object) -> Option<Timestamp> {
    unreclaimed_volume::since(volume)
}

/// What is said of the objects in a namespace that does not exist.
pub fn in_missing_namespace(name: &str) -> Left {
    missing_namespace::left(name)
}

/// Why nobody has deleted the disk of such a volume. `attached` are the attachments that name it; none if they
/// could not be read.
pub fn unreclaimed(
    volume: &Object,
    attached: Option<&[Object]>,
    facts: &Facts,
    knowledge: &Knowledge,
) -> Looked {
    looked(facts, knowledge, |view| {
        Some(unreclaimed_volume::not_reclaimed(volume, attached, view))
    })
}

/// Why an attachment was left behind, if it was.
pub fn attachment(attachment: &Object, facts: &Facts, knowledge: &Knowledge) -> Looked {
    looked(facts, knowledge, |view| {
        volume_attachment::left_on_a_gone_node(attachment, view)
    })
}

/// Whether a namespace, of which objects were seen and which was not, does not exist.
pub fn namespace(
    name: &str,
    strays: &BTreeMap<String, LeftoverCount>,
    facts: &Facts,
    knowledge: &Knowledge,
) -> Looked {
    looked(facts, knowledge, |view| {
        missing_namespace::without_namespace(name, strays, view)
    })
}
