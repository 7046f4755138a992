//! A CSIDriver object that is to be deleted while the driver's volumes are in use.
//!
//! # Symptom
//!
//! You are about to delete a CSIDriver, or to uninstall a driver. Afterwards pods hang in `ContainerCreating` with
//! `FailedMount` or `driver name … not found in the list of registered CSI drivers`.
//!
//! ```text
//! $ kubectl finalizers explain csidriver/ebs.csi.aws.com --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! Nothing holds a CSIDriver. Without it a kubelet assumes that the driver needs attachments. It does not tell the
//! driver the pod, and requests no tokens. It applies another rule for the group of a volume's files, refreshes
//! nothing, and refuses the driver's inline volumes.
//!
//! # Before you act
//!
//! List the volumes of the driver and the pods that use them.
//!
//! # If it was a mistake
//!
//! Apply the saved object again. What is mounted stays mounted meanwhile.
//!
//! # If it was intended
//!
//! Save the object, delete the driver's volumes first, then the driver.
//!
//! # Do not
//!
//! Do not uninstall a driver while its volumes exist. Nobody then detaches or deletes their disks.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | broken | new mounts would lack what the object says |
//! | unknown | volumes, attachments or workloads could not be listed |
//!
//! # What it reads
//!
//! All volumes and attachments, and all workloads and pods if the driver takes inline volumes.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/volume/csi/csi_plugin.go` skipAttach, podInfoEnabled, supportsVolumeLifecycleMode,
//!   RequiresRemount
//! - `kubernetes/kubernetes:pkg/volume/csi/csi_mounter.go` getFSGroupPolicy

use crate::{
    command::Command,
    diagnose::{
        causes::storage::volume_attachments,
        impact::{Impact, ephemeral_volumes, references, storage_quantity},
        kinds::{CsiDriver, PersistentVolume, Volume},
        model::{Fate, Safety},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_driver(driver: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = driver.name();
    // Queried together, so that they are read together.
    let volumes = view.list("", "persistentvolumes", "");
    let attachments = volume_attachments::by_driver(name, view);
    let lacks = lacks(CsiDriver(driver));
    let is_refreshed = CsiDriver(driver).refreshes_mounts();
    let mounted = if is_refreshed {
        "what is mounted is not refreshed any more"
    } else {
        "what is mounted stays"
    };
    match volumes {
        Ok(volumes) => {
            let own: Vec<_> = volumes
                .iter()
                .filter(|volume| PersistentVolume(volume).csi_driver() == name)
                .collect();
            if !own.is_empty() {
                let size = storage_quantity::of(&own);
                let (fate, more) = match lacks.as_slice() {
                    [] if is_refreshed => (Fate::Broken, mounted.to_owned()),
                    [] => (Fate::Kept, format!("{mounted}, and new mounts lack nothing")),
                    some => (
                        Fate::Broken,
                        format!("{mounted}, and new mounts {}", some.join(", ")),
                    ),
                };
                let says = format!("volumes of it: {}, of {size} in all; {more}", own.len());
                impact.add_effect(fate, says, references(own));
            }
        }
        Err(missing) => impact.add_unknown("which volumes are of this driver", &missing),
    }
    match attachments {
        Ok(own) => {
            if !own.is_empty() {
                let says = format!(
                    "attachments by it: {}; its attacher still has to detach them",
                    own.len()
                );
                impact.add_effect(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => impact.add_unknown("what is attached by it", &missing),
    }
    if CsiDriver(driver).has_inline_volumes() {
        add_inline_volumes(name, impact, view);
    }
    if impact.effects.iter().any(|effect| effect.fate == Fate::Broken) {
        impact.add_step(
            Safety::ReadOnly,
            "save it first, to make it again; uninstall a driver only once its volumes are gone",
            Command::of(
                "kubectl get csidriver {} -o yaml > csidriver-{}.yaml",
                [name, name],
            ),
        );
        impact.add_step(
            Safety::Reversible,
            "then delete it",
            Command::of("kubectl delete csidriver {}", [name]),
        );
    }
}

/// Adds workloads and pods with inline volumes of the driver. A kubelet mounts them only if the `CSIDriver`
/// says that the driver has such volumes.
fn add_inline_volumes(driver: &str, impact: &mut Impact, view: &View<'_>) {
    let is_one = |volume: Volume<'_>| volume.csi_driver() == Some(driver);
    // Queried together, so that they are read together.
    let (makers, pods) = (
        ephemeral_volumes::makers(&is_one, view),
        ephemeral_volumes::pods(&is_one, view),
    );
    for (found, what) in [(makers, "workloads"), (pods, "pods of no workload")] {
        match found {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                let says = format!(
                    "{what} with inline volumes of it: {}; pods that run go on, and new ones do not start",
                    found.len()
                );
                impact.add_effect(Fate::Broken, says, references(found));
            }
            Err(missing) => impact.add_unknown(&format!("which {what} have inline volumes of it"), &missing),
        }
    }
}

/// What a kubelet does for the driver's mounts only because of this object.
fn lacks(driver: CsiDriver<'_>) -> Vec<&'static str> {
    let mut all = Vec::new();
    if driver.needs_no_attachment() {
        all.push("wait for an attachment that nobody makes");
    }
    if driver.is_told_of_pods() {
        all.push("are not told which pod they are for");
    }
    if driver.gets_tokens() {
        all.push("get no token");
    }
    match driver.fs_group_policy() {
        "File" => all.push("are not given to the fsGroup of their pod unless they are ReadWriteOnce"),
        "None" => all.push("are given to the fsGroup of their pod, file by file, if they are ReadWriteOnce"),
        _ => {}
    }
    all
}
