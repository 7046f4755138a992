//! `external-provisioner.volume.kubernetes.io/finalizer` and `kubernetes.io/pv-controller`: a volume whose disk is not
//! deleted yet.
//!
//! # Symptom
//!
//! A PersistentVolume in deletion has one of these finalizers. Its status is `Bound`, `Released` or `Failed`.
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-6791fdd4-2c1e-4f0a-9b77-1d3f5a2f8e10 --from tests/suite/explain/world.yaml
//! ```
//!
//! # Why
//!
//! The provisioner must delete the disk first. With policy `Delete`, it does so only in phase `Released`, and while no
//! attachment names the volume. With policy `Retain` it removes the finalizer at once, in any phase. A CSI provisioner
//! never reclaims a volume that is `Failed` or `Available`. The in-tree controller tries a volume that is `Failed`
//! again.
//!
//! # Before you act
//!
//! The finalizer stands for a disk that costs money and may hold data. Check the reclaim policy and the phase, and
//! whether the driver is still installed.
//!
//! # If it was a mistake
//!
//! `kubectl finalizers rescue pv/NAME --only-retain` sets the policy to `Retain`. The object then goes and the disk
//! stays. Note the name of the disk first.
//!
//! # If it was intended
//!
//! Repair or reinstall the driver. It then deletes the disk and removes the finalizer.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The disk stays at the provider, and nothing in the cluster points to it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the driver reports an error |
//! | waiting | the volume is attached or still `Bound` |
//! | stalled | the phase is one in which the volume is never reclaimed, or the provisioner does not act |
//! | orphaned | the driver is not installed any more |
//! | unknown | attachments or events could not be read |
//!
//! # What it reads
//!
//! The attachments, the events about the volume, and whether the driver is installed (CSIDriver, CSINodes, workloads).
//!
//! # Sources
//!
//! - `kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete
//! - `kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            storage::{pv_disk_deletion::released, pv_protection::claim_name},
            verdicts,
        },
        complaint::shortened,
        kinds::PersistentVolume,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Said, Strength, Verdict},
        reclaim_policy::{disk, driver, fate, policy},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const BY_PROVISIONER: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumes")],
    finalizer: On::Named("external-provisioner.volume.kubernetes.io/finalizer"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(disk_not_deleted_by_provisioner),
};

pub(crate) const IN_TREE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumes")],
    finalizer: On::Named("kubernetes.io/pv-controller"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(disk_not_deleted_in_tree),
};

/// Answers for the finalizer of a CSI provisioner.
fn disk_not_deleted_by_provisioner(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = driver(volume);
    // Other provisioners use the same library and finalizer, but have no CSIDriver object.
    let is_csi = [
        PersistentVolume(volume).csi_driver(),
        volume.annotation("pv.kubernetes.io/migrated-to"),
    ]
    .contains(&driver.as_str());
    let controller = if is_csi {
        Controller::sidecar(volume, finalizer, &driver, view)
    } else {
        Controller::of(volume, finalizer, Some(&driver), view)
    };
    let says = controller.removes(format!("the provisioner of {driver}"));
    disk_not_deleted(volume, finalizer, &controller, says, false, view)
}

/// Answers for the finalizer of the volume controller, which handles in-tree drivers.
fn disk_not_deleted_in_tree(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(volume, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager")
        .part("persistentvolume-binder");
    disk_not_deleted(volume, finalizer, &controller, says, true, view)
}

/// Explains why the disk still exists, by policy and phase.
fn disk_not_deleted(
    volume: &Object,
    finalizer: &Finalizer,
    controller: &Controller,
    says: Said,
    in_tree: bool,
    view: &View<'_>,
) -> Finding {
    let leak = "LEAKED INFRASTRUCTURE: take this one finalizer off. Write down the name of the disk first";
    let mut finding = match (policy(volume), PersistentVolume(volume).phase()) {
        ("Retain" | "Recycle", _) => {
            let mut finding = Finding::new(
                Some(finalizer.clone()),
                verdicts::nothing_blocks(volume, view),
                says.now(format!(
                    "the policy is {}, so it goes at once, and the disk stays",
                    policy(volume)
                )),
            );
            if finding.wait.verdict == Verdict::Stalled {
                finding.steps.push(advice::nudge(volume));
            }
            controller.add_if_gone_or_late(&mut finding, volume, leak);
            finding
        }
        (_, "Released") => released(volume, finalizer, controller, says, leak, view),
        (_, "Failed") if in_tree => released(volume, finalizer, controller, says, leak, view),
        (_, "Bound") => still_bound(volume, finalizer, says),
        (_, phase) => never_reclaimed(volume, finalizer, says, phase),
    };
    controller.add_evidence(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand: the disk {} stays at the provider with nothing that points to it",
        finalizer.name,
        disk(volume)
    ));
    finding
}

/// The volume is Bound. The answer for pv-protection names the claim; without that finalizer this one does.
fn still_bound(volume: &Object, finalizer: &Finalizer, says: Said) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        says.once("the disk has been deleted")
            .now("it only acts once the volume is Released, and it is Bound"),
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
                when: Moment::ClaimGoes,
                then: fate(volume),
            });
        }
    }
    finding
}

/// Policy Delete, in a phase that the provisioner never reclaims: the volume stays for ever.
fn never_reclaimed(volume: &Object, finalizer: &Finalizer, says: Said, phase: &str) -> Finding {
    let shown = if phase.is_empty() { "in no phase" } else { phase };
    // A volume that was made by hand has no plugin that deletes it, as its message says.
    let message = PersistentVolume(volume).message();
    let why = if message.is_empty() {
        String::new()
    } else {
        format!(": {}", shortened(message))
    };
    let says = says.once("the disk has been deleted").now(format!(
        "it never deletes the disk of a volume that is {shown}{why}"
    ));
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
            Moment::NothingDone
        } else {
            Moment::DeletedNow
        },
        then: "it stays for ever".into(),
    });
    finding
}
