//! The snapshot-controller is to be deleted, and the contents of all snapshots of the cluster wait for it.
//!
//! # Symptom
//!
//! You are about to uninstall the snapshot-controller. Afterwards every deletion of a VolumeSnapshot hangs.
//!
//! ```text
//! $ kubectl finalizers explain deployments.apps/snapshot-controller -n kube-system --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! A driver's csi-snapshotter deletes a snapshot only after the snapshot-controller has marked its content. The only
//! exception is a content that was never bound to a VolumeSnapshot. So the sidecar owns the finalizer on a content, but
//! still waits for the controller.
//!
//! # Before you act
//!
//! List the VolumeSnapshots and their contents.
//!
//! # If it was a mistake
//!
//! Install the controller again, in any current release.
//!
//! # If it was intended
//!
//! Delete the snapshots first, or keep the controller.
//!
//! # Do not
//!
//! Do not remove the finalizers of the contents afterwards. The snapshots stay at the provider and cost money.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stuck | contents are bound and have no mark |
//! | unknown | contents could not be listed |
//!
//! # What it reads
//!
//! The contents.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-snapshotter:pkg/sidecar-controller/snapshot_controller.go` shouldDelete

use crate::{
    diagnose::{
        impact::{Impact, references},
        kinds::VolumeSnapshotContent,
        model::Fate,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Resource,
};

const GROUP: &str = "snapshot.storage.k8s.io";
const CONTENTS: &str = "volumesnapshotcontents";
/// The finalizer that the controller itself removes.
const BOUND: &str = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
/// The finalizer that waits for the mark of the controller.
const CONTENT_BOUND: &str = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
/// The annotation that is the mark.
const MARK: &str = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted";

/// Adds the contents that no controller would mark any more, if snapshots are among what is `stuck`.
pub(crate) fn add_waiting_contents(stuck: &[Finalizer], impact: &mut Impact, view: &View<'_>) {
    let goes = stuck.iter().any(|finalizer| finalizer.name == BOUND);
    if !goes || !view.has_type(&Resource::new(GROUP, CONTENTS)) {
        return;
    }
    match view.list(GROUP, CONTENTS, "") {
        Ok(contents) => {
            let waiting: Vec<_> = contents
                .iter()
                .filter(|content| content.has_finalizer(CONTENT_BOUND))
                .filter(|content| !VolumeSnapshotContent(content).snapshot_uid().is_empty())
                .filter(|content| content.annotation(MARK).is_empty())
                .collect();
            if !waiting.is_empty() {
                let says = format!(
                    "contents behind snapshots: {}. Their driver lets them go, and deletes what they stand for, only after this \
                     controller has marked them",
                    waiting.len()
                );
                impact.add_effect(Fate::Stuck, says, references(waiting));
            }
        }
        Err(missing) => impact.add_unknown(
            "which contents of snapshots wait for it when they are deleted",
            &missing,
        ),
    }
}
