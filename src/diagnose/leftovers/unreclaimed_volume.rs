//! A volume that nobody uses any more and whose disk nobody deletes: it is still there, and billed.
//!
//! **Recognises** a volume that is Released or Failed with policy Delete, not being deleted itself, for longer than
//! deleting a disk takes. **Why:** the claim is gone, and whoever provisioned the disk has to delete it: a CSI
//! provisioner only in phase Released, only if the annotation `pv.kubernetes.io/provisioned-by` names it, and not
//! while an attachment names the volume
//! (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete,
//! `kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume); anything else
//! kube-controller-manager (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go`
//! reclaimVolume). **Wants** its events, and whether the driver is there. **Concludes** `failing` with the driver's
//! words, `waiting` while attached, `orphaned` without the driver, otherwise `stalled`. **Advises** nothing itself:
//! `explain` does.

use jiff::Timestamp;

use crate::{
    diagnose::{
        causes::{
            controller::Controller,
            storage::reclaim_policy::{disk, driver, policy},
        },
        events::{event_time, last_event},
        leftovers::Left,
        model::Verdict,
        timing,
        view::View,
    },
    object::{Age, Finalizer, List},
    snapshot::facts::Object,
};

pub(crate) fn is_due(volume: &Object, now: Timestamp) -> bool {
    let due = since(volume).is_none_or(|since| Age::between(since, now).0.as_secs() >= timing::CLEAN_UP);
    let over = matches!(volume.text("/status/phase"), "Released" | "Failed");
    over && policy(volume) == "Delete" && volume.deletion().is_none() && due
}

/// Since when it is in its phase. Servers before 1.28 do not say; the phase is then no younger than the last write
/// to its status.
pub(crate) fn since(volume: &Object) -> Option<Timestamp> {
    let status = || {
        volume
            .list("/metadata/managedFields")
            .iter()
            .filter(|entry| entry.get("subresource").and_then(|name| name.as_str()) == Some("status"))
            .filter_map(|entry| entry.get("time")?.as_str()?.parse().ok())
            .max()
    };
    volume.time("/status/lastPhaseTransitionTime").or_else(status)
}

pub(crate) fn not_reclaimed(volume: &Object, attached: Option<&[Object]>, view: &View<'_>) -> Left {
    let phase = volume.text("/status/phase");
    let disk = match disk(volume) {
        own if own.starts_with("of ") => "its disk".to_owned(),
        handle => format!("its disk {handle}"),
    };
    let (verdict, says) = why(volume, phase, attached, view);
    Left {
        verdict,
        since: since(volume),
        says: format!("{phase}, and {disk} is not deleted though its policy is Delete: {says}"),
    }
}

fn why(volume: &Object, phase: &str, attached: Option<&[Object]>, view: &View<'_>) -> (Verdict, String) {
    let by_csi = !volume.text("/spec/csi/driver").is_empty();
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
                    first.text("/spec/nodeName")
                ),
            );
        }
        None => unseen.push("whether it is still attached is not known".to_owned()),
    }
    let event = match last_event(volume, &["VolumeFailedDelete"], view) {
        Ok(event) => event,
        Err(missing) => {
            unseen.push(format!("its events are not known: {}", missing.in_words()));
            None
        }
    };
    if let Some(event) = event {
        let ago = event_time(event)
            .map(|time| format!(" {} ago", Age::between(time, view.now())))
            .unwrap_or_default();
        return (
            Verdict::Failing,
            format!("it failed{ago}: {}", event.text("/message")),
        );
    }
    let status = volume.text("/status/message");
    if !status.is_empty() {
        return (Verdict::Failing, format!("it failed: {status}"));
    }
    if by_csi && phase == "Failed" {
        return (
            Verdict::Stalled,
            format!("the provisioner of {driver} never tries again what is Failed"),
        );
    }
    if by_csi && !provisioned {
        return (
            Verdict::Stalled,
            "no provisioner made it (no annotation pv.kubernetes.io/provisioned-by), so none deletes it"
                .into(),
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
        let says = format!("{whose} has not done it, and no event of the last hour says why");
        (Verdict::Stalled, says)
    } else {
        let says = format!("{whose} has not done it; {}", unseen.join("; "));
        (Verdict::Unknown, says)
    }
}

/// By which the catalogue knows who deletes disks, whether this volume carries it or not.
fn provisioner() -> Finalizer {
    Finalizer {
        list: List::Metadata,
        name: "external-provisioner.volume.kubernetes.io/finalizer".into(),
    }
}

#[cfg(test)]
mod tests;
