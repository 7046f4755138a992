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

use super::{Before, backends, holders, quantity, references, workloads::Workloads};
use crate::{
    diagnose::{
        model::{Evidence, Fate, Safety, Step, Strength},
        rules::disk,
        view::{Missing, View},
    },
    snapshot::facts::{Content, Object},
};

/// So many volumes are read one by one; for more of them all volumes are listed.
const ONE_BY_ONE: usize = 10;

pub(super) fn look(namespace: &Object, before: &mut Before, view: &View<'_>) {
    let name = namespace.name();
    // Asked together, so that they are read together.
    let (content, claims) = (view.content(name), view.list("", "persistentvolumeclaims", name));
    let found = Workloads::of(name, view);
    match content {
        Ok(Some(content)) => inside(content, name, before, view),
        Ok(None) => {}
        Err(missing) => before.unknown("what is in it", &missing),
    }
    match claims {
        Ok(claims) => data(claims, before, view),
        Err(missing) => before.unknown("which claims are in it, and what becomes of their data", &missing),
    }
    match &found {
        Ok(found) => found.look(before, view),
        Err(missing) => before.unknown(
            "which controllers are in it, and what they hold elsewhere",
            missing,
        ),
    }
    backends::look(&|place, _| place == name, before, view);
    if !before.effects.is_empty() {
        before.then(
            Safety::Destructive,
            "DATA LOSS: delete the namespace last, and all that is still in it",
            format!("kubectl delete namespace {name}"),
        );
        if let Ok(found) = found {
            found.types_last(before, view);
        }
    }
}

fn inside(content: &Content, name: &str, before: &mut Before, view: &View<'_>) {
    // Events go by themselves, within the hour.
    let mut counts = content.counts.clone();
    counts.retain(|type_name, _| !matches!(type_name.as_str(), "events" | "events.events.k8s.io"));
    let all: u64 = counts.values().sum();
    let is_default = |type_name: &str| matches!(type_name, "serviceaccounts" | "configmaps");
    // What every namespace has from its first second on is no loss.
    let only_born_with = all <= 2 && counts.keys().all(|type_name| is_default(type_name));
    if !content.gaps.is_empty() {
        let says = format!("{all} objects that could be seen in it, and not everything could be read");
        before.say(Fate::Destroyed, says, []);
    } else if !only_born_with {
        let counted = super::super::namespace_content::counted(&counts);
        before.say(Fate::Destroyed, format!("{all} objects in it: {counted}"), []);
    }
    if content.counts.contains_key("services") {
        balancers(name, before, view);
    }
    let kept: Vec<_> = content.kept.iter().map(Object::from).collect();
    holders::assess(&kept, Some(name), before, view);
}

fn balancers(name: &str, before: &mut Before, view: &View<'_>) {
    let services = match view.list("", "services", name) {
        Ok(services) => services,
        Err(missing) => return before.unknown("which load balancers go with its Services", &missing),
    };
    let balanced = services
        .iter()
        .filter(|service| service.text("/spec/type") == "LoadBalancer");
    let (held, free): (Vec<_>, Vec<_>) = balanced.partition(|service| !service.finalizers().is_empty());
    if !held.is_empty() {
        let says = format!("load balancers of Services, with their addresses: {}", held.len());
        before.say(Fate::Destroyed, says, references(held));
    }
    if !free.is_empty() {
        let says = format!(
            "Services of type LoadBalancer without a finalizer: {}; nothing makes them wait until what was built for them \
             is taken down",
            free.len()
        );
        before.say(Fate::Released, says, references(free));
    }
}

/// What becomes of the disks behind the claims.
fn data(claims: &[Object], before: &mut Before, view: &View<'_>) {
    let names: Vec<_> = claims
        .iter()
        .map(|claim| claim.text("/spec/volumeName"))
        .filter(|name| !name.is_empty())
        .collect();
    let volumes = match volumes(&names, view) {
        Ok(volumes) => volumes,
        Err(missing) => return before.unknown("what becomes of the disks behind its claims", &missing),
    };
    let mut go = Vec::new();
    let mut leak = Vec::new();
    let mut stay = Vec::new();
    for volume in volumes {
        match disk::policy(volume) {
            "Delete" if disk::leaks(volume) => leak.push(volume),
            "Delete" => go.push(volume),
            _ => stay.push(volume),
        }
    }
    of_disks(Fate::Destroyed, "their reclaim policy is Delete", &go, before);
    of_disks(
        Fate::Leaked,
        "their volumes are being deleted already, and no finalizer makes anybody delete the disks",
        &leak,
        before,
    );
    of_disks(
        Fate::Kept,
        "their reclaim policy is Retain; the volumes are Released then",
        &stay,
        before,
    );
    if !go.is_empty() {
        let names: Vec<_> = go.iter().map(|volume| volume.name()).collect();
        before.steps.insert(
            0,
            Step {
                when: super::KEEP,
                text:
                    "set policy Retain on the volumes first: nobody then deletes the disks when the claims go"
                        .into(),
                command: Some(disk::retain_all(&names.join(" "))),
                safety: Safety::Reversible,
            },
        );
    }
}

fn of_disks(fate: Fate, because: &str, volumes: &[&Object], before: &mut Before) {
    if volumes.is_empty() {
        return;
    }
    let size = quantity::of(volumes);
    before.say(
        fate,
        format!(
            "disks behind its claims: {}, of {size} in all; {because}",
            volumes.len()
        ),
        references(volumes.iter().copied()),
    );
    before.evidence.extend(volumes.iter().map(|volume| Evidence {
        source: format!(
            "PersistentVolume {} spec.persistentVolumeReclaimPolicy, spec.csi.volumeHandle",
            volume.name()
        ),
        value: format!("{}, {}", disk::policy(volume), disk::disk(volume)),
        strength: Strength::Proof,
    }));
}

fn volumes<'a>(names: &[&str], view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    if names.len() > ONE_BY_ONE {
        let all = view.list("", "persistentvolumes", "")?;
        return Ok(all
            .iter()
            .filter(|volume| names.contains(&volume.name()))
            .collect());
    }
    // All are asked for before the first answer is used.
    let asked: Vec<_> = names
        .iter()
        .map(|name| view.object("", "persistentvolumes", "", name))
        .collect();
    let found: Result<Vec<_>, _> = asked.into_iter().collect();
    Ok(found?.into_iter().flatten().collect())
}
