//! A StatefulSet is to be deleted, and the claims of its volumeClaimTemplates are deleted with it or stay.
//!
//! # Symptom
//!
//! You are about to delete a StatefulSet with `volumeClaimTemplates`. People are surprised both ways: claims vanish, or
//! stay and cost money.
//!
//! ```text
//! $ kubectl finalizers explain sts/postgres -n shop --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! Claims are deleted with it only if they have it as their owner. Its controller sets the owner if
//! `persistentVolumeClaimRetentionPolicy.whenDeleted` is `Delete`. The garbage collector only reads the owners. So the
//! owners count, and the policy only tells what they will be.
//!
//! # Before you act
//!
//! See the owners of the claims and the reclaim policy of their volumes.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. Set the volumes to `Retain`, or set `whenDeleted: Retain` and wait until the owners are
//! gone.
//!
//! # If it was intended
//!
//! Delete it. Delete the claims that stay by hand if nobody needs them.
//!
//! # Do not
//!
//! Do not delete it in the same second in which you change the policy. The owners change a little later.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | released | claims are deleted with it |
//! | destroyed | their disks, with policy `Delete` |
//! | kept | claims that stay |
//! | unknown | claims or volumes could not be read |
//!
//! # What it reads
//!
//! The claims of its namespace, and the volumes of those that are deleted.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/statefulset/stateful_set_utils.go` updateClaimOwnerRefForSetAndPod
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` attemptToDeleteItem

use crate::{
    command::Command,
    diagnose::{
        impact::{Impact, claim_disks, references, storage_quantity},
        kinds::{OwnerReference, Workload},
        model::{Fate, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn add_claims_of_templates(set: &Object, impact: &mut Impact, view: &View<'_>) {
    if Workload(set).claim_templates().next().is_none() {
        return;
    }
    let claims = match view.list("", "persistentvolumeclaims", set.namespace()) {
        Ok(claims) => claims,
        Err(missing) => {
            return impact.add_unknown("which claims it has, and what becomes of their data", &missing);
        }
    };
    let own: Vec<_> = claims.iter().filter(|claim| Workload(set).makes(claim)).collect();
    let (deleted, kept): (Vec<&Object>, Vec<&Object>) =
        own.into_iter().partition(|claim| goes_with(claim, set));
    let policy = Workload(set).claims_when_deleted();
    if !deleted.is_empty() {
        let says = format!(
            "claims of its volumeClaimTemplates: {}; they have it as their owner and are deleted with it \
             (persistentVolumeClaimRetentionPolicy.whenDeleted)",
            deleted.len()
        );
        impact.add_effect(Fate::Released, says, references(deleted.iter().copied()));
        claim_disks::add_disks(deleted.iter().copied(), "its claims", impact, view);
        add_keep_step(set, policy, impact);
    }
    if kept.is_empty() {
        return;
    }
    let size = storage_quantity::of_claims(&kept);
    if policy == "Delete" {
        let says = format!(
            "whether these claims go with it is not known: {}, of {size} in all. It should take them along \
             (persistentVolumeClaimRetentionPolicy.whenDeleted is Delete), but is not yet their owner",
            kept.len()
        );
        impact.add_effect(Fate::Unknown, says, references(kept));
    } else {
        let says = format!(
            "claims of its volumeClaimTemplates: {}, of {size} in all; they stay with their data, and cost what they cost \
             until they are deleted too. A StatefulSet of the same name takes them up again",
            kept.len()
        );
        impact.add_effect(Fate::Kept, says, references(kept));
    }
}

/// Whether the claim has owners, and all of them are the set or pods that are deleted with it.
fn goes_with(claim: &Object, set: &Object) -> bool {
    let mut owners = OwnerReference::all(claim).peekable();
    let goes = |owner: OwnerReference<'_>| owner.uid() == set.uid() || owner.kind() == "Pod";
    owners.peek().is_some() && owners.all(goes)
}

/// Adds the step that keeps the claims: they stay once the set no longer owns them.
fn add_keep_step(set: &Object, policy: &str, impact: &mut Impact) {
    let (namespace, name) = (set.namespace(), set.name());
    let patch = r#"{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}"#;
    let (text, command) = if policy == "Delete" {
        (
            "or let the claims stay: its controller then takes itself off their owners within seconds. Look again before you \
             delete it",
            Command::of(
                "kubectl -n {} patch statefulset {} -p {}",
                [namespace, name, patch],
            ),
        )
    } else {
        (
            "or wait until its controller has taken itself off the owners of the claims, as its policy now says",
            Command::explain("statefulset", name, namespace),
        )
    };
    impact.steps.push(Step {
        when: When::KeepData,
        text: text.into(),
        command: Some(command),
        safety: if policy == "Delete" {
            Safety::Reversible
        } else {
            Safety::ReadOnly
        },
        lets_go: Vec::new(),
    });
}
