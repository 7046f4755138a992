//! `external-attacher/DRIVER` on an attachment: a disk that is to be detached from a node.
//!
//! **Recognises** the finalizer on a `VolumeAttachment`. **Why:** the attacher takes it off once the driver has detached
//! the disk, for which it needs the volume object
//! (`kubernetes-csi/external-attacher:pkg/controller/csi_handler.go` csiDetach). **Wants** the volume, the node, and
//! whether the driver is there. **Concludes** `failing` with the literal `detachError`; `stalled`, for ever, where the
//! volume object is gone. **Advises** to let the driver detach; never to take the finalizer off while the node may still
//! write.

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::let_go,
            cause::Cause,
            storage::{csi_errors, csi_holder::Holder, volume_attachment_in_use},
            verdicts,
        },
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        timing,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    group: "storage.k8s.io",
    plural: "volumeattachments",
    finalizer: "external-attacher/",
    explain: on_attachment,
};

/// The finalizer on an attachment.
fn on_attachment(attachment: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = attachment.text("/spec/attacher");
    let node = attachment.text("/spec/nodeName");
    let holder = Holder::sidecar(attachment, finalizer, driver, view);
    let says = format!(
        "removed by the attacher of {driver}{}, after it has detached the disk from node {node}",
        holder.alive()
    );
    if attachment.deletion().is_none() {
        let mut finding = volume_attachment_in_use::not_deleted(attachment, finalizer, says, view);
        failing_to_attach(&mut finding, attachment, view);
        return finding;
    }
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(attachment, view),
        says,
    );
    holder.testify(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand while node {node} may still run: DATA LOSS, the same disk on two nodes destroys its file \
         system",
        finalizer.name
    ));
    failing(&mut finding, attachment, view);
    let volume = attachment.text("/spec/source/persistentVolumeName");
    if !volume.is_empty() {
        match view.object("", "persistentvolumes", "", volume) {
            Ok(None) => without_volume(&mut finding, attachment, finalizer, volume),
            Err(missing) => {
                // Without the volume it would stay for ever, whatever the attacher tries.
                finding.outlook.clear();
                if finding.wait.verdict != Verdict::Failing {
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
        .is_some_and(|time| timing::is_lately(time, view));
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
        quiet(&mut finding, attachment);
    }
    finding
}

/// The attacher is alive and writes no error: it has not been heard of at all, or it may not even say why.
fn quiet(finding: &mut Finding, attachment: &Object) {
    finding.say("; it has written no error");
    finding.steps.push(advice::nudge(attachment));
    finding.steps.push(Step {
        when: "what to do",
        text: "if that does not help, read the log of the csi-attacher container beside the driver's controller: the driver \
               may not answer, or the attacher may lack the rights to patch volumeattachments and volumeattachments/status, \
               without which it cannot even say so"
            .into(),
        command: None,
        safety: Safety::Safe,
    });
}

/// Not being deleted, and not attached either.
fn failing_to_attach(finding: &mut Finding, attachment: &Object, view: &View<'_>) {
    let error = attachment.text("/status/attachError/message");
    if !error.is_empty() {
        let source = format!(
            "VolumeAttachment {} status.attachError.message",
            attachment.name()
        );
        let time = attachment.time("/status/attachError/time");
        csi_errors::quote(finding, ("attaching fails", source), error, time, view);
    }
}

/// The last attempt failed: to detach it, or, where that was never tried, to attach it.
fn failing(finding: &mut Finding, attachment: &Object, view: &View<'_>) {
    let detaching = attachment.text("/status/detachError/message");
    let attaching = attachment.text("/status/attachError/message");
    if !detaching.is_empty() {
        let source = format!(
            "VolumeAttachment {} status.detachError.message",
            attachment.name()
        );
        let time = attachment.time("/status/detachError/time");
        csi_errors::quote(finding, ("detaching failed", source), detaching, time, view);
        finding.steps.extend(csi_errors::steps(attachment, detaching));
        finding.outlook.push(Outlook {
            when: "if nothing is done".into(),
            then: "the attacher tries again and again, with longer and longer pauses".into(),
        });
    } else if !attaching.is_empty() {
        let time = attachment.time("/status/attachError/time");
        finding.say(format!(
            "; it was never attached, which failed{}: {attaching}",
            csi_errors::ago(time, view)
        ));
    }
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
