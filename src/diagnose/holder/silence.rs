//! The silence of a controller: it wrote to objects of this type once, and nothing since, while several of them wait.
//!
//! One object that waits may be one that the controller cannot finish. A controller that lives writes to some object of its
//! type: it records an error, or puts its finalizer on a new one. So all objects of the type are looked at, and the time of
//! each write counts that was made under a name of this controller alone. This is a sign and no proof: a controller
//! writes nothing where nothing changes.

use jiff::Timestamp;

use crate::{
    diagnose::{
        holder::{
            names,
            trace::{Holder, Sign, Tells, Trace},
            writer,
        },
        model::Strength,
        timing,
        view::View,
    },
    knowledge::{Entry, schema::glob},
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// Kubernetes' own programs write to objects of every product, and are never the controller of one.
const KUBERNETES: [&str; 4] = [
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
];

/// Adds the silence of the controller as a sign that it is gone, if all objects of the type show it.
pub(super) fn add_silence(
    object: &Object,
    finalizer: &Finalizer,
    entry: &Entry,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let is_long_ago =
        |time: Timestamp| Age::between(time, view.now()).0 > timing::SILENCE && time <= view.now();
    let waits = |one: &Object| {
        one.has_finalizer(&finalizer.name)
            && one
                .deletion()
                .is_some_and(|deletion| is_long_ago(deletion.requested_at()))
    };
    let is_its = |manager: &str| is_of_the_controller(manager, entry);
    if !waits(object) || !entry.holder.managers.iter().any(|name| names::is_telling(name)) {
        return;
    }
    let all = match view.list(&object.resource.group, &object.resource.plural, "") {
        Ok(all) => all,
        // Without the list there is one sign less.
        Err(missing) => return holder.wait_for(&missing),
    };
    let waiting = all.iter().filter(|one| waits(one)).count();
    // Without any owner of fields, nobody knows who wrote to an object.
    if waiting < 2 || all.iter().any(|one| writer::all_changes(one).next().is_none()) {
        return;
    }
    let its_last = all
        .iter()
        .flat_map(writer::all_changes)
        .filter(|change| is_its(&change.manager))
        .max_by_key(|change| change.time);
    // Whoever else wrote to an object with the finalizer may be the controller under another name.
    let is_anybody_else = all
        .iter()
        .filter(|one| one.has_finalizer(&finalizer.name))
        .flat_map(writer::all_changes)
        .any(|change| {
            let name = change.manager.as_str();
            let is_known = is_its(name) || writer::is_tool(name) || KUBERNETES.contains(&name);
            !is_known && !is_long_ago(change.time)
        });
    let Some(last) = its_last.filter(|last| is_long_ago(last.time) && !is_anybody_else) else {
        return;
    };
    let what = object.resource.name();
    let value = format!(
        "{} wrote to {what} last {} ago, and {waiting} of them wait for {}",
        last.manager,
        Age::between(last.time, view.now()),
        finalizer.name
    );
    let sign = Sign::new(
        Trace::Writer,
        Tells::Gone,
        Strength::Moderate,
        format!("all {what}"),
        value,
    );
    holder.add(sign.of("metadata.managedFields").at(Some(last.time)));
}

/// Whether this name in `managedFields` belongs to the controller alone: the catalogue has it, and neither tools of people
/// nor other programs share it.
fn is_of_the_controller(manager: &str, entry: &Entry) -> bool {
    let known = entry.holder.managers.iter();
    !writer::is_tool(manager)
        && names::is_telling(manager)
        && known
            .filter(|name| names::is_telling(name))
            .any(|name| glob(name, manager))
}
