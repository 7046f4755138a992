//! `external-attacher/DRIVER` on a volume: a disk that is still attached to a node.
//!
//! **Recognises** the finalizer on a `PersistentVolume`. **Why:** the attacher takes it off a volume that is being deleted
//! once no attachment names the volume, in whatever state
//! (`kubernetes-csi/external-attacher:pkg/controller/csi_handler.go` SyncNewOrUpdatedPersistentVolume). **Wants** the
//! attachments, what is in their way ([`crate::diagnose::causes::storage::volume_attachment_in_use`], [`crate::diagnose::causes::storage::volume_attachment_detach`]), and whether the driver is there.
//! **Concludes** `waiting` with the attachments; without any `stalled`, or `orphaned` without the driver. **Advises** to
//! look at the attachment; never to take the finalizer off while there is one.

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            storage::{csi_holder::Holder, pv_reclaim, volume_attachment_in_use},
            verdicts,
            verdicts::unknown,
        },
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    group: "",
    plural: "persistentvolumes",
    finalizer: "external-attacher/",
    explain: on_volume,
};

/// The finalizer on a volume.
fn on_volume(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = match volume.text("/spec/csi/driver") {
        "" => pv_reclaim::driver(volume),
        driver => driver.to_owned(),
    };
    let holder = Holder::sidecar(volume, finalizer, &driver, view);
    let says = format!(
        "removed by the attacher of {driver}{}, once no VolumeAttachment names the volume",
        holder.alive()
    );
    let attachments = match of_volume(volume.name(), view) {
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
        .map(|attachment| blocker(attachment, view))
        .collect();
    finding.evidence.push(Evidence {
        source: "VolumeAttachments spec.source.persistentVolumeName".into(),
        value: format!("{} name {}", attachments.len(), volume.name()),
        strength: Strength::Proof,
    });
    holder.testify(&mut finding);
    if attachments.is_empty() {
        finding.say("; none does");
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(volume));
        }
        holder.or_gone(
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

/// An attachment in the way of something else.
pub(crate) fn blocker(attachment: &Object, view: &View<'_>) -> Blocker {
    let node = attachment.text("/spec/nodeName");
    let error = attachment.text("/status/detachError/message");
    if attachment.deletion().is_some() {
        let says = if error.is_empty() {
            format!("still attached to node {node}, being detached")
        } else {
            format!("cannot be detached from node {node}: {error}")
        };
        return view.blocker(attachment, says);
    }
    let mut blocker = Blocker::new(
        Some(attachment.reference()),
        format!("still attached to node {node}"),
    );
    match volume_attachment_in_use::reasons(attachment, view) {
        Ok(reasons) => blocker.on = reasons,
        Err(missing) => {
            blocker.says = format!(
                "{}; what uses it there is not known: {}",
                blocker.says,
                missing.in_words()
            );
        }
    }
    blocker
}

/// The attachments that name a volume.
pub(crate) fn of_volume<'a>(volume: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("storage.k8s.io", "volumeattachments", "")?
        .iter()
        .filter(|attachment| attachment.text("/spec/source/persistentVolumeName") == volume)
        .collect())
}

/// Where to read on.
pub(crate) fn look_at(attachment: &Object) -> Step {
    Step {
        when: "what to do",
        text: "see why the disk is not detached, and what to do about it".into(),
        command: Some(format!(
            "kubectl finalizers explain volumeattachment/{}",
            attachment.name()
        )),
        safety: Safety::Safe,
    }
}
