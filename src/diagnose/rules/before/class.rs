//! A storage class that is to be deleted, and the claims and volumes that name it.
//!
//! **Recognises** a `StorageClass`. **Why:** nothing holds it; claims without a volume wait until there is a class of
//! that name (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` provisionClaim), and
//! the provisioner deletes a disk without the class's secret where the volume does not name one itself
//! (`kubernetes-csi/external-provisioner:pkg/controller/controller.go` Delete). Volumes need it for nothing else.
//! **Wants** all claims, volumes and StatefulSets, and the other classes if it is the default. **Concludes** which of them
//! wait for it. **Advises** to save it: one of the same name and parameters does as well.

use super::{Before, quantity, references};
use crate::{
    diagnose::{
        model::{Fate, Safety, Step},
        rules::disk,
        view::View,
    },
    snapshot::facts::Object,
};

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
const OWN_SECRET: &str = "volume.kubernetes.io/provisioner-deletion-secret-name";

pub(super) fn look(class: &Object, before: &mut Before, view: &View<'_>) {
    let name = class.name();
    let names_it = |object: &&Object| object.text("/spec/storageClassName") == name;
    // Asked together, so that they are read together.
    let claims = view.list("", "persistentvolumeclaims", "");
    let volumes = view.list("", "persistentvolumes", "");
    let sets = view.list("apps", "statefulsets", "");
    match claims {
        Ok(claims) => {
            let unbound = |claim: &&Object| claim.text("/spec/volumeName").is_empty();
            let waiting: Vec<_> = claims.iter().filter(names_it).filter(unbound).collect();
            if !waiting.is_empty() {
                let says = format!(
                    "claims without a volume that name it: {}; they wait until there is a class of that name again",
                    waiting.len()
                );
                before.say(Fate::Broken, says, references(waiting));
            }
        }
        Err(missing) => before.unknown("which claims wait for a volume of it", &missing),
    }
    match volumes {
        Ok(volumes) => {
            let own: Vec<_> = volumes.iter().filter(names_it).collect();
            made(class, &own, before);
        }
        Err(missing) => before.unknown("which volumes were made from it", &missing),
    }
    match sets {
        Ok(sets) => {
            let asks = |set: &&Object| {
                let templates = set.list("/spec/volumeClaimTemplates");
                templates.iter().any(|template| {
                    template
                        .pointer("/spec/storageClassName")
                        .and_then(serde_json::Value::as_str)
                        == Some(name)
                })
            };
            let asking: Vec<_> = sets.iter().filter(asks).collect();
            if !asking.is_empty() {
                let says = format!(
                    "StatefulSets whose claims name it: {}; new replicas of them get no volume",
                    asking.len()
                );
                before.say(Fate::Broken, says, references(asking));
            }
        }
        Err(missing) => before.unknown("which StatefulSets make claims of it", &missing),
    }
    if class.annotation(DEFAULT) == "true" {
        default(class, before, view);
    }
    if before
        .effects
        .iter()
        .any(|effect| matches!(effect.fate, Fate::Broken | Fate::Leaked))
    {
        before.steps.push(Step {
            when: super::super::INTENDED,
            text: "save it first: one of the same name and parameters can be made again".into(),
            command: Some(format!(
                "kubectl get storageclass {name} -o yaml > storageclass-{name}.yaml"
            )),
            safety: Safety::Safe,
        });
        before.then(
            Safety::Reversible,
            "then delete it",
            format!("kubectl delete storageclass {name}"),
        );
    }
}

fn made(class: &Object, volumes: &[&Object], before: &mut Before) {
    if volumes.is_empty() {
        return;
    }
    let size = quantity::of(volumes);
    before.say(
        Fate::Kept,
        format!(
            "volumes that were made from it: {}, of {size} in all; they stay as they are, and still need {} when they go",
            volumes.len(),
            class.text("/provisioner")
        ),
        references(volumes.iter().copied()),
    );
    let parameters = class.value.pointer("/parameters");
    let has_secret =
        parameters.is_some_and(|all| all.get("csi.storage.k8s.io/provisioner-secret-name").is_some());
    let needs =
        |volume: &&&Object| disk::policy(volume) == "Delete" && volume.annotation(OWN_SECRET).is_empty();
    let bare: Vec<_> = volumes.iter().filter(needs).copied().collect();
    if has_secret && !bare.is_empty() {
        let says = format!(
            "disks that cannot be deleted later without the class's secret, which their volumes do not name: {}",
            bare.len()
        );
        before.say(Fate::Leaked, says, references(bare));
    }
}

fn default(class: &Object, before: &mut Before, view: &View<'_>) {
    match view.list("storage.k8s.io", "storageclasses", "") {
        Ok(all) => {
            let other = |other: &Object| other.name() != class.name() && other.annotation(DEFAULT) == "true";
            if !all.iter().any(other) {
                let says = "it is the only default class: new claims that name no class get no volume";
                before.say(Fate::Broken, says, []);
            }
        }
        Err(missing) => before.unknown("whether there is another default class", &missing),
    }
}
