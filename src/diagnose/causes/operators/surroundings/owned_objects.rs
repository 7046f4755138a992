//! The objects of its product that an object owns, and that are being deleted before it. The garbage collector deletes them
//! after their owner. So somebody else deleted them first, as a controller does that waits until they are gone.

use super::referrers;
use crate::{
    diagnose::{limits, model::Finding, view::View},
    snapshot::facts::Object,
};

pub(super) fn add_owned(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    if object.uid().is_empty() || object.has_finalizer("foregroundDeletion") {
        return;
    }
    let types = super::types_of_domain(&object.resource.group, view).take(limits::TYPES_OF_PATTERN);
    let all = types.flat_map(|ty| referrers::all_of(ty, object, view));
    let going: Vec<_> = all
        .filter(|other| other.is_owned_by(object.uid()) && other.deletion().is_some())
        .take(limits::BLOCKERS)
        .collect();
    for other in going {
        let says = "belongs to it, and is being deleted".to_owned();
        super::add_blocker(finding, view.blocker(other, says), runs);
    }
}
