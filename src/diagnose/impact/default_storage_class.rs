//! The default storage class is to be deleted, which claims without a class name get.
//!
//! # Symptom
//!
//! You are about to delete the class that `kubectl get storageclass` marks as `(default)`. Afterwards new claims stay
//! `Pending` with `no persistent volumes available for this claim and no storage class is set`.
//!
//! ```text
//! $ kubectl finalizers explain sc/gp3 --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! Claims without a class name get the default class. Without a default they wait until there is one again.
//!
//! # Before you act
//!
//! See whether another class is a default, too, and which workloads name no class.
//!
//! # If it was a mistake
//!
//! Apply the saved class again. The claims that wait then get it.
//!
//! # If it was intended
//!
//! Make another class the default first, with the annotation `storageclass.kubernetes.io/is-default-class: "true"`.
//!
//! # Do not
//!
//! Do not leave the cluster without a default while operators create claims.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | broken | it is the only default, and workloads or claims name no class |
//! | unknown | classes or workloads could not be listed |
//!
//! # What it reads
//!
//! The other classes and all workloads.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:plugin/pkg/admission/storage/storageclass/setdefault/admission.go`
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` assignDefaultStorageClass

use crate::{
    command::Command,
    diagnose::{
        impact::{
            Impact, ephemeral_volumes, references,
            storage_class_references::{add_ephemeral_volumes, template_classes},
        },
        limits,
        model::{Fate, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
const BETA_DEFAULT: &str = "storageclass.beta.kubernetes.io/is-default-class";

pub(crate) fn add_loss_of_default(
    class: &Object,
    sets: Option<&[Object]>,
    impact: &mut Impact,
    view: &View<'_>,
) {
    let others: Vec<_> = match view.list("storage.k8s.io", "storageclasses", "") {
        Ok(all) => all.iter().filter(|other| other.name() != class.name()).collect(),
        Err(missing) => return impact.add_unknown("whether there is another default class", &missing),
    };
    if others.iter().any(|other| is_default(other)) {
        return;
    }
    let says =
        "it is the only default class: new claims that name no class stay Pending until there is one again";
    impact.add_effect(Fate::Broken, says, []);
    let asking: Vec<_> = sets
        .into_iter()
        .flatten()
        .filter(|set| template_classes(set).any(|class| class.is_none()))
        .collect();
    if !asking.is_empty() {
        let says = format!(
            "StatefulSets whose claims name no class: {}; new replicas of them get no volume",
            asking.len()
        );
        impact.add_effect(Fate::Broken, says, references(asking));
    }
    match ephemeral_volumes::makers(
        &|volume| {
            volume
                .claim_template()
                .is_some_and(|claim| claim.class().is_none())
        },
        view,
    ) {
        Ok(makers) => add_ephemeral_volumes(&makers, "no class", impact),
        Err(missing) => {
            impact.add_unknown("which workloads have ephemeral volumes without a class", &missing);
        }
    }
    let (text, command) = match others.as_slice() {
        [] => return,
        [only] => (
            format!(
                "make {} the default first: claims that name no class then get that one",
                only.name()
            ),
            Some(Command::of(
                "kubectl annotate storageclass {} {}=true --overwrite",
                [only.name(), DEFAULT],
            )),
        ),
        some => {
            let names: Vec<_> = some
                .iter()
                .take(limits::NAMES_IN_EFFECT)
                .map(|other| other.name())
                .collect();
            let more = if some.len() > limits::NAMES_IN_EFFECT {
                " and others"
            } else {
                ""
            };
            (
                format!(
                    "make another class the default first, with the annotation {DEFAULT}=true: there are {}{more}",
                    names.join(", ")
                ),
                None,
            )
        }
    };
    impact.steps.push(Step {
        when: When::Intended,
        text,
        command,
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    });
}

/// Whether the class is a default. Both annotations count
/// (`kubernetes/kubernetes:pkg/volume/util/storageclass.go` IsDefaultAnnotation).
pub(crate) fn is_default(class: &Object) -> bool {
    [DEFAULT, BETA_DEFAULT]
        .iter()
        .any(|name| class.annotation(name) == "true")
}
