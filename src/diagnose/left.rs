//! What was left behind: nobody has to be deleting it, and by the look of it nobody will.
//!
//! As with [`diagnose`](super::diagnose), whoever calls these answers what is wanted and calls again.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Verdict, rules, view::View};
use crate::{
    knowledge::Knowledge,
    snapshot::{
        Gap, Stray,
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
    let view = View::new(facts, knowledge);
    Looked {
        left: look(&view),
        wanted: view.wanted(),
        gaps: view.gaps(),
    }
}

/// Whether somebody should have deleted the disk of this volume by `now`.
pub fn is_unreclaimed(volume: &Object, now: Timestamp) -> bool {
    rules::unreclaimed::is_due(volume, now)
}

/// Since when a volume is in its phase, as far as it says.
pub fn released(volume: &Object) -> Option<Timestamp> {
    rules::unreclaimed::since(volume)
}

/// What is said of the objects in a namespace that does not exist.
pub fn in_missing_namespace(name: &str) -> Left {
    rules::leftbehind::left(name)
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
        Some(rules::unreclaimed::look(volume, attached, view))
    })
}

/// Why an attachment was left behind, if it was.
pub fn attachment(attachment: &Object, facts: &Facts, knowledge: &Knowledge) -> Looked {
    looked(facts, knowledge, |view| {
        rules::lost_attachment::look(attachment, view)
    })
}

/// Whether a namespace, of which objects were seen and which was not, does not exist.
pub fn namespace(
    name: &str,
    strays: &BTreeMap<String, Stray>,
    facts: &Facts,
    knowledge: &Knowledge,
) -> Looked {
    looked(facts, knowledge, |view| {
        rules::leftbehind::without_namespace(name, strays, view)
    })
}
