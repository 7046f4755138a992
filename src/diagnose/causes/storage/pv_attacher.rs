//! `external-attacher/DRIVER` on a volume: a disk that is still attached to a node.
//!
//! # Symptom
//!
//! A PersistentVolume in deletion has a finalizer such as `external-attacher/ebs-csi-aws-com`. `kubectl get
//! volumeattachments` still lists its name.
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-attached --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The attacher removes the finalizer from a volume in deletion when no VolumeAttachment names the volume. The state of
//! the attachment does not matter.
//!
//! # Before you act
//!
//! Find out why the attachment stays: a pod uses the disk, the node is silent, or detaching fails. The explanation
//! follows that chain.
//!
//! # If it was a mistake
//!
//! Keep the disk with `kubectl finalizers rescue pv/NAME --only-retain`.
//!
//! # If it was intended
//!
//! Resolve the attachment: see [`crate::diagnose::causes::storage::volume_attachment_in_use`] and
//! [`crate::diagnose::causes::storage::volume_attachment_detach`].
//!
//! # Do not
//!
//! Do not remove the finalizer while there is an attachment. Without the volume object the attacher cannot detach the
//! disk, and the attachment stays for ever.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | an attachment names the volume |
//! | stalled | no attachment is left, and the attacher has not acted |
//! | orphaned | the driver is gone |
//! | unknown | attachments could not be listed |
//!
//! # What it reads
//!
//! The attachments, what blocks them, and whether the driver is installed.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-attacher:pkg/controller/csi_handler.go` SyncNewOrUpdatedPersistentVolume

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            storage::{volume_attachment_in_use, volume_attachments},
            verdicts,
            verdicts::unknown,
        },
        kinds::PersistentVolume,
        model::{Evidence, Finding, Page, Strength, Verdict},
        reclaim_policy,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumes")],
    finalizer: On::Beginning("external-attacher/"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(volume_still_attached),
};

/// Answers for the finalizer on a volume.
fn volume_still_attached(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = match PersistentVolume(volume).csi_driver() {
        "" => reclaim_policy::driver(volume),
        driver => driver.to_owned(),
    };
    let controller = Controller::sidecar(volume, finalizer, &driver, view);
    let says = controller
        .removes(format!("the attacher of {driver}"))
        .once("no VolumeAttachment names the volume");
    let attachments = match volume_attachments::of_volume(volume.name(), view) {
        Ok(attachments) => attachments,
        Err(missing) => return unknown(finalizer, &says, "whether one does", &missing),
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(volume, view),
        says,
    );
    finding.wait.on = attachments
        .iter()
        .map(|attachment| volume_attachment_in_use::blocker(attachment, view))
        .collect();
    finding.evidence.push(Evidence {
        source: "VolumeAttachments spec.source.persistentVolumeName".into(),
        value: format!("{} name {}", attachments.len(), volume.name()),
        strength: Strength::Proof,
    });
    controller.add_evidence(&mut finding);
    if attachments.is_empty() {
        finding.say("none does");
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(volume));
        }
        controller.add_if_gone_or_late(
            &mut finding,
            volume,
            "nothing is attached, so this one finalizer guards nothing any more; leave the others alone",
        );
    } else {
        finding.wait.verdict = Verdict::Waiting;
        finding.do_not.push(format!(
            "remove {} by hand while an attachment is there: without the volume object the disk can never be detached",
            finalizer.name
        ));
        for attachment in &attachments {
            finding
                .steps
                .extend(volume_attachment_in_use::steps(attachment, view));
        }
    }
    finding
}
