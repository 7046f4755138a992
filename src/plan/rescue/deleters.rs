//! Who may delete an object again: its owners, the programs that deployed it, and the StatefulSet that made a claim.
//!
//! A program that deploys leaves marks on its objects (`knowledge/deployers.yaml`). A StatefulSet becomes the owner of its
//! claims only when its policy says so, and its Pods run
//! (`kubernetes/kubernetes:pkg/controller/statefulset/stateful_set_utils.go` updateClaimOwnerRefForSetAndPod). So a claim
//! without an owner can get one again, and the policy of the StatefulSet is what counts.

use std::collections::BTreeSet;

use crate::{
    diagnose::kinds::{ManagedFields, OwnerReference, Workload},
    knowledge::{
        Knowledge,
        schema::{Applies, Deployer, glob},
    },
    snapshot::facts::Object,
};

/// A sentence for each. `what` is the object in a word.
pub(in crate::plan) fn deleters(object: &Object, what: &str, knowledge: &Knowledge) -> Vec<String> {
    let mut names = Vec::new();
    let owners = OwnerReference::all(object);
    names.extend(owners.map(|owner| format!("its owner, {} {}", owner.kind(), owner.name())));
    let deployed_by = knowledge
        .deployers()
        .iter()
        .filter(|one| one.applies != Applies::Once && is_marked_by(object, one));
    names.extend(deployed_by.map(|one| one.name.clone()));
    names
        .iter()
        .map(|who| format!("The {what} may be deleted again by {who}: stop that first."))
        .collect()
}

/// What the StatefulSet that made this claim does with it, a sentence each. `sets` are all of its namespace, or why they
/// could not be read.
pub(super) fn by_sets(claim: &Object, sets: &Result<Vec<Object>, String>) -> Vec<String> {
    let sets = match sets {
        Ok(sets) => sets,
        Err(why) => {
            return vec![format!(
                "Whether a StatefulSet deletes the claim again is not known: {why}."
            )];
        }
    };
    let its = sets.iter().filter(|set| Workload(set).makes(claim));
    let deletes = its.flat_map(|set| {
        [
            (
                "whenDeleted",
                Workload(set).claims_when_deleted(),
                "it is deleted",
            ),
            (
                "whenScaled",
                Workload(set).claims_when_scaled(),
                "it is scaled down",
            ),
        ]
        .into_iter()
        .filter(|(_, policy, _)| *policy == "Delete")
        .map(|(field, _, when)| {
            format!(
                "The claim may be deleted again by StatefulSet {} when {when}: set its \
                 persistentVolumeClaimRetentionPolicy.{field} to Retain first.",
                set.name()
            )
        })
    });
    deletes.collect()
}

fn is_marked_by(object: &Object, deployer: &Deployer) -> bool {
    let keys: BTreeSet<&String> = ["/metadata/labels", "/metadata/annotations"]
        .iter()
        .filter_map(|place| object.value.pointer(place)?.as_object())
        .flat_map(serde_json::Map::keys)
        .collect();
    let is_marked = |pattern: &String| keys.iter().any(|key| glob(pattern, key));
    let mut writers = ManagedFields::all(object).filter_map(ManagedFields::manager);
    deployer.marks.iter().any(is_marked) || writers.any(|writer| deployer.writes_as(writer))
}
