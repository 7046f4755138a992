//! What happens to the disk of a volume.
//!
//! **Recognises** nothing by itself. **Why:** the reclaim policy decides, but only if a controller reads it before
//! the volume object is removed. A volume that is deleted before its claim vanishes as soon as it is released, unless
//! it has a reclaim finalizer. Its disk is then leaked
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume;
//! `kubernetes/enhancements:keps/sig-storage/2644-honor-pv-reclaim-policy`).

use crate::{
    diagnose::{
        kinds::{PersistentVolume, PersistentVolumeClaim},
        limits,
        model::Fate,
        view::{Missing, View},
    },
    snapshot::{driver::names, facts::Object},
};

/// The attacher removes its finalizer once no `VolumeAttachment` names the volume. It puts it on a volume when it attaches
/// it, and cannot detach a volume that is gone
/// (`kubernetes-csi/external-attacher:pkg/controller/csi_handler.go`).
pub(crate) const ATTACHER: &str = "external-attacher/";

/// The reclaim policy.
pub(crate) fn policy(volume: &Object) -> &str {
    PersistentVolume(volume).reclaim_policy()
}

/// The disk, by its volume handle if it has one.
pub(crate) fn disk(volume: &Object) -> String {
    match PersistentVolume(volume).disk() {
        "" => format!("of {}", volume.name()),
        handle => handle.to_owned(),
    }
}

/// Whether a finalizer keeps the volume until the provisioner has applied the reclaim policy.
pub(crate) fn has_reclaim_finalizer(volume: &Object) -> bool {
    volume
        .finalizers()
        .iter()
        .any(|finalizer| is_reclaim_finalizer(&finalizer.name))
}

/// Whether a provisioner removes this finalizer once it has applied the reclaim policy.
pub(crate) fn is_reclaim_finalizer(name: &str) -> bool {
    matches!(
        name,
        "external-provisioner.volume.kubernetes.io/finalizer" | "kubernetes.io/pv-controller"
    )
}

/// Types of disks that neither Kubernetes nor a CSI driver deletes
/// (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` findDeletablePlugin).
const NEVER_DELETED: [&str; 6] = ["nfs", "local", "iscsi", "fc", "cephfs", "flexVolume"];

/// The type of a disk that nobody deletes, whatever the policy says: a person made the volume, and no controller can delete
/// such a disk. The volume becomes `Failed`.
pub(crate) fn type_without_deleter(volume: &Object) -> Option<&'static str> {
    let made = |by: &str| !volume.annotation(by).is_empty();
    if made("pv.kubernetes.io/provisioned-by") || made("pv.kubernetes.io/migrated-to") {
        return None;
    }
    let volume = PersistentVolume(volume);
    // kube-controller-manager deletes directories only below /tmp/ (pkg/volume/hostpath/host_path.go).
    let is_kept_directory = volume.is_of_type("hostPath") && !volume.host_path().starts_with("/tmp/");
    NEVER_DELETED
        .into_iter()
        .find(|source| volume.is_of_type(source))
        .or(is_kept_directory.then_some("hostPath"))
}

/// Types of disks that kube-controller-manager empties under the deprecated policy `Recycle`
/// (`kubernetes/kubernetes:pkg/volume/nfs/nfs.go` and `pkg/volume/hostpath/host_path.go` Recycle). A volume of another type
/// becomes `Failed`, and its data stay.
const RECYCLED: [&str; 2] = ["nfs", "hostPath"];

/// Whether the policy makes kube-controller-manager delete all files of the volume once it is released.
pub(crate) fn is_emptied(volume: &Object) -> bool {
    policy(volume) == "Recycle"
        && RECYCLED
            .into_iter()
            .any(|source| PersistentVolume(volume).is_of_type(source))
}

/// Whether the policy makes somebody delete the disk once the volume is released.
pub(crate) fn deletes_disk(volume: &Object) -> bool {
    policy(volume) == "Delete" && type_without_deleter(volume).is_none()
}

/// What becomes of the disk when nothing holds the volume any more.
pub(crate) fn disk_fate(volume: &Object) -> Fate {
    if is_leaked(volume) {
        Fate::Leaked
    } else if is_emptied(volume) || deletes_disk(volume) {
        Fate::Destroyed
    } else {
        Fate::Kept
    }
}

/// Whether the disk is leaked: the policy is Delete, the volume was deleted before its claim, and no finalizer makes
/// the provisioner delete the disk.
pub(crate) fn is_leaked(volume: &Object) -> bool {
    deletes_disk(volume) && volume.deletion().is_some() && !has_reclaim_finalizer(volume)
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
    if PersistentVolume(volume).csi_driver().is_empty() {
        return "It is no CSI volume, and nobody provisioned it: nobody adds one".to_owned();
    }
    format!(
        "The csi-provisioner of {} is older than v5.0, or did not run since: newer ones add \
         external-provisioner.volume.kubernetes.io/finalizer",
        PersistentVolume(volume).csi_driver()
    )
}

/// What happens to the disk of a volume that no claim holds.
pub(crate) fn fate_without_claim(volume: &Object) -> String {
    let disk = disk(volume);
    match (policy(volume), PersistentVolume(volume).phase()) {
        ("Delete", _) if !deletes_disk(volume) => fate(volume),
        ("Delete", "Released" | "Bound") if has_reclaim_finalizer(volume) => fate(volume),
        ("Delete", "Released" | "Bound") => format!(
            "its disk {disk} IS LEAKED unless the provisioner deletes it first: no finalizer makes the volume wait for that"
        ),
        _ => format!("only the object goes; nobody deletes the disk {disk}"),
    }
}

/// The disk of a volume, where a label before it says what happens to it.
pub(crate) fn disk_by_policy(volume: &Object) -> String {
    let files = if is_emptied(volume) { "all files on " } else { "" };
    format!(
        "{files}the disk {} (reclaim policy {})",
        disk(volume),
        policy(volume)
    )
}

/// What happens to the disk when nothing holds the volume any more.
pub(crate) fn fate(volume: &Object) -> String {
    let disk = disk(volume);
    if let ("Delete", Some(source)) = (policy(volume), type_without_deleter(volume)) {
        return format!(
            "the disk {disk} stays: a person made the volume, and nothing deletes disks of type {source}, although the \
             reclaim policy is Delete"
        );
    }
    match policy(volume) {
        "Delete" if is_leaked(volume) => format!(
            "the volume object goes, and the disk {disk} IS LEAKED: the volume was deleted first. No finalizer makes \
             the provisioner delete the disk. {}",
            why_no_reclaim_finalizer(volume)
        ),
        "Delete" => format!("the disk {disk} IS DESTROYED (reclaim policy Delete)"),
        policy if is_emptied(volume) => {
            format!("the disk {disk} stays, and ALL FILES ON IT ARE DELETED (reclaim policy {policy})")
        }
        policy => format!("the disk {disk} stays (reclaim policy {policy})"),
    }
}

/// The volumes of these claims, as far as they exist.
pub(crate) fn volumes_of<'a, 'b>(
    claims: impl IntoIterator<Item = &'b Object>,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    let names: Vec<_> = claims
        .into_iter()
        .map(|claim| PersistentVolumeClaim(claim).volume())
        .filter(|name| !name.is_empty())
        .collect();
    if names.len() > limits::VOLUMES_ONE_BY_ONE {
        let all = view.list("", "persistentvolumes", "")?;
        return Ok(all
            .iter()
            .filter(|volume| names.contains(&volume.name()))
            .collect());
    }
    // All queries are made before the first answer is used.
    let asked: Vec<_> = names
        .iter()
        .map(|name| view.object("", "persistentvolumes", "", name))
        .collect();
    let found: Result<Vec<_>, _> = asked.into_iter().collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The name of the driver or provisioner that handles the volume.
pub(crate) fn driver(volume: &Object) -> String {
    provisioner(volume).unwrap_or("an unknown driver").to_owned()
}

/// The driver or provisioner that handles the volume, if the volume names one.
pub(crate) fn provisioner(volume: &Object) -> Option<&str> {
    names(&volume.value).next()
}

/// A finalizer of a volume that neither Kubernetes, nor the provisioner, nor the attacher removes.
pub(crate) fn other_finalizer(volume: &Object) -> Option<String> {
    let mut names = volume.finalizers().into_iter().map(|one| one.name);
    names.find(|name| {
        name != "kubernetes.io/pv-protection" && !is_reclaim_finalizer(name) && !name.starts_with(ATTACHER)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::testing::world::bare;

    fn released(source: &str, spec: &Value, policy: &str) -> Object {
        let value = json!({"metadata": {"name": "v"}, "status": {"phase": "Released"},
            "spec": {source: spec, "persistentVolumeReclaimPolicy": policy}});
        bare("", "persistentvolumes", "PersistentVolume", value)
    }

    #[test]
    fn the_policy_recycle_empties_only_what_kubernetes_can_recycle() {
        let csi = json!({"driver": "d.example.com", "volumeHandle": "disk-1"});
        let nfs = json!({"server": "s", "path": "/"});
        for (source, spec, policy, expected) in [
            ("nfs", &nfs, "Recycle", Fate::Destroyed),
            ("nfs", &nfs, "Delete", Fate::Kept),
            ("csi", &csi, "Recycle", Fate::Kept),
            ("csi", &csi, "Retain", Fate::Kept),
        ] {
            let volume = released(source, spec, policy);
            assert_eq!(disk_fate(&volume), expected, "{source} {policy}");
            let says = fate(&volume);
            assert_eq!(
                says.contains("ALL FILES ON IT ARE DELETED"),
                expected == Fate::Destroyed,
                "{says}"
            );
        }
    }
}
