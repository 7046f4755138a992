//! A storage class that is to be deleted, and the claims and volumes that name it.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete storageclass`. Afterwards claims stay `Pending` with
//! `storageclass.storage.k8s.io "NAME" not found`.
//!
//! ```text
//! $ kubectl finalizers explain sc/gp3 --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! Nothing holds a StorageClass. Claims without a volume wait until there is a class of that name. The provisioner
//! deletes a disk without the class's secret if the volume does not name one itself. Volumes need the class for nothing
//! else.
//!
//! # Before you act
//!
//! See which claims wait for it, and whether the volumes name their secrets.
//!
//! # If it was a mistake
//!
//! Apply the saved class again: one with the same name and parameters does the same.
//!
//! # If it was intended
//!
//! Save the class first, then delete it.
//!
//! # Do not
//!
//! Do not delete it to change it while claims wait. Make the new one at once.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | broken | claims without a volume or workloads name it |
//! | kept | volumes that were made from it |
//! | unknown | claims, volumes or workloads could not be listed |
//!
//! # What it reads
//!
//! All claims, volumes and workloads, and the other classes if it is the default
//! ([`crate::diagnose::impact::default_storage_class`]).
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` provisionClaim
//! - `kubernetes-csi/external-provisioner:pkg/controller/controller.go` Delete

use crate::{
    command::Command,
    diagnose::{
        impact::{
            Impact, default_storage_class, ephemeral_volumes, references,
            storage_class_references::{add_ephemeral_volumes, template_classes},
            storage_quantity,
        },
        kinds::{PersistentVolumeClaim, StorageClass},
        model::{Fate, Safety, Step, When},
        reclaim_policy,
        view::View,
    },
    snapshot::facts::Object,
};

const OWN_SECRET: &str = "volume.kubernetes.io/provisioner-deletion-secret-name";

pub(crate) fn deleting_class(class: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = class.name();
    let names_it = |object: &&Object| StorageClass::named_by(object) == name;
    // Queried together, so that they are read together.
    let claims = view.list("", "persistentvolumeclaims", "");
    let volumes = view.list("", "persistentvolumes", "");
    let sets = view.list("apps", "statefulsets", "");
    let workloads = ephemeral_volumes::makers(
        &|volume| {
            volume
                .claim_template()
                .is_some_and(|claim| claim.class() == Some(name))
        },
        view,
    );
    match claims {
        Ok(claims) => {
            let unbound = |claim: &&Object| PersistentVolumeClaim(claim).volume().is_empty();
            let waiting: Vec<_> = claims.iter().filter(names_it).filter(unbound).collect();
            if !waiting.is_empty() {
                let says = format!(
                    "claims without a volume that name it: {}; they wait until there is a class of that name again",
                    waiting.len()
                );
                impact.add_effect(Fate::Broken, says, references(waiting));
            }
        }
        Err(missing) => impact.add_unknown("which claims wait for a volume of it", &missing),
    }
    match volumes {
        Ok(volumes) => {
            let own: Vec<_> = volumes.iter().filter(names_it).collect();
            add_volumes(class, &own, impact);
        }
        Err(missing) => impact.add_unknown("which volumes were made from it", &missing),
    }
    match &sets {
        Ok(sets) => {
            let asks = |set: &&Object| template_classes(set).any(|class| class == Some(name));
            let asking: Vec<_> = sets.iter().filter(asks).collect();
            if !asking.is_empty() {
                let says = format!(
                    "StatefulSets whose claims name it: {}; new replicas of them get no volume",
                    asking.len()
                );
                impact.add_effect(Fate::Broken, says, references(asking));
            }
        }
        Err(missing) => impact.add_unknown("which StatefulSets make claims of it", missing),
    }
    match workloads {
        Ok(makers) => add_ephemeral_volumes(&makers, "it", impact),
        Err(missing) => impact.add_unknown("which workloads have ephemeral volumes of it", &missing),
    }
    if default_storage_class::is_default(class) {
        default_storage_class::add_loss_of_default(class, sets.ok(), impact, view);
    }
    if impact
        .effects
        .iter()
        .any(|effect| matches!(effect.fate, Fate::Broken | Fate::Leaked))
    {
        impact.steps.push(Step {
            when: When::Intended,
            text: "save it first: one of the same name and parameters can be made again".into(),
            command: Some(Command::of(
                "kubectl get storageclass {} -o yaml > storageclass-{}.yaml",
                [name, name],
            )),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
        impact.add_step(
            Safety::Reversible,
            "then delete it",
            Command::of("kubectl delete storageclass {}", [name]),
        );
    }
}

fn add_volumes(class: &Object, volumes: &[&Object], impact: &mut Impact) {
    if volumes.is_empty() {
        return;
    }
    let size = storage_quantity::of(volumes);
    impact.add_effect(
        Fate::Kept,
        format!(
            "volumes that were made from it: {}, of {size} in all; they stay as they are, and still need {} when they go",
            volumes.len(),
            StorageClass(class).provisioner()
        ),
        references(volumes.iter().copied()),
    );
    let has_secret = StorageClass(class).has_parameter("csi.storage.k8s.io/provisioner-secret-name");
    let needs =
        |volume: &&&Object| reclaim_policy::deletes_disk(volume) && volume.annotation(OWN_SECRET).is_empty();
    let bare: Vec<_> = volumes.iter().filter(needs).copied().collect();
    if has_secret && !bare.is_empty() {
        let says = format!(
            "disks that cannot be deleted later without the class's secret, which their volumes do not name: {}",
            bare.len()
        );
        impact.add_effect(Fate::Leaked, says, references(bare));
    }
}
