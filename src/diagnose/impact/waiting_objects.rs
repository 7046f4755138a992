//! Objects that wait for a controller which is to go, as soon as they are deleted.
//!
//! **Recognises** nothing by itself: which objects and which controllers, [`crate::diagnose::impact::departing_controllers`] says. Several finalizers on the
//! same objects are told together, since they need the same step.

use crate::{
    diagnose::{
        holder::{Holder, Tells, Trace},
        impact::{
            Impact, departing_controllers::Workloads, finalizer_holders, finalizer_holders::count, references,
        },
        model::{Fate, Safety, Step},
        view::View,
    },
    knowledge::Entry,
    object::{Finalizer, ObjectRef, is_product_group},
    snapshot::facts::Object,
};

/// Says of these objects of one type which of them only these workloads let go, and returns the finalizers that nobody else
/// removes. `entries` are those of the catalogue whose holder they may be.
pub(crate) fn held(
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
        let reference = first.reference();
        let entry = view
            .knowledge
            .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
        // Somebody else's, as the catalogue knows.
        if entry.is_some_and(|entry| !entry.last_resort && !entries.contains(&entry)) {
            continue;
        }
        let (_, holder) = finalizer_holders::of(first, &finalizer, view);
        if holder.pending {
            continue;
        }
        let (found, others) = among(workloads, &holder);
        let says = count(&objects, &type_name, &finalizer);
        if !found && !holder.unseen.is_empty() {
            let unseen = holder.unseen.join("; ");
            let says = format!("whether {says} wait for it is not known: {unseen}");
            impact.say(Fate::Unknown, says, []);
        } else if found && others.is_empty() {
            match stuck.iter_mut().find(|(_, known)| *known == objects) {
                Some((finalizers, _)) => finalizers.push(finalizer),
                None => stuck.push((vec![finalizer], objects)),
            }
        } else if found {
            impact.say(
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
        let (first, type_name) = (objects[0], objects[0].resource.name());
        impact.say(
            Fate::Stuck,
            format!(
                "{} {type_name} with {}. Nobody else was found who removes that",
                objects.len(),
                names.join(" and ")
            ),
            references(objects.iter().copied()),
        );
        first_of_all(first, finalizers, impact);
    }
    stuck.into_iter().flat_map(|(finalizers, _)| finalizers).collect()
}

/// Whether one of these is taken for the holder, and who else is that runs.
fn among(workloads: &Workloads<'_>, holder: &Holder) -> (bool, Vec<String>) {
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

/// What has to go while its controller runs. Of Kubernetes' own types others have objects too, which nobody means.
fn first_of_all(object: &Object, finalizers: &[Finalizer], impact: &mut Impact) {
    let type_name = object.resource.name();
    if is_product_group(&object.resource.group) {
        let all = if object.namespace().is_empty() {
            ""
        } else {
            " --all-namespaces"
        };
        let command = format!("kubectl delete {type_name} --all{all}");
        let is_told = |step: &Step| step.command.as_ref() == Some(&command);
        if impact.steps.iter().any(is_told) {
            return;
        }
        impact.then(
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
    let patterns: Vec<_> = names.iter().map(|name| format!("--finalizer '{name}'")).collect();
    impact.then(
        Safety::Safe,
        format!(
            "see which {type_name} have {}, and delete them, or make them do without it, while their controller runs",
            names.join(" or ")
        ),
        format!("kubectl finalizers scan {type_name} --all {}", patterns.join(" ")),
    );
}
