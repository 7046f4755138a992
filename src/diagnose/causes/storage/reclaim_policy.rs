//! What happens to the disk of a volume.
//!
//! **Recognises** nothing by itself. **Why:** the reclaim policy decides, but only if a controller reads it before
//! the volume object is removed. A volume that is deleted before its claim vanishes as soon as it is released, unless
//! it has a reclaim finalizer. Its disk is then leaked
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume;
//! `kubernetes/enhancements:keps/sig-storage/2644-honor-pv-reclaim-policy`).

use crate::{
    command::Command,
    diagnose::model::{Safety, Step},
    snapshot::{driver::names, facts::Object},
};

/// The command that sets policy Retain, which keeps the disk.
pub(crate) fn retain_command<'a>(volumes: impl IntoIterator<Item = &'a Object>) -> Command {
    let patch = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    Command::of("kubectl patch pv -p {}", [patch]).arguments(volumes.into_iter().map(Object::name))
}

/// The reclaim policy.
pub(crate) fn policy(volume: &Object) -> &str {
    volume.text("/spec/persistentVolumeReclaimPolicy")
}

/// The disk, by its volume handle if it has one.
pub(crate) fn disk(volume: &Object) -> String {
    match volume.text("/spec/csi/volumeHandle") {
        "" => format!("of {}", volume.name()),
        handle => handle.to_owned(),
    }
}

/// Whether a finalizer keeps the volume until the provisioner has applied the reclaim policy.
pub(crate) fn has_reclaim_finalizer(volume: &Object) -> bool {
    volume.finalizers().iter().any(|finalizer| {
        matches!(
            finalizer.name.as_str(),
            "external-provisioner.volume.kubernetes.io/finalizer" | "kubernetes.io/pv-controller"
        )
    })
}

/// Whether the disk is leaked: the policy is Delete, the volume was deleted before its claim, and no finalizer makes
/// the provisioner delete the disk.
pub(crate) fn is_leaked(volume: &Object) -> bool {
    policy(volume) == "Delete" && volume.deletion().is_some() && !has_reclaim_finalizer(volume)
}

/// Why a volume with policy Delete has no reclaim finalizer. The API server accepts no new finalizer on an object
/// that is being deleted.
pub(crate) fn why_no_reclaim_finalizer(volume: &Object) -> String {
    let provisioned = volume.annotation("pv.kubernetes.io/provisioned-by");
    if provisioned.starts_with("kubernetes.io/") {
        return format!(
            "Kubernetes adds kubernetes.io/pv-controller to volumes of {provisioned} from 1.31 on (HonorPVReclaimPolicy)"
        );
    }
    if volume.text("/spec/csi/driver").is_empty() {
        return "It is no CSI volume, and nobody provisioned it: nobody adds one".to_owned();
    }
    format!(
        "The csi-provisioner of {} adds external-provisioner.volume.kubernetes.io/finalizer while a volume is Bound, from \
         v5.0 on (HonorPVReclaimPolicy): it is older, or did not run since",
        volume.text("/spec/csi/driver")
    )
}

/// What happens to the disk of a volume that no claim holds.
pub(crate) fn fate_without_claim(volume: &Object) -> String {
    let disk = disk(volume);
    match (policy(volume), volume.text("/status/phase")) {
        ("Delete", "Released" | "Bound") if has_reclaim_finalizer(volume) => fate(volume),
        ("Delete", "Released" | "Bound") => format!(
            "its disk {disk} IS LEAKED unless the provisioner deletes it first: no finalizer makes the volume wait for that"
        ),
        _ => format!("only the object goes; nobody deletes the disk {disk}"),
    }
}

/// What happens to the disk when nothing holds the volume any more.
pub(crate) fn fate(volume: &Object) -> String {
    let disk = disk(volume);
    match policy(volume) {
        "Delete" if is_leaked(volume) => format!(
            "the volume object goes, and the disk {disk} IS LEAKED: the volume was deleted first, and no finalizer \
             makes the provisioner delete it. {}",
            why_no_reclaim_finalizer(volume)
        ),
        "Delete" => format!("the disk {disk} IS DESTROYED (reclaim policy Delete)"),
        policy => format!("the disk {disk} stays (reclaim policy {policy})"),
    }
}

/// The step that keeps the disk.
pub(crate) fn keep_disk_step(volume: &Object) -> Step {
    Step {
        when: "keep the disk?",
        text: format!(
            "set policy Retain: the provisioner then lets go, and the disk {} stays at the provider. Write down its \
             name; the volume object goes if it is being deleted",
            disk(volume)
        ),
        command: Some(retain_command([volume])),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    }
}

/// The name of the driver or provisioner that handles the volume.
pub(crate) fn driver(volume: &Object) -> String {
    names(&volume.value)
        .next()
        .unwrap_or("an unknown driver")
        .to_owned()
}
