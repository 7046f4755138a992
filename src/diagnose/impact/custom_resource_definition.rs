//! A custom type that is to be deleted, with all its objects.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete crd`, or to uninstall a product with its types. People find out afterwards that
//! all objects of the type are gone.
//!
//! ```text
//! $ kubectl finalizers explain crd/orders.shop.example.com --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! kube-apiserver first deletes every object of the type, in all namespaces. Each object waits for its own finalizers.
//! Afterwards nothing of them can be read any more.
//!
//! # Before you act
//!
//! Count the objects, and see which finalizers they have and whether the controller of each runs.
//!
//! # If it was a mistake
//!
//! A deletion of objects can be stopped half-way, the deletion of a type cannot. Save the objects now.
//!
//! # If it was intended
//!
//! Save the objects. Delete them first, while their controller runs. Delete the type last.
//!
//! # Do not
//!
//! Do not delete the type to get rid of stuck objects. They stay stuck, and the type with them.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | objects of the type exist |
//! | stuck | no controller would release some of them |
//! | released | the controller of their finalizer runs |
//! | unknown | objects could not be listed |
//!
//! # What it reads
//!
//! The objects, and for each of their finalizers the controller that removes it.
//!
//! # Sources
//!
//! - `kubernetes/apiextensions-apiserver:pkg/controller/finalizer/crd_finalizer.go`

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        impact::{Impact, finalizer_holders, references},
        kinds::CustomResourceDefinition,
        limits,
        model::{Fate, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_definition(crd: &Object, impact: &mut Impact, view: &View<'_>) {
    let resource = CustomResourceDefinition(crd).resource();
    if !view.has_type(&resource) {
        let says = "which objects of this type there are is not known: the server does not serve it";
        return impact.add_effect(Fate::Unknown, says, []);
    }
    let objects = match view.list(&resource.group, &resource.plural, "") {
        Ok(objects) => objects,
        Err(missing) => return impact.add_unknown("which objects of this type there are", &missing),
    };
    if objects.is_empty() {
        return;
    }
    let name = crd.name();
    let places: BTreeSet<_> = objects
        .iter()
        .map(Object::namespace)
        .filter(|place| !place.is_empty())
        .collect();
    impact.add_effect(
        Fate::Destroyed,
        format!("all objects of this type{}: {}", within(&places), objects.len()),
        references(objects),
    );
    finalizer_holders::add_finalizer_holders(objects, None, impact, view);
    impact.steps.push(Step {
        when: When::KeepData,
        text: "save all objects of this type; a new definition of the same name does not bring them back"
            .into(),
        command: Some(Command::save_all(name)),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    impact.add_step(
        Safety::Destructive,
        "DATA LOSS: delete the objects first, while whoever cleans up after them runs; this waits until they are gone",
        Command::delete_all(name, !places.is_empty()),
    );
    impact.add_step(
        Safety::Destructive,
        "DATA LOSS for every object that is still there: only then delete the definition",
        Command::of("kubectl delete crd {}", [name]),
    );
}

fn within(places: &BTreeSet<&str>) -> String {
    let named: Vec<_> = places.iter().take(limits::NAMES_IN_EFFECT).copied().collect();
    match places.len() {
        0 => String::new(),
        all if all > limits::NAMES_IN_EFFECT => format!(", in {} and other namespaces", named.join(", ")),
        _ => format!(", in {}", named.join(", ")),
    }
}
