//! The claims that were made for an object, and that are being deleted and do not go.

use crate::{
    diagnose::{
        causes::{advice::explain_step, operators::referenced_by::is_child},
        limits,
        model::Finding,
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds them. A claim that stays says nothing: many operators keep the data.
pub(super) fn add_claims(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    if object.namespace().is_empty() {
        return;
    }
    // Claims that could not be listed are a gap of the diagnosis.
    let Ok(all) = view.list("", "persistentvolumeclaims", object.namespace()) else {
        return;
    };
    let found: Vec<_> = all
        .iter()
        .filter(|claim| claim.deletion().is_some() && is_child(claim, object))
        .take(limits::BLOCKERS)
        .collect();
    for claim in &found {
        let blocker = view.blocker(claim, "was made for it, and is being deleted".to_owned());
        super::add_blocker(finding, blocker, runs);
    }
    let steps = found
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|claim| explain_step(claim, format!("see what holds {} {}", claim.kind, claim.name())));
    finding.steps.splice(0..0, steps);
}
