//! A pod that is to be deleted, and what it keeps in volumes that go with it.
//!
//! **Recognises** a Pod. **Why:** an `emptyDir` goes with its pod; a generic ephemeral volume is a claim that has the pod as its
//! owner and is collected with it (`kubernetes/kubernetes:pkg/controller/volume/ephemeral/controller.go`), and the reclaim
//! policy decides about the disk. A pod of no controller is not made again. **Wants** the claims of its ephemeral volumes and
//! their volumes. **Concludes** what is lost. **Advises** Retain where the data is to be kept.

use serde_json::Value;

use crate::{
    diagnose::{
        impact::{Impact, claim_disks, references},
        kinds::Pod,
        model::Fate,
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_pod(pod: &Object, impact: &mut Impact, view: &View<'_>) {
    let volumes = pod.list("/spec/volumes");
    let asked: Vec<_> = volumes
        .iter()
        .filter(|volume| is_ephemeral(volume))
        .filter_map(|volume| volume.get("name").and_then(Value::as_str))
        .map(|volume| format!("{}-{volume}", pod.name()))
        .map(|claim| view.object("", "persistentvolumeclaims", pod.namespace(), &claim))
        .collect();
    let mut claims = Vec::new();
    for found in asked {
        match found {
            Ok(claim) => claims.extend(claim.filter(|claim| is_own(claim, pod))),
            Err(missing) => impact.unknown("what becomes of its ephemeral volumes", &missing),
        }
    }
    if !claims.is_empty() {
        let says = format!(
            "claims of its ephemeral volumes: {}; they have it as their owner and are deleted with it",
            claims.len()
        );
        impact.say(Fate::Released, says, references(claims.iter().copied()));
        claim_disks::behind(claims, "its ephemeral volumes", impact, view);
    }
    if Pod(pod).is_finished() {
        return;
    }
    if volumes.iter().any(is_empty_dir) {
        impact.say(Fate::Destroyed, "what it keeps in emptyDir volumes", []);
    }
    if pod.controller().is_none() && !is_static(pod) {
        impact.say(
            Fate::Destroyed,
            "the pod itself: no controller makes it again",
            [],
        );
    }
}

/// A kubelet makes it again from a file of its own.
pub(crate) fn is_static(pod: &Object) -> bool {
    !pod.annotation("kubernetes.io/config.mirror").is_empty()
}

pub(crate) fn is_empty_dir(volume: &Value) -> bool {
    volume.get("emptyDir").is_some()
}

/// Whether it is a volume that is made with the pod, and deleted with it.
pub(crate) fn is_ephemeral(volume: &Value) -> bool {
    volume.get("ephemeral").is_some()
}

/// Another claim may have its name: then the pod does not start, and does not own it.
fn is_own(claim: &Object, pod: &Object) -> bool {
    claim.owned_by(pod.uid()).next().is_some()
}
