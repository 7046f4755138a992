//! What the rules of claims and volumes share: what becomes of the disk behind a volume.
//!
//! **Recognises** nothing by itself. **Why:** the reclaim policy decides, and only if somebody looks at it before the
//! volume object goes: a volume that is deleted before its claim and has no reclaim finalizer vanishes in the moment
//! it is released, and its disk is leaked
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume;
//! `kubernetes/enhancements:keps/sig-storage/2644-honor-pv-reclaim-policy`).

use crate::snapshot::facts::Object;

/// The command that keeps the disk.
pub(crate) fn retain(volume: &Object) -> String {
    retain_all(volume.name())
}

/// The same for volumes with these names.
pub(crate) fn retain_all(names: &str) -> String {
    format!("kubectl patch pv {names} -p '{{\"spec\":{{\"persistentVolumeReclaimPolicy\":\"Retain\"}}}}'")
}

pub(crate) fn policy(volume: &Object) -> &str {
    volume.text("/spec/persistentVolumeReclaimPolicy")
}

pub(crate) fn disk(volume: &Object) -> String {
    match volume.text("/spec/csi/volumeHandle") {
        "" => format!("of {}", volume.name()),
        handle => handle.to_owned(),
    }
}

/// Whether a finalizer keeps the volume until its policy has been honoured.
pub(crate) fn is_reclaimed(volume: &Object) -> bool {
    volume.finalizers().iter().any(|finalizer| {
        matches!(
            finalizer.name.as_str(),
            "external-provisioner.volume.kubernetes.io/finalizer" | "kubernetes.io/pv-controller"
        )
    })
}

/// Whether the disk stays behind unseen: policy Delete, and the volume deleted before its claim without a finalizer
/// that makes anybody delete the disk.
pub(crate) fn leaks(volume: &Object) -> bool {
    policy(volume) == "Delete" && volume.deletion().is_some() && !is_reclaimed(volume)
}

/// Why a volume with policy Delete has no finalizer that makes anybody delete its disk. None can be added any more when
/// it is being deleted.
pub(crate) fn why_unprotected(volume: &Object) -> String {
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

/// What becomes of the disk of a volume that no claim holds.
pub(crate) fn free_fate(volume: &Object) -> String {
    let disk = disk(volume);
    match (policy(volume), volume.text("/status/phase")) {
        ("Delete", "Released" | "Bound") if is_reclaimed(volume) => fate(volume),
        ("Delete", "Released" | "Bound") => format!(
            "its disk {disk} IS LEAKED unless the provisioner deletes it first: no finalizer makes the volume wait for that"
        ),
        _ => format!("only the object goes; nobody deletes the disk {disk}"),
    }
}

/// What becomes of the disk once nothing holds the volume any more.
pub(crate) fn fate(volume: &Object) -> String {
    let disk = disk(volume);
    match policy(volume) {
        "Delete" if leaks(volume) => format!(
            "the volume object goes, and the disk {disk} IS LEAKED: the volume was deleted first, and no finalizer \
             makes the provisioner delete it. {}",
            why_unprotected(volume)
        ),
        "Delete" => format!("the disk {disk} IS DESTROYED (reclaim policy Delete)"),
        policy => format!("the disk {disk} stays (reclaim policy {policy})"),
    }
}
