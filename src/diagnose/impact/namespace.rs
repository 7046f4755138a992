//! A namespace that is to be deleted, with all that is in it.
//!
//! **Recognises** a Namespace. **Why:** everything in it is deleted; with a claim goes its volume, and by the reclaim
//! policy the disk (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume); with a
//! Service of type `LoadBalancer` what the cloud built for it (`kubernetes/cloud-provider:controllers/service/controller.go`).
//! Pods go first, also those of controllers that must still clean up
//! (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`). **Wants** the content, the
//! claims with their volumes, the Services, whoever removes the finalizers of what is in it, and the workloads in it with
//! what they hold elsewhere. **Concludes** what is destroyed, leaked, stuck and broken. **Advises** to keep disks with
//! policy Retain, and to delete first what only a controller in this namespace can let go.

use crate::{
    diagnose::{
        causes::namespaces::content_groups,
        impact::{
            Impact, api_extensions, claim_disks, departing_controllers::Workloads, finalizer_holders,
            references,
        },
        model::{Fate, Safety},
        view::View,
    },
    snapshot::facts::{Content, Object},
};

pub(crate) fn deleting_namespace(namespace: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = namespace.name();
    // Asked together, so that they are read together.
    let (content, claims) = (view.content(name), view.list("", "persistentvolumeclaims", name));
    let found = Workloads::of(name, view);
    match content {
        Ok(Some(content)) => inside(content, name, impact, view),
        Ok(None) => {}
        Err(missing) => impact.unknown("what is in it", &missing),
    }
    match claims {
        Ok(claims) => claim_disks::behind(claims, "its claims", impact, view),
        Err(missing) => impact.unknown("which claims are in it, and what becomes of their data", &missing),
    }
    match &found {
        Ok(found) => found.look(impact, view),
        Err(missing) => impact.unknown(
            "which controllers are in it, and what they hold elsewhere",
            missing,
        ),
    }
    api_extensions::add_api_extensions(&|place, _| place == name, impact, view);
    if !impact.effects.is_empty() {
        impact.then(
            Safety::Destructive,
            "DATA LOSS: delete the namespace last, and all that is still in it",
            format!("kubectl delete namespace {name}"),
        );
        if let Ok(found) = found {
            found.types_last(impact, view);
        }
    }
}

fn inside(content: &Content, name: &str, impact: &mut Impact, view: &View<'_>) {
    // Events go by themselves, within the hour.
    let mut counts = content.counts.clone();
    counts.retain(|type_name, _| !matches!(type_name.as_str(), "events" | "events.events.k8s.io"));
    let all: u64 = counts.values().sum();
    let is_default = |type_name: &str| matches!(type_name, "serviceaccounts" | "configmaps");
    // What every namespace has from its first second on is no loss.
    let only_born_with = all <= 2 && counts.keys().all(|type_name| is_default(type_name));
    if !content.gaps.is_empty() {
        let says = format!("{all} objects that could be seen in it, and not everything could be read");
        impact.say(Fate::Destroyed, says, []);
    } else if !only_born_with {
        let counted = content_groups::counts_in_words(&counts);
        impact.say(Fate::Destroyed, format!("{all} objects in it: {counted}"), []);
    }
    if content.counts.contains_key("services") {
        balancers(name, impact, view);
    }
    let kept: Vec<_> = content.kept.iter().map(Object::from).collect();
    finalizer_holders::assess(&kept, Some(name), impact, view);
}

fn balancers(name: &str, impact: &mut Impact, view: &View<'_>) {
    let services = match view.list("", "services", name) {
        Ok(services) => services,
        Err(missing) => return impact.unknown("which load balancers go with its Services", &missing),
    };
    let balanced = services
        .iter()
        .filter(|service| service.text("/spec/type") == "LoadBalancer");
    let (held, free): (Vec<_>, Vec<_>) = balanced.partition(|service| !service.finalizers().is_empty());
    if !held.is_empty() {
        let says = format!("load balancers of Services, with their addresses: {}", held.len());
        impact.say(Fate::Destroyed, says, references(held));
    }
    if !free.is_empty() {
        let says = format!(
            "Services of type LoadBalancer without a finalizer: {}; nothing makes them wait until what was built for them \
             is taken down",
            free.len()
        );
        impact.say(Fate::Released, says, references(free));
    }
}
