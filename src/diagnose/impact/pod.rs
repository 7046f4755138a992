//! A pod that is to be deleted, and the volumes that are deleted with it.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete pod`.
//!
//! ```text
//! $ kubectl finalizers explain pod/shell -n shop --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! An `emptyDir` is deleted with its pod. A generic ephemeral volume is a claim that the pod owns. It is
//! garbage-collected with the pod, and the reclaim policy decides about the disk. A pod without a controller is not
//! recreated.
//!
//! # Before you act
//!
//! See whether the pod has an owner, and which of its volumes are ephemeral.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. Copy the files out, or set the volumes to `Retain`.
//!
//! # If it was intended
//!
//! Delete the pod. Its owner makes another one.
//!
//! # Do not
//!
//! Do not delete a pod to end it for good if it has an owner. Scale the owner instead.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | an `emptyDir`, an ephemeral volume with policy `Delete`, or a pod without an owner |
//! | kept | an ephemeral volume with policy `Retain` |
//! | broken | a PodDisruptionBudget allows no disruption of it, and a deletion goes around it |
//! | unknown | a claim or volume could not be read |
//!
//! # What it reads
//!
//! The claims of its ephemeral volumes and their volumes, and the PodDisruptionBudgets of its namespace.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/ephemeral/controller.go`

use crate::{
    diagnose::{
        disruption,
        impact::{Impact, claim_disks, references},
        kinds::{Pod, Volume},
        model::Fate,
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_pod(pod: &Object, impact: &mut Impact, view: &View<'_>) {
    let asked: Vec<_> = Pod(pod)
        .volumes()
        .filter_map(|volume| Pod(pod).ephemeral_claim(volume))
        .map(|claim| view.object("", "persistentvolumeclaims", pod.namespace(), &claim))
        .collect();
    let mut claims = Vec::new();
    for found in asked {
        match found {
            Ok(claim) => claims.extend(claim.filter(|claim| is_own(claim, pod))),
            Err(missing) => impact.add_unknown("what becomes of its ephemeral volumes", &missing),
        }
    }
    if !claims.is_empty() {
        let says = format!(
            "claims of its ephemeral volumes: {}; they have it as their owner and are deleted with it",
            claims.len()
        );
        impact.add_effect(Fate::Released, says, references(claims.iter().copied()));
        claim_disks::add_disks(claims, "its ephemeral volumes", impact, view);
    }
    if Pod(pod).is_finished() {
        return;
    }
    if Pod(pod).volumes().any(Volume::is_empty_dir) {
        impact.add_effect(Fate::Destroyed, "what it keeps in emptyDir volumes", []);
    }
    match disruption::blocking_budget(pod, view) {
        Ok(Some(budget)) => {
            let budget = disruption::allows_none(budget, view);
            impact.add_effect(
                Fate::Broken,
                format!("a deletion goes around its budget. {budget}"),
                [],
            );
        }
        Ok(None) => {}
        Err(missing) => impact.add_unknown("whether a budget protects it", &missing),
    }
    if pod.controller().is_none() && !is_static(pod) {
        impact.add_effect(
            Fate::Destroyed,
            "the pod itself: no controller makes it again",
            [],
        );
    }
}

/// Whether it is a static pod: a kubelet recreates it from a file of its own.
pub(crate) fn is_static(pod: &Object) -> bool {
    !pod.annotation("kubernetes.io/config.mirror").is_empty()
}

/// Whether the pod owns the claim. Another claim may have the name; the pod then does not start, and does not
/// own it.
fn is_own(claim: &Object, pod: &Object) -> bool {
    claim.is_owned_by(pod.uid())
}
