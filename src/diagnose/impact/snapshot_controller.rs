//! The snapshot-controller is to be deleted, and the contents of all snapshots of the cluster wait for it.
//!
//! **Recognises** workloads that must remove the finalizer of bound VolumeSnapshots. **Why:** a driver's
//! csi-snapshotter deletes a snapshot only after the snapshot-controller has marked its content
//! (`kubernetes-csi/external-snapshotter:pkg/sidecar-controller/snapshot_controller.go` shouldDelete). The only
//! exception is a content that was never bound to a VolumeSnapshot. So the sidecar owns the finalizer on a
//! content, but still waits for the controller. **Wants** the contents. **Concludes** `stuck` for those that
//! are bound and have no mark. **Advises** to delete the snapshots first, or to keep the controller.

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
                .filter(|content| content.finalizers().iter().any(|one| one.name == CONTENT_BOUND))
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
