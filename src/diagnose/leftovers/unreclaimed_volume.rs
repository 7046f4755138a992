//! A released volume whose disk no controller deletes: the disk still exists and costs money.
//!
//! # Symptom
//!
//! `kubectl get pv` shows `Released` or `Failed` with policy `Delete` for hours. Nothing is being deleted, and the bill
//! has disks that nobody uses. `scan` lists it below LEFT BEHIND.
//!
//! ```text
//! $ kubectl get pv
//! NAME           CAPACITY   RECLAIM POLICY   STATUS   CLAIM      STORAGECLASS   AGE
//! pvc-released   10Gi       Delete           Failed   shop/old   gp3            13d
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-released --from tests/causes/leftovers.yaml
//! ```
//!
//! # Why
//!
//! The claim is gone, and the provisioner of the disk has to delete it. A CSI provisioner deletes a disk only in phase
//! `Released`, and only if no attachment names the volume. The annotation `pv.kubernetes.io/provisioned-by` or the CSI
//! driver of the volume must name it; before v3.5 only the annotation counted. Nothing deletes disks of volumes that a
//! person made of type NFS, local, iSCSI, FC, CephFS or FlexVolume.
//!
//! # Before you act
//!
//! Find out whether anybody needs the data: this may be the last copy.
//!
//! # If it was a mistake
//!
//! Set the volume to `Retain`: `kubectl finalizers rescue pv/NAME --only-retain`. A new claim can then get it.
//!
//! # If it was intended
//!
//! Let `explain` say what keeps the provisioner from it, and repair that. The disk is then deleted.
//!
//! # Do not
//!
//! Do not delete the volume object alone. The disk may stay, and nothing points to it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the driver reports an error, which is quoted |
//! | waiting | the volume is attached |
//! | orphaned | the driver is gone |
//! | stalled | otherwise |
//!
//! # What it reads
//!
//! The events of the volume, and whether the driver is installed.
//!
//! # Sources
//!
//! - `kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete
//! - `kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume

use jiff::Timestamp;

use crate::{
    diagnose::{
        causes::controller::Controller,
        events::last_event,
        kinds::{ManagedFields, PersistentVolume, VolumeAttachment},
        leftovers::Leftover,
        model::Verdict,
        reclaim_policy::{disk, driver, policy, type_without_deleter},
        timing,
        view::View,
    },
    object::{Age, Finalizer, List},
    snapshot::facts::Object,
};

pub(crate) fn is_due(volume: &Object, now: Timestamp) -> bool {
    let due = since(volume).is_none_or(|since| Age::between(since, now).0.as_secs() >= timing::CLEAN_UP);
    let over = matches!(PersistentVolume(volume).phase(), "Released" | "Failed");
    over && policy(volume) == "Delete" && volume.deletion().is_none() && due
}

/// The time since when the volume is in its phase. Servers before 1.28 do not report it. The phase is then at
/// least as old as the last write to the status.
pub(crate) fn since(volume: &Object) -> Option<Timestamp> {
    let status = || {
        ManagedFields::all(volume)
            .filter(|entry| entry.is_of_status())
            .filter_map(ManagedFields::time)
            .max()
    };
    PersistentVolume(volume).in_phase_since().or_else(status)
}

pub(crate) fn leftover_volume(volume: &Object, attached: Option<&[Object]>, view: &View<'_>) -> Leftover {
    let phase = PersistentVolume(volume).phase();
    let disk = match disk(volume) {
        own if own.starts_with("of ") => "its disk".to_owned(),
        handle => format!("its disk {handle}"),
    };
    let (verdict, says) = why(volume, phase, attached, view);
    Leftover {
        verdict,
        since: since(volume),
        says: vec![format!(
            "{phase}, and {disk} is not deleted though its policy is Delete: {says}"
        )],
    }
}

fn why(volume: &Object, phase: &str, attached: Option<&[Object]>, view: &View<'_>) -> (Verdict, String) {
    let by_csi = !PersistentVolume(volume).csi_driver().is_empty();
    let provisioned = !volume.annotation("pv.kubernetes.io/provisioned-by").is_empty();
    let driver = driver(volume);
    let mut unseen = Vec::new();
    match attached {
        Some([]) => {}
        Some([first, rest @ ..]) => {
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(", and {} more", rest.len())
            };
            return (
                Verdict::Waiting,
                format!(
                    "VolumeAttachment {} says that it is still attached to node {}{more}",
                    first.name(),
                    VolumeAttachment(first).node()
                ),
            );
        }
        None => unseen.push("whether it is still attached is not known".to_owned()),
    }
    if let Some(source) = type_without_deleter(volume) {
        let says = format!("a person made the volume, and nothing deletes disks of type {source}");
        return (Verdict::Stalled, says);
    }
    let event = match last_event(volume, &["VolumeFailedDelete"], view) {
        Ok(event) => event,
        Err(missing) => {
            unseen.push(format!("its events are not known: {}", missing.in_words()));
            None
        }
    };
    if let Some(event) = event {
        let ago = event
            .last_time()
            .map(|time| format!(" {} ago", Age::between(time, view.now())))
            .unwrap_or_default();
        return (Verdict::Failing, format!("it failed{ago}: {}", event.message()));
    }
    let status = PersistentVolume(volume).message();
    if !status.is_empty() {
        return (Verdict::Failing, format!("it failed: {status}"));
    }
    if by_csi && phase == "Failed" {
        return (
            Verdict::Stalled,
            format!("the provisioner of {driver} never tries again what is Failed"),
        );
    }
    if by_csi && unseen.is_empty() && Controller::sidecar(volume, &provisioner(), &driver, view).is_gone() {
        return (
            Verdict::Orphaned,
            format!("driver {driver} is not installed any more"),
        );
    }
    let whose = if provisioned || by_csi {
        format!("the provisioner of {driver}")
    } else {
        "kube-controller-manager (persistentvolume-binder)".to_owned()
    };
    if unseen.is_empty() {
        let why = if by_csi && !provisioned {
            "a person made the volume, and releases of csi-provisioner before v3.5 delete only disks that they made"
        } else {
            "no event of the last hour says why"
        };
        (Verdict::Stalled, format!("{whose} has not done it, and {why}"))
    } else {
        let says = format!("{whose} has not done it; {}", unseen.join("; "));
        (Verdict::Unknown, says)
    }
}

/// The finalizer by which the catalogue knows the controller that deletes disks. The volume need not have it.
fn provisioner() -> Finalizer {
    Finalizer {
        list: List::Metadata,
        name: "external-provisioner.volume.kubernetes.io/finalizer".into(),
    }
}

#[cfg(test)]
mod tests;
