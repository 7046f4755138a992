//! Objects that go together with something else, and whoever must remove their finalizers.
//!
//! **Recognises** finalizers that no rule knows by name. **Why:** an object without anybody who removes its finalizer
//! stays, and keeps its namespace or its type from going. **Wants** for each finalizer what shows its holder.
//! **Concludes** `stuck` where the holder does not run, or runs in the very namespace that is to be deleted: its pods
//! go first (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    diagnose::{
        causes::{is_known, operators::holder_report},
        holder,
        holder::{Holder, State},
        impact::{Impact, references},
        limits,
        model::{Fate, Safety},
        view::View,
    },
    knowledge::Entry,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::Object,
};

/// Objects of one type that have the same finalizer.
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

/// Says of each finalizer on these objects whether somebody will remove it; `home` is the namespace that goes with them.
pub(crate) fn assess<'a>(
    objects: impl IntoIterator<Item = &'a Object>,
    home: Option<&str>,
    impact: &mut Impact,
    view: &View<'_>,
) {
    let mut groups: Vec<_> = groups(objects, |object, finalizer| !is_known(object, finalizer))
        .into_iter()
        .collect();
    groups.sort_by_key(|(_, objects)| Reverse(objects.len()));
    for ((type_name, finalizer), objects) in groups.iter().take(limits::HOLDERS_SEARCHED) {
        let Some(first) = objects.first() else { continue };
        let (who, holder) = of(first, finalizer, view);
        if holder.pending {
            continue;
        }
        let says = format!("{}, {who}", count(objects, type_name, finalizer));
        let (fate, more) = fate(&holder, home);
        impact.say(
            fate,
            format!("{says}. {more}"),
            references(objects.iter().copied()),
        );
        if let (Fate::Stuck, Some(home), State::Running) = (fate, home, holder.state()) {
            impact.then(
                Safety::Destructive,
                format!(
                    "DATA LOSS: delete the {type_name} in it first, while their controller runs; this waits until they \
                     are gone"
                ),
                format!("kubectl -n {home} delete {type_name} --all"),
            );
        }
        impact
            .evidence
            .extend(holder.signs.iter().map(holder::Sign::evidence));
    }
    not_looked_for(&groups[groups.len().min(limits::HOLDERS_SEARCHED)..], impact);
}

/// Those on the fewest objects.
fn not_looked_for(rest: &[((String, Finalizer), Vec<&Object>)], impact: &mut Impact) {
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
    impact.say(Fate::Unknown, says, references(objects));
}

/// Who must remove it, as it is found for an object that is stuck.
pub(crate) fn of(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> (String, Holder) {
    let reference = object.reference();
    match view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()))
    {
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

/// The holder of an object of which no more than its metadata has been read. Which instance of a product it is of, more of it
/// may tell.
fn described(object: &Object, finalizer: &Finalizer, entry: &Entry, view: &View<'_>) -> Holder {
    let look = |object: &Object| holder::described(object, finalizer, entry, view);
    if !holder::is_of_each_instance(entry) {
        return look(object);
    }
    let ty = &object.resource;
    match view.object(&ty.group, &ty.plural, object.namespace(), object.name()) {
        Ok(Some(whole)) => look(whole),
        // It has gone meanwhile.
        Ok(None) => look(object),
        Err(missing) => {
            let mut holder = look(object);
            holder.miss(&missing);
            holder
        }
    }
}

/// `3 widgets.example.com with example.com/clean`.
pub(crate) fn count(objects: &[&Object], type_name: &str, finalizer: &Finalizer) -> String {
    format!("{} {type_name} with {finalizer}", objects.len())
}

fn fate(holder: &Holder, home: Option<&str>) -> (Fate, String) {
    let state = holder.state();
    let running = holder.running();
    let within = |workload: &&ObjectRef| workload.namespace.as_deref() == home;
    if let (State::Running, Some(home), Some(first)) = (state, home, running.first())
        && running.iter().all(within)
    {
        let says = format!(
            "That is {} {}, which runs in {home} itself and goes first",
            first.kind, first.name
        );
        return (Fate::Stuck, says);
    }
    let fate = match state {
        State::Running => Fate::Released,
        State::Off | State::Failing | State::Gone => Fate::Stuck,
        State::Elsewhere | State::Unknown => Fate::Unknown,
    };
    (fate, holder_report::in_words(holder))
}
