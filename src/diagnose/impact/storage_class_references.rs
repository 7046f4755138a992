//! The storage class that claims, volumes and their templates name.

use crate::{
    diagnose::{
        impact::{Impact, references},
        kinds::{ClaimTemplate, Workload},
        model::Fate,
    },
    snapshot::facts::Object,
};

/// Adds the workloads whose pods have ephemeral volumes of the class. `which` names the class in a sentence.
pub(crate) fn add_ephemeral_volumes(makers: &[&Object], which: &str, impact: &mut Impact) {
    if makers.is_empty() {
        return;
    }
    let says = format!(
        "workloads with ephemeral volumes that name {which}: {}; new pods of them get no volume, and wait",
        makers.len()
    );
    impact.add_effect(Fate::Broken, says, references(makers.iter().copied()));
}

/// The class that each volumeClaimTemplate of a `StatefulSet` names.
pub(crate) fn template_classes(set: &Object) -> impl Iterator<Item = Option<&str>> {
    Workload(set).claim_templates().map(ClaimTemplate::class)
}
