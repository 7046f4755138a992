//! Objects that wait for a controller that is to be deleted, as soon as they are deleted themselves.
//!
//! **Recognises** nothing by itself: [`crate::diagnose::impact::departing_controllers`] says which controllers are
//! deleted. The catalogue names the finalizers of controllers with such names and labels; RBAC names the custom types
//! whose objects a controller may change. The search for the controller of each finalizer then decides, the same as for
//! a stuck object. Several finalizers on the same objects are reported together, since they need the same step.

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        holder::{self, Holder, Reach, Tells, Trace},
        impact::{
            Impact, departing_controllers::Workloads, finalizer_holders, finalizer_holders::count,
            references, snapshot_controller,
        },
        limits,
        model::{Fate, Safety, Step},
        view::View,
    },
    knowledge::{Entry, GroupKind},
    object::{Finalizer, ObjectRef, ResourceType, is_product_group},
    snapshot::facts::{By, Object, Resource},
};

/// Adds the objects that only these workloads would release, except those in a namespace that is deleted with
/// them.
pub(crate) fn add_waiting_objects(workloads: &Workloads<'_>, impact: &mut Impact, view: &View<'_>) {
    if workloads.all.is_empty() {
        return;
    }
    add_sidecars(workloads, impact, view);
    let entries = workloads.entries(view, holder::could_be_holder);
    let (everywhere, placed): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| entry.kinds.iter().any(|kind| kind.group() == "*"));
    for entry in everywhere {
        let name = entry.name;
        let says = format!(
            "which objects have {name} is not known, as it may stand on any type: see {}",
            Command::of("kubectl finalizers scan --finalizer {}", [&name])
        );
        impact.add_effect(Fate::Unknown, says, []);
    }
    let is_about = |ty: &&ResourceType| {
        let kind = GroupKind {
            group: &ty.group,
            kind: &ty.kind,
        };
        placed.iter().any(|entry| entry.is_about(kind))
    };
    let mut types: BTreeSet<_> = view
        .types()
        .iter()
        .filter(is_about)
        .map(|ty| Resource::new(&ty.group, &ty.plural))
        .collect();
    match holder::reach(&workloads.all, view) {
        Ok(reach) => types.extend(granted(reach, impact)),
        Err(missing) => impact.add_unknown(
            "whether finalizers that the catalogue does not know wait for it",
            &missing,
        ),
    }
    // Queried together, so that they are read together.
    let lists: Vec<_> = types
        .iter()
        .map(|ty| (ty.name(), view.search(&ty.group, &ty.plural, "", By::Held)))
        .collect();
    let mut stuck = Vec::new();
    for (type_name, list) in lists {
        match list {
            Ok(objects) => stuck.extend(add_waiting_objects_of_type(
                workloads, objects, &placed, impact, view,
            )),
            Err(missing) => impact.add_unknown(
                &format!("which {type_name} wait for it when they are deleted"),
                &missing,
            ),
        }
    }
    snapshot_controller::add_waiting_contents(&stuck, impact, view);
}

/// Adds that the volumes and snapshots of a driver wait for its sidecars find_among these workloads.
fn add_sidecars(workloads: &Workloads<'_>, impact: &mut Impact, view: &View<'_>) {
    let entries = workloads.entries(view, |entry, one| holder::sidecar(entry, one).is_some());
    let named: BTreeSet<_> = entries
        .iter()
        .flat_map(|entry| workloads.all.iter().filter_map(|one| holder::sidecar(entry, one)))
        .collect();
    if !named.is_empty() {
        let named: Vec<_> = named.into_iter().collect();
        let says = format!(
            "which volumes, attachments and snapshots wait for {} is not known: those of its driver, whose name no field \
             of it tells",
            named.join(", ")
        );
        impact.add_effect(Fate::Unknown, says, []);
    }
}

/// The types whose objects a controller may change.
fn granted(reach: Reach, impact: &mut Impact) -> BTreeSet<Resource> {
    if let Some(role) = reach.everything {
        let says = format!("which finalizers wait for it is not known: by {role} it may change every object");
        impact.add_effect(Fate::Unknown, says, []);
    }
    if reach.types.len() > limits::TYPES_OF_ONE_CONTROLLER {
        let says = "which finalizers wait for it is not known: it may change too many types to look at each";
        impact.add_effect(Fate::Unknown, says, []);
        return BTreeSet::new();
    }
    reach.types
}

/// Adds which of these objects of one type only these workloads release. Returns the finalizers that no other
/// controller removes. `entries` are the entries whose controller these workloads may be.
fn add_waiting_objects_of_type(
    workloads: &Workloads<'_>,
    objects: &[Object],
    entries: &[Entry],
    impact: &mut Impact,
    view: &View<'_>,
) -> Vec<Finalizer> {
    let elsewhere = objects
        .iter()
        .filter(|object| workloads.home.as_deref() != Some(object.namespace()));
    let mut stuck: Vec<(Vec<Finalizer>, Vec<&Object>)> = Vec::new();
    for ((type_name, finalizer), objects) in finalizer_holders::groups(elsewhere, |_, _| true) {
        let Some(first) = objects.first() else { continue };
        let entry = view.entry(first, &finalizer);
        // The catalogue says that another controller removes it.
        if entry.is_some_and(|entry| !entry.last_resort && !entries.contains(&entry)) {
            continue;
        }
        let (_, holder) = finalizer_holders::controller_of(first, &finalizer, view);
        if holder.pending {
            continue;
        }
        let (found, others) = find_among(workloads, &holder);
        let says = count(&objects, &type_name, &finalizer);
        if !found && !holder.unseen.is_empty() {
            let unseen = holder.unseen.join("; ");
            let says = format!("whether {says} wait for it is not known: {unseen}");
            impact.add_effect(Fate::Unknown, says, []);
        } else if found && others.is_empty() {
            match stuck.iter_mut().find(|(_, known)| *known == objects) {
                Some((finalizers, _)) => finalizers.push(finalizer),
                None => stuck.push((vec![finalizer], objects)),
            }
        } else if found {
            impact.add_effect(
                Fate::Kept,
                format!(
                    "{says}. Somebody else runs who may remove that: {}",
                    others.join(", ")
                ),
                references(objects.iter().copied()),
            );
        }
    }
    for (finalizers, objects) in &stuck {
        let names: Vec<_> = finalizers.iter().map(Finalizer::to_string).collect();
        let Some(first) = objects.first() else {
            continue;
        };
        let type_name = first.resource.name();
        impact.add_effect(
            Fate::Stuck,
            format!(
                "{} {type_name} with {}. Nobody else was found who removes that",
                objects.len(),
                names.join(" and ")
            ),
            references(objects.iter().copied()),
        );
        add_first_step(first, finalizers, impact);
    }
    stuck.into_iter().flat_map(|(finalizers, _)| finalizers).collect()
}

/// Whether one of these workloads is taken for the controller, and which other workloads are that run.
fn find_among(workloads: &Workloads<'_>, holder: &Holder) -> (bool, Vec<String>) {
    let is_one = |workload: &ObjectRef| workloads.all.iter().any(|one| one.reference() == *workload);
    let found = holder
        .signs
        .iter()
        .filter(|sign| sign.trace == Trace::Workload && sign.tells != Tells::Nothing)
        .filter_map(|sign| sign.object.as_ref())
        .any(is_one);
    let others = holder
        .running()
        .into_iter()
        .filter(|workload| !is_one(workload))
        .map(ObjectRef::in_words)
        .collect();
    (found, others)
}

/// Adds the step to delete the objects while their controller runs. For built-in types the step lists them
/// first, because other objects of the type have nothing to do with this controller.
fn add_first_step(object: &Object, finalizers: &[Finalizer], impact: &mut Impact) {
    let type_name = object.resource.name();
    if is_product_group(&object.resource.group) {
        let command = Command::delete_all(&type_name, !object.namespace().is_empty());
        let is_told = |step: &Step| step.command.as_ref() == Some(&command);
        if impact.steps.iter().any(is_told) {
            return;
        }
        impact.add_step(
            Safety::Destructive,
            format!(
                "DATA LOSS: delete the {type_name}, with what they stand for, while their controller runs; this waits until \
                 they are gone. To keep what they stand for, keep the controller"
            ),
            command,
        );
        return;
    }
    let names: Vec<_> = finalizers.iter().map(Finalizer::to_string).collect();
    impact.add_step(
        Safety::ReadOnly,
        format!(
            "see which {type_name} have {}, and delete them, or make them do without it, while their controller runs",
            names.join(" or ")
        ),
        names.iter().fold(
            Command::of("kubectl finalizers scan {} --all", [&type_name]),
            |command, name| command.flag("--finalizer", name),
        ),
    );
}
