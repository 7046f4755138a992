//! What Kubernetes knows of a CSI driver is to be deleted, and its volumes are still used.
//!
//! **Recognises** a `CSIDriver`. **Why:** nothing holds it. Without it a kubelet takes the driver for one that needs
//! attachments, is not told the pod and gets no tokens, gives volumes to the pod's group by another rule, refreshes nothing,
//! and refuses its volumes inline in pods (`kubernetes/kubernetes:pkg/volume/csi/csi_plugin.go` skipAttach, podInfoEnabled,
//! supportsVolumeLifecycleMode, RequiresRemount; `kubernetes/kubernetes:pkg/volume/csi/csi_mounter.go` getFSGroupPolicy).
//! **Wants** all volumes and attachments; all workloads and pods if it takes inline volumes. **Concludes** what new mounts
//! would lack, and who has inline volumes. **Advises** to save it first; the driver's volumes go before the driver.

use crate::{
    diagnose::{
        causes::storage::volume_attachments,
        impact::{Impact, ephemeral_volumes, references, storage_quantity},
        model::{Fate, Safety},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_driver(driver: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = driver.name();
    // Asked together, so that they are read together.
    let volumes = view.list("", "persistentvolumes", "");
    let attachments = volume_attachments::by_driver(name, view);
    let lacks = lacks(driver);
    let is_refreshed = has(driver, "/spec/requiresRepublish", true);
    let mounted = if is_refreshed {
        "what is mounted is not refreshed any more"
    } else {
        "what is mounted stays"
    };
    match volumes {
        Ok(volumes) => {
            let own: Vec<_> = volumes
                .iter()
                .filter(|volume| volume.text("/spec/csi/driver") == name)
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
                impact.say(fate, says, references(own));
            }
        }
        Err(missing) => impact.unknown("which volumes are of this driver", &missing),
    }
    match attachments {
        Ok(own) => {
            if !own.is_empty() {
                let says = format!(
                    "attachments by it: {}; its attacher still has to detach them",
                    own.len()
                );
                impact.say(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => impact.unknown("what is attached by it", &missing),
    }
    let modes = driver.list("/spec/volumeLifecycleModes");
    if modes.iter().any(|mode| mode == "Ephemeral") {
        inline(name, impact, view);
    }
    if impact.effects.iter().any(|effect| effect.fate == Fate::Broken) {
        impact.then(
            Safety::Safe,
            "save it first, to make it again; uninstall a driver only once its volumes are gone",
            format!("kubectl get csidriver {name} -o yaml > csidriver-{name}.yaml"),
        );
        impact.then(
            Safety::Reversible,
            "then delete it",
            format!("kubectl delete csidriver {name}"),
        );
    }
}

/// Who has volumes of it inline, which a kubelet mounts only of a driver that it knows to have such.
fn inline(driver: &str, impact: &mut Impact, view: &View<'_>) {
    let is_one = |volume: &serde_json::Value| {
        let named = volume.pointer("/csi/driver");
        named.and_then(serde_json::Value::as_str) == Some(driver)
    };
    // Asked together, so that they are read together.
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
                impact.say(Fate::Broken, says, references(found));
            }
            Err(missing) => impact.unknown(&format!("which {what} have inline volumes of it"), &missing),
        }
    }
}

fn has(driver: &Object, field: &str, value: impl Into<serde_json::Value>) -> bool {
    driver.value.pointer(field) == Some(&value.into())
}

/// What a kubelet does for the driver's mounts only because this object says so.
fn lacks(driver: &Object) -> Vec<&'static str> {
    let mut all = Vec::new();
    if has(driver, "/spec/attachRequired", false) {
        all.push("wait for an attachment that nobody makes");
    }
    if has(driver, "/spec/podInfoOnMount", true) {
        all.push("are not told which pod they are for");
    }
    if !driver.list("/spec/tokenRequests").is_empty() {
        all.push("get no token");
    }
    match driver.text("/spec/fsGroupPolicy") {
        "File" => all.push("are not given to the fsGroup of their pod unless they are ReadWriteOnce"),
        "None" => all.push("are given to the fsGroup of their pod, file by file, if they are ReadWriteOnce"),
        _ => {}
    }
    all
}
