//! `external-attacher/DRIVER` on an attachment: a disk that is being detached from a node.
//!
//! # Symptom
//!
//! A VolumeAttachment stays in deletion. New pods hang in `ContainerCreating` with `Multi-Attach error for volume` or
//! `FailedAttachVolume`.
//!
//! ```text
//! $ kubectl get volumeattachments
//! NAME       ATTACHER          PV            NODE     ATTACHED   AGE
//! csi-9a1b   ebs.csi.aws.com   pvc-removed   node-1   true       52m
//! ```
//!
//! ```text
//! $ kubectl finalizers explain volumeattachment/csi-9a1b --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The attacher removes the finalizer after the driver has detached the disk. It needs the volume object for that. If
//! somebody removed the volume by hand, nothing is ever detached.
//!
//! # Before you act
//!
//! Find out whether the node still runs and writes to the disk. Only the provider can say this for certain.
//!
//! # If it was a mistake
//!
//! Nothing is lost. A detached disk can be attached again.
//!
//! # If it was intended
//!
//! Let the driver detach the disk: repair what it complains of. If the volume object is gone, create it again from a
//! copy, with policy `Retain` and the same `spec.csi`.
//!
//! # Do not
//!
//! Do not remove the finalizer while the node may still run. The same disk on two nodes destroys its file system.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the attachment has a `detachError`, which is quoted |
//! | waiting | the driver had little time to detach |
//! | stalled | the volume object is gone, or nobody acts |
//! | orphaned | the driver is gone |
//!
//! # What it reads
//!
//! The volume, the pods that use its claim on that node, the node, and whether the driver is installed.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-attacher:pkg/controller/csi_handler.go` csiDetach

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::remove_finalizer,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            storage::{csi_errors, volume_attachment_in_use},
            verdicts,
        },
        complaint::says_not_found,
        kinds::{Node, PersistentVolume, VolumeAttachment},
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        removal::{Unable, Veto},
        timing,
        view::View,
    },
    object::{Finalizer, pasteable},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("storage.k8s.io", "volumeattachments")],
    finalizer: On::Beginning("external-attacher/"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(disk_not_detached),
};

/// Answers for the finalizer on an attachment.
fn disk_not_detached(attachment: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = VolumeAttachment(attachment).attacher();
    let node = VolumeAttachment(attachment).node();
    let controller = Controller::sidecar(attachment, finalizer, driver, view);
    let says = controller
        .removes(format!("the attacher of {driver}"))
        .once(format!("it has detached the disk from node {node}"));
    if attachment.deletion().is_none() {
        let mut finding = volume_attachment_in_use::still_attached(attachment, finalizer, says, view);
        add_attach_error(&mut finding, attachment, view);
        return finding;
    }
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(attachment, view),
        says,
    );
    controller.add_evidence(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand while node {node} may still run: DATA LOSS, the same disk on two nodes destroys its file \
         system",
        finalizer.name
    ));
    add_errors(&mut finding, attachment, &controller, view);
    let volume = VolumeAttachment(attachment).volume();
    if !volume.is_empty() {
        match view.object("", "persistentvolumes", "", volume) {
            Ok(None) => add_missing_volume(&mut finding, attachment, finalizer, volume, view),
            Err(missing) => {
                // If the volume is gone, every attempt of the attacher fails and the attachment stays for ever.
                finding.outlook.clear();
                if finding.wait.verdict != Verdict::Failing {
                    finding.wait.verdict = Verdict::Unknown;
                }
                finding.say(format!(
                    "whether volume {volume} still exists is not known: {}",
                    missing.in_words()
                ));
            }
            Ok(Some(found)) => say_disk(&mut finding, found, node, view),
        }
    }
    match view.object("", "nodes", "", node) {
        Ok(None) => finding.wait.on.push(Blocker::new(
            None,
            format!(
                "node {node} does not exist any more; the driver must still say that the disk is detached"
            ),
        )),
        Ok(Some(found)) if !uses_disk(found, driver, volume, view) => {}
        Ok(Some(_)) | Err(_) => finding.forbid(Veto::DiskInUse {
            node: node.to_owned(),
        }),
    }
    let failed_recently = VolumeAttachment(attachment)
        .detach_error()
        .time()
        .is_some_and(|time| timing::is_within_last_hour(time, view));
    // An error of the last hour proves that the attacher runs.
    if !failed_recently {
        let cost = format!(
            "DATA LOSS if node {node} still runs and writes: only after its machine is switched off and the provider \
             shows the disk as detached, take this one finalizer off"
        );
        controller.add_if_gone_or_late(&mut finding, attachment, &cost);
    }
    if finding.wait.verdict == Verdict::Stalled && finding.steps.is_empty() && controller.looks_alive() {
        add_silence(&mut finding, attachment);
    }
    finding
}

/// Says whose disk it is, and which Pods on the node still use it.
fn say_disk(finding: &mut Finding, volume: &Object, node: &str, view: &View<'_>) {
    let target = volume.reference().pasteable();
    let claim = PersistentVolume(volume).claim_name();
    if claim.is_empty() {
        finding.say(format!("It attaches {target}, which has no claim"));
        return;
    }
    let namespace = PersistentVolume(volume).claim_namespace();
    let claim = pasteable("persistentvolumeclaims", Some(namespace), claim);
    finding.say(format!("It attaches {target}, the disk of {claim}"));
    match volume_attachment_in_use::users_on_node(volume, node, view) {
        Ok(pods) if pods.is_empty() => finding.say(format!("No Pod on node {node} uses that claim")),
        Ok(pods) => {
            for pod in pods.iter().take(limits::NAMES_IN_SENTENCE) {
                finding.say(format!("Pod {} on node {node} uses that claim", pod.name()));
            }
            if let Some(more) = pods
                .len()
                .checked_sub(limits::NAMES_IN_SENTENCE)
                .filter(|more| *more > 0)
            {
                finding.say(format!("{more} more Pods on node {node} use that claim"));
            }
        }
        Err(missing) => finding.say(format!(
            "which Pods on node {node} use that claim is not known: {}",
            missing.in_words()
        )),
    }
}

/// Whether the kubelet reports that a disk of the driver is in use: the one of this volume, or any if the volume, which
/// has its name, is gone or could not be read. A silent kubelet leaves its last report. The names are those of
/// `kubernetes/kubernetes:pkg/volume/csi/csi_plugin.go` and `pkg/volume/util/util.go` `GetUniqueVolumeName`.
fn uses_disk(node: &Object, driver: &str, volume: &str, view: &View<'_>) -> bool {
    let of_driver = format!("kubernetes.io/csi/{driver}^");
    let handle = match view.object("", "persistentvolumes", "", volume) {
        Ok(Some(found)) => PersistentVolume(found).disk(),
        _ => "",
    };
    Node(node)
        .volumes_in_use()
        .filter_map(|name| name.strip_prefix(&of_driver))
        .any(|name| handle.is_empty() || name == handle)
}

/// The attacher looks alive and writes no error. It may lack the right to write one.
fn add_silence(finding: &mut Finding, attachment: &Object) {
    finding.say("it has written no error");
    finding.steps.push(advice::nudge(attachment));
    finding.steps.push(Step {
        when: When::Now,
        text: "if that does not help, read the log of the csi-attacher container beside the driver's controller: the driver \
               may not answer, or the attacher may lack the rights to patch volumeattachments and volumeattachments/status, \
               without which it cannot even say so"
            .into(),
        command: None,
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}

/// Adds the error of an attachment that is not being deleted and could not be attached.
fn add_attach_error(finding: &mut Finding, attachment: &Object, view: &View<'_>) {
    let error = VolumeAttachment(attachment).attach_error().message();
    if !error.is_empty() {
        let source = format!(
            "VolumeAttachment {} status.attachError.message",
            attachment.name()
        );
        let time = VolumeAttachment(attachment).attach_error().time();
        csi_errors::add_error(finding, ("attaching fails", source), error, time, view);
    }
}

/// Adds the error of the last attempt: to detach, or to attach where detaching was never tried.
fn add_errors(finding: &mut Finding, attachment: &Object, controller: &Controller, view: &View<'_>) {
    let detaching = VolumeAttachment(attachment).detach_error().message();
    let attaching = VolumeAttachment(attachment).attach_error().message();
    if !detaching.is_empty() {
        let source = format!(
            "VolumeAttachment {} status.detachError.message",
            attachment.name()
        );
        let time = VolumeAttachment(attachment).detach_error().time();
        csi_errors::add_error(finding, ("detaching failed", source), detaching, time, view);
        finding
            .steps
            .extend(csi_errors::steps(attachment, detaching, controller, view));
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then: "the attacher tries again and again, with longer and longer pauses".into(),
        });
    } else if !attaching.is_empty() {
        let time = VolumeAttachment(attachment).attach_error().time();
        finding.say(format!(
            "it was never attached, which failed{}: {attaching}",
            csi_errors::ago(time, view)
        ));
    }
}

/// The volume is gone. The attacher reads it before each detach, so every detach fails.
fn add_missing_volume(
    finding: &mut Finding,
    attachment: &Object,
    finalizer: &Finalizer,
    volume: &str,
    view: &View<'_>,
) {
    let node = VolumeAttachment(attachment).node();
    if finding.wait.verdict == Verdict::Failing {
        // Another error may be one that ends. The attacher reports a missing volume with its next try.
        let error = VolumeAttachment(attachment).detach_error();
        let is_recent = error
            .time()
            .is_some_and(|time| timing::is_recent_complaint(time, view.now()));
        let says_so = is_recent && says_not_found(error.message(), volume);
        finding.wait.unable = says_so.then_some(Unable::WithoutObject);
    } else {
        finding.wait.verdict = Verdict::Stalled;
    }
    finding.say(format!(
        "but volume {volume} does not exist any more, and without it nothing is ever detached"
    ));
    finding.evidence.push(Evidence {
        source: format!("PersistentVolume {volume}"),
        value: "does not exist".into(),
        strength: Strength::Proof,
    });
    finding.outlook = vec![Outlook {
        when: Moment::NothingDone,
        then: "it stays for ever".into(),
    }];
    finding.steps = vec![
        Step {
            when: When::Now,
            text: format!(
                "if you have a copy of PersistentVolume {volume}: create it again with policy Retain and the same \
                 spec.csi; the attacher then detaches the disk by itself"
            ),
            command: None,
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        },
        remove_finalizer(
            attachment,
            finalizer,
            When::Now,
            &format!(
                "DATA LOSS if node {node} still runs and writes: otherwise detach the disk at the provider, see that \
                 it is detached, and then take this one finalizer off"
            ),
        ),
    ];
}
