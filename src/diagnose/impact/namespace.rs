//! A namespace that is to be deleted, with everything in it.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete namespace`. It deletes all content without another question.
//!
//! ```text
//! $ kubectl finalizers explain ns/shop --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! The volume of a claim is deleted with it, and by the reclaim policy the disk. The load balancer of a Service of type
//! `LoadBalancer` is deleted with it. Pods are deleted first, also those of controllers that still have to clean up.
//!
//! # Before you act
//!
//! Read what is destroyed, leaked, stuck and broken. Save what is needed.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. Keep disks with policy `Retain`.
//!
//! # If it was intended
//!
//! Delete first what only a controller in this namespace can release, and what would point at nobody. Delete the
//! namespace last.
//!
//! # Do not
//!
//! Do not empty `spec.finalizers` if the namespace then hangs. The content stays in etcd.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | objects, disks or load balancers go with it |
//! | leaked | something outside the cluster stays, and nobody knows of it |
//! | stuck | a finalizer in it has no controller afterwards |
//! | broken | something elsewhere calls a Service in it |
//! | kept | disks with policy `Retain` |
//! | unknown | something could not be read |
//!
//! # What it reads
//!
//! The content, the claims with their volumes, and the Services. Also the controllers of all finalizers in the
//! namespace, and what its workloads hold elsewhere.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume
//! - `kubernetes/cloud-provider:controllers/service/controller.go`
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`

use crate::{
    command::Command,
    diagnose::{
        causes::namespaces::content_groups,
        impact::{
            Impact, api_extensions, claim_disks, departing_controllers::Workloads, finalizer_holders,
            references, waiting_objects::add_waiting_objects,
        },
        kinds::Service,
        model::{Fate, Safety},
        view::View,
    },
    snapshot::facts::{Content, Object},
};

pub(crate) fn deleting_namespace(namespace: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = namespace.name();
    // Queried together, so that they are read together.
    let (content, claims) = (view.content(name), view.list("", "persistentvolumeclaims", name));
    let workloads = Workloads::of(name, view);
    match content {
        Ok(Some(content)) => add_content(content, name, impact, view),
        Ok(None) => {}
        Err(missing) => impact.add_unknown("what is in it", &missing),
    }
    match claims {
        Ok(claims) => claim_disks::add_disks(claims, "its claims", impact, view),
        Err(missing) => {
            impact.add_unknown("which claims are in it, and what becomes of their data", &missing);
        }
    }
    match &workloads {
        Ok(workloads) => add_waiting_objects(workloads, impact, view),
        Err(missing) => impact.add_unknown(
            "which controllers are in it, and what they hold elsewhere",
            missing,
        ),
    }
    api_extensions::add_api_extensions(&|place, _| place == name, impact, view);
    let delete = Command::delete_namespace(name);
    if delete.is_none() {
        impact.is_needed = true;
        impact.add_effect(
            Fate::Kept,
            "the cluster needs this namespace: the API server refuses to delete it, or makes it again, empty",
            [],
        );
    }
    if let Some(delete) = delete.filter(|_| !impact.effects.is_empty()) {
        impact.add_step(
            Safety::Destructive,
            "DATA LOSS: delete the namespace last, and all that is still in it",
            delete,
        );
        if let Ok(workloads) = workloads {
            workloads.add_type_deletion(impact, view);
        }
    }
}

fn add_content(content: &Content, name: &str, impact: &mut Impact, view: &View<'_>) {
    // Events expire within the hour.
    let mut counts = content.counts.clone();
    counts.retain(|type_name, _| !matches!(type_name.as_str(), "events" | "events.events.k8s.io"));
    let all: u64 = counts.values().sum();
    let is_default = |type_name: &str| matches!(type_name, "serviceaccounts" | "configmaps");
    // Every namespace has these objects from the beginning, so they are no loss.
    let only_defaults = all <= 2 && counts.keys().all(|type_name| is_default(type_name));
    if !content.gaps.is_empty() {
        let says = format!("{all} objects that could be seen in it, and not everything could be read");
        impact.add_effect(Fate::Destroyed, says, []);
    } else if !only_defaults {
        let counted = content_groups::counts_in_words(&counts);
        impact.add_effect(Fate::Destroyed, format!("{all} objects in it: {counted}"), []);
    }
    if content.counts.contains_key("services") {
        add_load_balancers(name, impact, view);
    }
    let kept: Vec<_> = content.kept.iter().map(Object::from).collect();
    finalizer_holders::add_finalizer_holders(&kept, Some(name), impact, view);
}

fn add_load_balancers(name: &str, impact: &mut Impact, view: &View<'_>) {
    let services = match view.list("", "services", name) {
        Ok(services) => services,
        Err(missing) => return impact.add_unknown("which load balancers go with its Services", &missing),
    };
    let balanced = services
        .iter()
        .filter(|service| Service(service).has_load_balancer());
    let (held, free): (Vec<_>, Vec<_>) = balanced.partition(|service| !service.finalizers().is_empty());
    if !held.is_empty() {
        let says = format!("load balancers of Services, with their addresses: {}", held.len());
        impact.add_effect(Fate::Destroyed, says, references(held));
    }
    if !free.is_empty() {
        let says = format!(
            "Services of type LoadBalancer without a finalizer: {}; nothing makes them wait until what was built for them \
             is taken down",
            free.len()
        );
        impact.add_effect(Fate::Released, says, references(free));
    }
}
