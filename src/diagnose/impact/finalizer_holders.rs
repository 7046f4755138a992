//! Objects that are deleted together with another object, and the controllers that must remove their finalizers.
//!
//! # Symptom
//!
//! You are about to delete a namespace or a type whose objects have finalizers of operators.
//!
//! ```text
//! $ kubectl finalizers explain ns/shop --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! An object whose finalizer no controller removes stays, and keeps its namespace or its type. The pods of a namespace
//! are deleted first. So a controller in the same namespace is gone before it can clean up.
//!
//! # Before you act
//!
//! See where the controller of each finalizer runs.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet.
//!
//! # If it was intended
//!
//! Delete first what only a controller in this namespace can release. Delete the rest afterwards.
//!
//! # Do not
//!
//! Do not delete a namespace that has both an operator and its objects in one go.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stuck | the controller does not run, or runs in the namespace that is to be deleted |
//! | released | it runs elsewhere |
//! | unknown | its signs could not be read |
//!
//! # What it reads
//!
//! For each finalizer the signs of its controller.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    command::Command,
    diagnose::{
        causes::{has_own_cause, operators::holder_report},
        holder,
        holder::{Holder, Liveness},
        impact::{Impact, references},
        limits,
        model::{Fate, Safety},
        view::View,
    },
    knowledge::Entry,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::Object,
};

/// Objects of one type with the same finalizer.
pub(crate) type Groups<'a> = BTreeMap<(String, Finalizer), Vec<&'a Object>>;

pub(crate) fn groups<'a>(
    objects: impl IntoIterator<Item = &'a Object>,
    counts: fn(&Object, &Finalizer) -> bool,
) -> Groups<'a> {
    let mut groups = Groups::new();
    for object in objects {
        for finalizer in object.finalizers() {
            if finalizer.list == List::Metadata && counts(object, &finalizer) {
                let key = (object.resource.name(), finalizer);
                groups.entry(key).or_default().push(object);
            }
        }
    }
    groups
}

/// Adds for each finalizer on these objects whether a controller will remove it. `home` is the namespace that
/// is deleted with them.
pub(crate) fn add_finalizer_holders<'a>(
    objects: impl IntoIterator<Item = &'a Object>,
    home: Option<&str>,
    impact: &mut Impact,
    view: &View<'_>,
) {
    let mut groups: Vec<_> = groups(objects, |object, finalizer| !has_own_cause(object, finalizer))
        .into_iter()
        .collect();
    groups.sort_by_key(|(_, objects)| Reverse(objects.len()));
    for ((type_name, finalizer), objects) in groups.iter().take(limits::HOLDERS_SEARCHED) {
        let Some(first) = objects.first() else { continue };
        let (who, holder) = controller_of(first, finalizer, view);
        if holder.pending {
            continue;
        }
        let says = format!("{}, {who}", count(objects, type_name, finalizer));
        let (fate, more) = fate(&holder, home);
        impact.add_effect(
            fate,
            format!("{says}. {more}"),
            references(objects.iter().copied()),
        );
        if let (Fate::Stuck, Some(home), Liveness::Running) = (fate, home, holder.liveness()) {
            impact.add_step(
                Safety::Destructive,
                format!(
                    "DATA LOSS: delete the {type_name} in it first, while their controller runs; this waits until they \
                     are gone"
                ),
                Command::of("kubectl -n {} delete {} --all", [home, type_name]),
            );
        }
        impact
            .evidence
            .extend(holder.signs.iter().map(holder::Sign::evidence));
    }
    add_unchecked(groups.get(limits::HOLDERS_SEARCHED..).unwrap_or_default(), impact);
}

/// Adds the finalizers on the fewest objects, which were not checked.
fn add_unchecked(rest: &[((String, Finalizer), Vec<&Object>)], impact: &mut Impact) {
    if rest.is_empty() {
        return;
    }
    let names: BTreeSet<_> = rest
        .iter()
        .map(|((_, finalizer), _)| finalizer.to_string())
        .collect();
    let first: Vec<_> = names
        .iter()
        .take(limits::NAMES_IN_EFFECT)
        .map(String::as_str)
        .collect();
    let more = match names.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let says = format!(
        "whether these would be removed is not known: {}{more}. No more than {} finalizers are looked into; kubectl \
         finalizers scan --by holder looks into all",
        first.join(", "),
        limits::HOLDERS_SEARCHED
    );
    let objects = rest.iter().flat_map(|(_, objects)| objects).copied();
    impact.add_effect(Fate::Unknown, says, references(objects));
}

/// The controller that must remove the finalizer, found as for a stuck object, and a clause that names it.
pub(crate) fn controller_of(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> (String, Holder) {
    match view.entry(object, finalizer) {
        Some(entry) => (
            format!("which {} must remove", entry.project),
            described(object, finalizer, &entry, view),
        ),
        None => (
            "which somebody must remove whom the catalogue does not know".to_owned(),
            holder::undescribed(object, finalizer, view),
        ),
    }
}

/// The controller of an object whose metadata alone was read. The rest of the object may tell which instance of
/// a product it belongs to.
fn described(object: &Object, finalizer: &Finalizer, entry: &Entry, view: &View<'_>) -> Holder {
    let search = |object: &Object| holder::described(object, finalizer, entry, view);
    if !holder::is_of_each_instance(entry) {
        return search(object);
    }
    let ty = &object.resource;
    match view.object(&ty.group, &ty.plural, object.namespace(), object.name()) {
        Ok(Some(whole)) => search(whole),
        // The object was deleted meanwhile.
        Ok(None) => search(object),
        Err(missing) => {
            let mut holder = search(object);
            holder.add_missing(&missing);
            holder
        }
    }
}

/// The objects in a sentence: `3 widgets.example.com with example.com/clean`.
pub(crate) fn count(objects: &[&Object], type_name: &str, finalizer: &Finalizer) -> String {
    format!("{} {type_name} with {finalizer}", objects.len())
}

fn fate(holder: &Holder, home: Option<&str>) -> (Fate, String) {
    let state = holder.liveness();
    let running = holder.running();
    let within = |workload: &&ObjectRef| workload.namespace.as_deref() == home;
    if let (Liveness::Running, Some(home), Some(first)) = (state, home, running.first())
        && running.iter().all(within)
    {
        let says = format!(
            "That is {} {}, which runs in {home} itself and goes first",
            first.kind, first.name
        );
        return (Fate::Stuck, says);
    }
    let fate = match state {
        Liveness::Running => Fate::Released,
        Liveness::Off | Liveness::Failing | Liveness::Gone => Fate::Stuck,
        Liveness::Elsewhere | Liveness::Unknown => Fate::Unknown,
    };
    (fate, holder_report::in_words(holder))
}
