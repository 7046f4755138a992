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

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            storage::{
                csi_holder::Holder,
                pv_disk_deletion::released,
                pv_protection::claim_name,
                reclaim_policy::{disk, fate, policy, retain},
            },
            verdicts,
        },
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::{driver::names, facts::Object},
};

pub(crate) const BY_PROVISIONER: Cause = Cause {
    group: "",
    plural: "persistentvolumes",
    finalizer: "external-provisioner.volume.kubernetes.io/finalizer",
    explain: by_provisioner,
};

pub(crate) const IN_TREE: Cause = Cause {
    group: "",
    plural: "persistentvolumes",
    finalizer: "kubernetes.io/pv-controller",
    explain: in_tree,
};

/// The finalizer of the CSI provisioner.
fn by_provisioner(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
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
    not_reclaimed_yet(volume, finalizer, &holder, &says, false, view)
}

/// The finalizer of the volume controller itself, for drivers that are part of Kubernetes.
fn in_tree(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(volume, finalizer, None, view);
    let says = format!(
        "removed by kube-controller-manager (persistentvolume-binder){}, ",
        holder.alive()
    );
    not_reclaimed_yet(volume, finalizer, &holder, &says, true, view)
}

fn not_reclaimed_yet(
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
                verdicts::nothing_blocks(volume, view),
                format!(
                    "{says}at once: the policy is {}, and the disk stays",
                    policy(volume)
                ),
            );
            if finding.wait.verdict == Verdict::Stalled {
                finding.steps.push(advice::nudge(volume));
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
        if volume.deletion().is_some() {
            finding.outlook.push(Outlook {
                when: "when the claim goes".into(),
                then: fate(volume),
            });
        }
    }
    finding
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

pub(crate) fn keep_disk(volume: &Object) -> Step {
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

/// Which provisioner acts on it.
pub(crate) fn driver(volume: &Object) -> String {
    names(&volume.value)
        .next()
        .unwrap_or("an unknown driver")
        .to_owned()
}
