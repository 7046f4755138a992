//! `external-provisioner.volume.kubernetes.io/finalizer` and `kubernetes.io/pv-controller`: a volume stays until
//! its disk is deleted.
//!
//! **Recognises** either finalizer on a volume. **Why:** the provisioner deletes the disk only in phase Released with
//! policy Delete while no attachment names the volume, and lets go at once with policy Retain, in any phase; Failed
//! and Available are never reclaimed (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go`
//! shouldDelete, `kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume). In-tree, Failed
//! is tried again
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume). **Wants** the
//! attachments, events about the volume, and whether the driver is there. **Concludes** `failing` with the driver's
//! words; `waiting` while attached or Bound; `stalled`, for ever, in a phase that is never reclaimed; `orphaned`
//! without the driver. **Advises** to repair or reinstall the driver, or Retain, which keeps the disk; to take the
//! finalizer off only with what that leaks in front.

use super::{
    attachment,
    storage::{Holder, event_time, last_event},
    volume::{claim_name, disk, fate, policy, retain},
};
use crate::{
    diagnose::{
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// The finalizer of the CSI provisioner.
pub(super) fn by_provisioner(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = driver(volume);
    // Other provisioners use the same library and finalizer, and have no CSIDriver to be missed.
    let is_csi = [
        volume.text("/spec/csi/driver"),
        volume.annotation("pv.kubernetes.io/migrated-to"),
    ]
    .contains(&driver.as_str());
    let holder = if is_csi {
        Holder::sidecar(volume, finalizer, &driver, view)
    } else {
        Holder::of(volume, finalizer, Some(&driver), view)
    };
    let says = format!("removed by the provisioner of {driver}{}, ", holder.alive());
    look(volume, finalizer, &holder, &says, false, view)
}

/// The finalizer of the volume controller itself, for drivers that are part of Kubernetes.
pub(super) fn in_tree(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(volume, finalizer, None, view);
    let says = format!(
        "removed by kube-controller-manager (persistentvolume-binder){}, ",
        holder.alive()
    );
    look(volume, finalizer, &holder, &says, true, view)
}

fn look(
    volume: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    says: &str,
    in_tree: bool,
    view: &View<'_>,
) -> Finding {
    let disk = disk(volume);
    let leak = format!(
        "LEAKED INFRASTRUCTURE: take this one finalizer off; the disk {disk} stays at the provider with nothing that \
         points to it. Write down its name first, and set policy Retain, so that nobody deletes it later by surprise"
    );
    let mut finding = match (policy(volume), volume.text("/status/phase")) {
        ("Retain" | "Recycle", _) => {
            let mut finding = Finding::new(
                Some(finalizer.clone()),
                super::nothing_blocks(volume, view),
                format!(
                    "{says}at once: the policy is {}, and the disk stays",
                    policy(volume)
                ),
            );
            if finding.wait.verdict == Verdict::Stalled {
                finding.steps.push(super::nudge(volume));
            }
            holder.or_gone(&mut finding, volume, &leak);
            finding
        }
        (_, "Released") => released(volume, finalizer, holder, says, &leak, view),
        (_, "Failed") if in_tree => released(volume, finalizer, holder, says, &leak, view),
        (_, "Bound") => bound(volume, finalizer, says),
        (_, phase) => deadlock(volume, finalizer, says, phase),
    };
    holder.testify(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand: the disk {disk} stays at the provider with nothing that points to it",
        finalizer.name
    ));
    finding
}

/// The claim is pv-protection's to tell; without that finalizer it is told here.
fn bound(volume: &Object, finalizer: &Finalizer, says: &str) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        format!(
            "{says}after the disk has been deleted; it only acts once the volume is Released, and it is Bound"
        ),
    );
    let protected = volume
        .finalizers()
        .iter()
        .any(|other| other.name == "kubernetes.io/pv-protection");
    if !protected {
        finding.wait.on.push(Blocker::new(
            None,
            format!("claim {} holds the volume", claim_name(volume)),
        ));
        finding.outlook.push(Outlook {
            when: "when the claim goes".into(),
            then: fate(volume),
        });
    }
    finding
}

/// Released, policy Delete: the provisioner's turn. What keeps it is an attachment, or what its events say.
fn released(
    volume: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    says: &str,
    leak: &str,
    view: &View<'_>,
) -> Finding {
    let says = format!("{says}after the disk {} has been deleted", disk(volume));
    let mut finding = Finding::new(Some(finalizer.clone()), super::nothing_blocks(volume, view), says);
    finding.outlook.push(Outlook {
        when: "when it succeeds".into(),
        then: fate(volume),
    });
    let mut unseen = Vec::new();
    match attachment::of_volume(volume.name(), view) {
        Ok(attachments) => {
            finding.wait.on = attachments
                .iter()
                .map(|attachment| attachment::blocker(attachment, view))
                .collect();
            for attachment in attachments.iter().filter(|one| one.deletion().is_some()) {
                finding.steps.push(attachment::look_at(attachment));
            }
        }
        Err(missing) => unseen.push(format!(
            "whether it is still attached is not known: {}",
            missing.in_words()
        )),
    }
    let failure = last_event(volume, &["VolumeFailedDelete"], view);
    let status = volume.text("/status/message");
    match failure {
        Ok(Some(event)) if !finding.wait.on.is_empty() || is_attached(event) => {
            quote(&mut finding, volume, event, view);
            finding.wait.verdict = Verdict::Waiting;
        }
        _ if !finding.wait.on.is_empty() => finding.wait.verdict = Verdict::Waiting,
        Ok(Some(event)) => failing(&mut finding, volume, event, view),
        Ok(None) if !status.is_empty() => {
            finding.wait.verdict = Verdict::Failing;
            finding.say(format!("; it failed: {status}"));
        }
        Ok(None) => {}
        Err(missing) => unseen.push(format!("whether it fails is not known: {}", missing.in_words())),
    }
    if matches!(finding.wait.verdict, Verdict::Stalled | Verdict::Waiting) && finding.wait.on.is_empty() {
        if unseen.is_empty() {
            quiet(&mut finding, volume);
        } else {
            finding.wait.verdict = Verdict::Unknown;
        }
    }
    for gap in unseen {
        finding.say(format!("; {gap}"));
    }
    // An event is a sign of life of the last hour.
    if finding.wait.on.is_empty() && finding.wait.verdict != Verdict::Failing {
        holder.or_gone(&mut finding, volume, leak);
    }
    finding.steps.push(keep_disk(volume));
    finding
}

/// Whether it complains of an attachment: the driver was not even asked then
/// (`kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume).
fn is_attached(event: &Object) -> bool {
    event.text("/message").contains("is still attached to node")
}

fn quote(finding: &mut Finding, volume: &Object, event: &Object, view: &View<'_>) {
    let message = event.text("/message");
    let ago = event_time(event)
        .map(|time| format!(" {} ago", Age::between(time, view.now())))
        .unwrap_or_default();
    finding.say(format!("; it failed{ago}: {message}"));
    finding.evidence.push(Evidence {
        source: format!("Event VolumeFailedDelete on PersistentVolume {}", volume.name()),
        value: message.to_owned(),
        strength: Strength::Strong,
    });
}

fn failing(finding: &mut Finding, volume: &Object, event: &Object, view: &View<'_>) {
    quote(finding, volume, event, view);
    finding.wait.verdict = Verdict::Failing;
    finding.steps.push(Step {
        text: format!(
            "repair what the driver complains of: \"{}\". It tries again by itself; touching the volume makes it look at \
             once",
            event.text("/message")
        ),
        ..super::nudge(volume)
    });
}

/// Nothing is attached and nothing is said: events are kept for an hour only.
fn quiet(finding: &mut Finding, volume: &Object) {
    if finding.wait.verdict != Verdict::Stalled {
        return;
    }
    finding.say("; nothing is attached, and no event of the last hour says that it fails");
    if let (Some(released), Some(deletion)) =
        (volume.time("/status/lastPhaseTransitionTime"), volume.deletion())
        && released < deletion.timestamp
    {
        finding.evidence.push(Evidence {
            source: format!(
                "PersistentVolume {} status.lastPhaseTransitionTime, metadata.deletionTimestamp",
                volume.name()
            ),
            value: "released first, deleted after it: if no person deleted it, the provisioner did, and it does so only \
                    after the disk is gone"
                .into(),
            strength: Strength::Hint,
        });
    }
    finding.steps.push(super::nudge(volume));
    finding.steps.push(Step {
        when: "what to do",
        text: "if that does not help, read the log of the csi-provisioner container beside the driver's controller: it \
               may lack the right to patch persistentvolumes, or the driver may not answer"
            .into(),
        command: None,
        safety: Safety::Safe,
    });
}

/// Policy Delete in a phase that the provisioner never reclaims: it waits for ever.
fn deadlock(volume: &Object, finalizer: &Finalizer, says: &str, phase: &str) -> Finding {
    let shown = if phase.is_empty() { "in no phase" } else { phase };
    let says = format!(
        "{says}after the disk has been deleted; but it never deletes one of a volume that is {shown}"
    );
    let verdict = if volume.deletion().is_some() {
        Verdict::Stalled
    } else {
        Verdict::Waiting
    };
    let mut finding = Finding::new(Some(finalizer.clone()), verdict, says);
    finding.evidence.push(Evidence {
        source: format!(
            "PersistentVolume {} status.phase, spec.persistentVolumeReclaimPolicy",
            volume.name()
        ),
        value: format!("{shown}, Delete"),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: if volume.deletion().is_some() {
            "if nothing is done".into()
        } else {
            "if it is deleted now".into()
        },
        then: "it stays for ever".into(),
    });
    finding.steps.push(keep_disk(volume));
    finding
}

fn keep_disk(volume: &Object) -> Step {
    Step {
        when: "keep the disk?",
        text: format!(
            "set policy Retain: the provisioner then lets go, and the disk {} stays at the provider. Write down its \
             name; the volume object goes if it is being deleted",
            disk(volume)
        ),
        command: Some(retain(volume)),
        safety: Safety::Reversible,
    }
}

/// Which provisioner acts on it (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go`).
pub(super) fn driver(volume: &Object) -> String {
    let migrated = volume.annotation("pv.kubernetes.io/migrated-to");
    let provisioned = volume.annotation("pv.kubernetes.io/provisioned-by");
    let first = [migrated, provisioned, volume.text("/spec/csi/driver")]
        .into_iter()
        .find(|name| !name.is_empty());
    first.unwrap_or("an unknown driver").to_owned()
}
