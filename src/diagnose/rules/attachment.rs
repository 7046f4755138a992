//! `external-attacher/DRIVER`, on a volume and on its attachments: a disk that is still attached to a node.
//!
//! **Recognises** the finalizer on `PersistentVolume` and `VolumeAttachment`. **Why:** the attacher takes it off a
//! volume that is being deleted once no attachment names the volume, in whatever state, and off an attachment once
//! the driver has detached the disk, for which it needs the volume object
//! (`kubernetes-csi/external-attacher:pkg/controller/csi_handler.go`). Who deletes attachments is the
//! attach/detach controller, when no pod on the node uses the disk and the kubelet has unmounted it; by force after
//! six minutes on a node that is not Ready or gone
//! (`kubernetes/kubernetes:pkg/controller/volume/attachdetach/reconciler/reconciler.go`). **Wants** the
//! attachments, the volume, the node, pods of the claim's namespace, and whether the driver is there.
//! **Concludes** `failing` with the literal `detachError`; `stalled`, for ever, where the volume object is gone;
//! `in-use` while a pod uses the disk there. **Advises** to let the driver detach; never to take the finalizer off
//! while the node may still write.

use serde_json::Value;

use super::storage::{Holder, let_go, unknown};
use crate::{
    diagnose::{
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// The finalizer on a volume.
pub(super) fn on_volume(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = match volume.text("/spec/csi/driver") {
        "" => super::reclaim::driver(volume),
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
    let mut finding = Finding::new(Some(finalizer.clone()), super::nothing_blocks(volume, view), says);
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
        holder.or_gone(
            &mut finding,
            volume,
            "nothing is attached, so this one finalizer guards nothing any more; leave the others alone",
        );
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(super::nudge(volume));
        }
    } else {
        finding.wait.verdict = Verdict::Waiting;
        finding.do_not.push(format!(
            "remove {} by hand while an attachment is there: without the volume object the disk can never be detached",
            finalizer.name
        ));
        for attachment in attachments
            .iter()
            .filter(|attachment| attachment.deletion().is_some())
        {
            finding.steps.push(look_at(attachment));
        }
    }
    finding
}

/// The finalizer on an attachment.
pub(super) fn on_attachment(attachment: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = attachment.text("/spec/attacher");
    let node = attachment.text("/spec/nodeName");
    let holder = Holder::sidecar(attachment, finalizer, driver, view);
    let says = format!(
        "removed by the attacher of {driver}{}, after it has detached the disk from node {node}",
        holder.alive()
    );
    if attachment.deletion().is_none() {
        return not_deleted(attachment, finalizer, says, view);
    }
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        super::nothing_blocks(attachment, view),
        says,
    );
    holder.testify(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand while node {node} may still run: DATA LOSS, the same disk on two nodes destroys its file \
         system",
        finalizer.name
    ));
    let error = attachment.text("/status/detachError/message");
    if !error.is_empty() {
        failing(&mut finding, attachment, error, view);
    }
    let volume = attachment.text("/spec/source/persistentVolumeName");
    if !volume.is_empty() {
        match view.object("", "persistentvolumes", "", volume) {
            Ok(None) => without_volume(&mut finding, attachment, finalizer, volume),
            Err(missing) => {
                // Without the volume it would stay for ever, whatever the attacher tries.
                finding.outlook.clear();
                if error.is_empty() {
                    finding.wait.verdict = Verdict::Unknown;
                }
                finding.say(format!(
                    "; whether volume {volume} still exists is not known: {}",
                    missing.in_words()
                ));
            }
            Ok(Some(_)) => {}
        }
    }
    if let Ok(None) = view.object("", "nodes", "", node) {
        finding.wait.on.push(Blocker::new(
            None,
            format!(
                "node {node} does not exist any more; the driver must still say that the disk is detached"
            ),
        ));
    }
    let lately = attachment
        .time("/status/detachError/time")
        .is_some_and(|time| super::storage::is_lately(time, view));
    holder.or_gone_unless(
        lately,
        &mut finding,
        attachment,
        &format!(
            "DATA LOSS if node {node} still runs and writes: only after its machine is switched off and the provider \
             shows the disk as detached, take this one finalizer off"
        ),
    );
    if finding.wait.verdict == Verdict::Stalled && finding.steps.is_empty() {
        finding.steps.push(super::nudge(attachment));
    }
    finding
}

fn failing(finding: &mut Finding, attachment: &Object, error: &str, view: &View<'_>) {
    let ago = attachment
        .time("/status/detachError/time")
        .map(|time| format!(" {} ago", Age::between(time, view.now())))
        .unwrap_or_default();
    finding.wait.verdict = Verdict::Failing;
    finding.say(format!("; detaching failed{ago}: {error}"));
    finding.evidence.push(Evidence {
        source: format!(
            "VolumeAttachment {} status.detachError.message",
            attachment.name()
        ),
        value: error.to_owned(),
        strength: Strength::Strong,
    });
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "the attacher tries again and again, with longer and longer pauses".into(),
    });
    finding.steps.push(Step {
        when: "what to do",
        text: format!(
            "repair what the driver complains of: \"{error}\". Then touch the attachment, and the attacher tries at once"
        ),
        ..super::nudge(attachment)
    });
}

/// The attacher reads the volume before each detach, so without it every one fails.
fn without_volume(finding: &mut Finding, attachment: &Object, finalizer: &Finalizer, volume: &str) {
    let node = attachment.text("/spec/nodeName");
    if finding.wait.verdict != Verdict::Failing {
        finding.wait.verdict = Verdict::Stalled;
    }
    finding.say(format!(
        "; but volume {volume} does not exist any more, and without it nothing is ever detached"
    ));
    finding.evidence.push(Evidence {
        source: format!("PersistentVolume {volume}"),
        value: "does not exist".into(),
        strength: Strength::Proof,
    });
    finding.outlook = vec![Outlook {
        when: "if nothing is done".into(),
        then: "it stays for ever".into(),
    }];
    finding.steps = vec![
        Step {
            when: "what to do",
            text: format!(
                "if you have a copy of PersistentVolume {volume}: create it again with policy Retain and the same \
                 spec.csi; the attacher then detaches the disk by itself"
            ),
            command: None,
            safety: Safety::Reversible,
        },
        let_go(
            attachment,
            finalizer,
            "what to do",
            &format!(
                "DATA LOSS if node {node} still runs and writes: otherwise detach the disk at the provider, see that \
                 it is detached, and then take this one finalizer off"
            ),
        ),
    ];
}

fn not_deleted(attachment: &Object, finalizer: &Finalizer, says: String, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, says);
    let why = reasons(attachment, view);
    match why {
        Ok(reasons) => {
            if reasons.iter().any(|reason| reason.object.is_some()) {
                finding.wait.verdict = Verdict::InUse;
            }
            finding.wait.on = reasons;
        }
        Err(missing) => {
            return unknown(finalizer, &finding.wait.says, "what uses it there", &missing);
        }
    }
    finding.outlook.push(Outlook {
        when: "if it were deleted now".into(),
        then: format!(
            "the disk would be detached from node {} while it may be in use there; the attach/detach controller deletes \
             it by itself when no pod needs it",
            attachment.text("/spec/nodeName")
        ),
    });
    finding
}

/// An attachment in the way of something else.
pub(super) fn blocker(attachment: &Object, view: &View<'_>) -> Blocker {
    let node = attachment.text("/spec/nodeName");
    let error = attachment.text("/status/detachError/message");
    if attachment.deletion().is_some() {
        let says = if error.is_empty() {
            format!("still attached to node {node}, being detached")
        } else {
            format!("cannot be detached from node {node}: {error}")
        };
        return super::as_blocker(attachment, says, view);
    }
    let mut blocker = Blocker::new(
        Some(attachment.reference()),
        format!("still attached to node {node}"),
    );
    match reasons(attachment, view) {
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

/// Why nobody has asked to detach yet: pods on the node, then the node itself.
fn reasons(attachment: &Object, view: &View<'_>) -> Result<Vec<Blocker>, Missing> {
    let node = attachment.text("/spec/nodeName");
    let volume = attachment.text("/spec/source/persistentVolumeName");
    if volume.is_empty() {
        return Ok(vec![Blocker::new(
            None,
            "the disk is named by a pod itself, not by a volume",
        )]);
    }
    let Some(volume) = view.object("", "persistentvolumes", "", volume)? else {
        return Ok(vec![Blocker::new(
            None,
            format!(
                "volume {volume} does not exist any more, so the attach/detach controller does not know this attachment \
                 after a restart, and may never delete it"
            ),
        )]);
    };
    let (namespace, claim) = (
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name"),
    );
    if !claim.is_empty() {
        let pods = view.list("", "pods", namespace)?;
        let users: Vec<_> = pods
            .iter()
            .filter(|pod| pod.text("/spec/nodeName") == node && !super::claim::is_finished(pod))
            .filter(|pod| super::claim::names(pod, claim))
            .collect();
        if !users.is_empty() {
            return Ok(super::claim::blockers(&users, view));
        }
    }
    let Some(node_object) = view.object("", "nodes", "", node)? else {
        return Ok(vec![Blocker::new(
            None,
            format!("node {node} does not exist any more; it is detached by force six minutes after that"),
        )]);
    };
    let ready = node_object
        .condition("Ready")
        .is_some_and(|(status, _, _)| status == "True");
    let mounted = node_object
        .list("/status/volumesInUse")
        .iter()
        .filter_map(Value::as_str)
        .any(|name| {
            let handle = volume.text("/spec/csi/volumeHandle");
            !handle.is_empty() && name.ends_with(&format!("^{handle}"))
        });
    let says = match (ready, mounted) {
        (false, _) => format!(
            "node {node} is not Ready; the disk is detached by force after six minutes, or at once if the machine is off \
             and the node has the taint node.kubernetes.io/out-of-service"
        ),
        (true, true) => format!("the kubelet of {node} has not unmounted it yet (status.volumesInUse)"),
        (true, false) => {
            format!("no pod on {node} uses it; the attach/detach controller has not asked to detach it yet")
        }
    };
    Ok(vec![Blocker::new(None, says)])
}

/// The attachments that name a volume.
pub(super) fn of_volume<'a>(volume: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("storage.k8s.io", "volumeattachments", "")?
        .iter()
        .filter(|attachment| attachment.text("/spec/source/persistentVolumeName") == volume)
        .collect())
}

/// Where to read on.
pub(super) fn look_at(attachment: &Object) -> Step {
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
