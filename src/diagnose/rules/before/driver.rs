//! What Kubernetes knows of a CSI driver is to be deleted, and its volumes are still used.
//!
//! **Recognises** a `CSIDriver`. **Why:** nothing holds it. Without it a kubelet takes the driver for one that needs
//! attachments, is not told the pod and gets no tokens, and refuses its volumes inline in pods
//! (`kubernetes/kubernetes:pkg/volume/csi/csi_plugin.go` skipAttach, podInfoEnabled, getVolumeLifecycleMode). **Wants**
//! all volumes and attachments. **Concludes** what new mounts would lack. **Advises** to save it first; the driver's
//! volumes go before the driver.

use super::{Before, quantity, references};
use crate::{
    diagnose::{
        model::{Fate, Safety},
        view::View,
    },
    snapshot::facts::Object,
};

pub(super) fn look(driver: &Object, before: &mut Before, view: &View<'_>) {
    let name = driver.name();
    // Asked together, so that they are read together.
    let volumes = view.list("", "persistentvolumes", "");
    let attachments = view.list("storage.k8s.io", "volumeattachments", "");
    let lacks = lacks(driver);
    match volumes {
        Ok(volumes) => {
            let own: Vec<_> = volumes
                .iter()
                .filter(|volume| volume.text("/spec/csi/driver") == name)
                .collect();
            if !own.is_empty() {
                let size = quantity::of(&own);
                let (fate, more) = match lacks.as_slice() {
                    [] => (
                        Fate::Kept,
                        "what is mounted stays, and new mounts lack nothing".to_owned(),
                    ),
                    some => (
                        Fate::Broken,
                        format!("what is mounted stays, but new mounts {}", some.join(", ")),
                    ),
                };
                let says = format!("volumes of it: {}, of {size} in all; {more}", own.len());
                before.say(fate, says, references(own));
            }
        }
        Err(missing) => before.unknown("which volumes are of this driver", &missing),
    }
    match attachments {
        Ok(all) => {
            let own: Vec<_> = all
                .iter()
                .filter(|one| one.text("/spec/attacher") == name)
                .collect();
            if !own.is_empty() {
                let says = format!(
                    "attachments by it: {}; its attacher still has to detach them",
                    own.len()
                );
                before.say(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => before.unknown("what is attached by it", &missing),
    }
    let modes = driver.list("/spec/volumeLifecycleModes");
    if modes.iter().any(|mode| mode == "Ephemeral") {
        let says = "pods with inline volumes of it do not start any more";
        before.say(Fate::Broken, says, []);
    }
    if before.effects.iter().any(|effect| effect.fate == Fate::Broken) {
        before.then(
            Safety::Safe,
            "save it first, to make it again; uninstall a driver only once its volumes are gone",
            format!("kubectl get csidriver {name} -o yaml > csidriver-{name}.yaml"),
        );
        before.then(
            Safety::Reversible,
            "then delete it",
            format!("kubectl delete csidriver {name}"),
        );
    }
}

/// What a kubelet does for the driver's mounts only because this object says so.
fn lacks(driver: &Object) -> Vec<&'static str> {
    let is = |field: &str, value: bool| driver.value.pointer(field) == Some(&serde_json::Value::Bool(value));
    let mut all = Vec::new();
    if is("/spec/attachRequired", false) {
        all.push("wait for an attachment that nobody makes");
    }
    if is("/spec/podInfoOnMount", true) {
        all.push("are not told which pod they are for");
    }
    if !driver.list("/spec/tokenRequests").is_empty() {
        all.push("get no token");
    }
    all
}
