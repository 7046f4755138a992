//! The workloads that were made for an object: those that run on, and those that were stopped. With an ordinary deletion the garbage collector deletes what an object
//! owns only after the object is gone. A controller that waits until its Pods have ended must end them itself
//! (`kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` attemptToDeleteItem).

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        causes::operators::referenced_by::is_child,
        kinds::{OwnerReference, Workload},
        limits,
        model::{Blocker, Finding, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

/// The types of workloads that run until somebody stops them.
const RUNNING: [&str; 3] = ["deployments", "statefulsets", "daemonsets"];

/// Says which workloads that were made for it do not run, and returns them for the chain. Its controller may need them for
/// its clean-up, or may have stopped them itself.
pub(super) fn add_stopped(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Blocker> {
    let is_stopped = |one: &&Object| Workload(one).replicas() == Some(0) && is_child(one, object);
    let stopped = beside(object, &["deployments", "statefulsets"], is_stopped, view);
    let shown = stopped.iter().take(limits::NAMES_IN_SENTENCE);
    let says = "was made for it, and is scaled to 0 replicas";
    shown
        .map(|one| {
            finding.say(format!("{} {} {says}", one.kind, one.name()));
            super::only_named(one.reference(), says.to_owned())
        })
        .collect()
}

/// Says which run, and returns them for the chain. They may run on purpose, so nobody is blamed.
pub(super) fn add_workloads(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Blocker> {
    if object.uid().is_empty() || object.has_finalizer("foregroundDeletion") {
        return Vec::new();
    }
    let runs_on = |one: &&Object| {
        one.is_owned_by(object.uid())
            && Workload(one).replicas().is_none_or(|count| count > 0)
            && Workload(one).wanted_nodes().is_none_or(|count| count > 0)
    };
    let owned = beside(object, &RUNNING, runs_on, view);
    let Some(first) = owned.first() else {
        return Vec::new();
    };
    let runs = match owned.len() {
        1 => "belongs to it, and runs on".to_owned(),
        many => format!("and {} more belong to it, and run on", many - 1),
    };
    // A workload that runs on tells more than the probable name of the controller.
    finding.wait.said.now.insert(
        0,
        format!(
            "{} {} {runs}. The garbage collector deletes what belongs to an object only after the object is gone",
            first.kind,
            first.name()
        ),
    );
    add_second_deletion(object, &owned, finding);
    let shown = owned.iter().take(limits::NAMES_IN_SENTENCE);
    shown
        .map(|one| super::only_named(one.reference(), "belongs to it, and runs on".to_owned()))
        .collect()
}

/// Adds how it ends if the controller waits for what the garbage collector deletes only later: a second deletion, in the
/// foreground. The garbage collector then deletes what the object owns, and waits for what blocks it, before it lets go.
fn add_second_deletion(object: &Object, owned: &[&Object], finding: &mut Finding) {
    let blocks = |one: &&Object| {
        let mut all = OwnerReference::all(one).filter(|reference| reference.is_to(object));
        all.any(OwnerReference::blocks_deletion)
    };
    if !owned.iter().all(blocks) {
        return;
    }
    let says = "if its controller waits until that has ended, each waits for the other";
    finding.wait.said.now.insert(1, says.to_owned());
    finding.steps.push(Step {
        when: When::StillThere,
        text: format!(
            "WHAT BELONGS TO IT IS DELETED first: only if the log says that the controller waits for the end of its Pods, \
             delete the {} once more, in the foreground",
            object.kind
        ),
        command: Some(Command::of(
            "kubectl -n {} delete {}/{} --cascade=foreground --wait=false",
            [object.namespace(), &object.resource.name(), object.name()],
        )),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
}

/// The namespaces of the workloads that an object without a namespace owns.
pub(super) fn namespaces_of_owned(object: &Object, view: &View<'_>) -> BTreeSet<String> {
    // A list that could not be read is a gap of the diagnosis.
    let all = RUNNING
        .iter()
        .flat_map(|plural| view.list("apps", plural, "").unwrap_or_default());
    all.filter(|one| !object.uid().is_empty() && one.is_owned_by(object.uid()))
        .map(|one| one.namespace().to_owned())
        .collect()
}

/// The workloads of these types in its namespace that are not being deleted and fit. Those that could not be listed are a gap
/// of the diagnosis.
fn beside<'a>(
    object: &Object,
    plurals: &[&str],
    fits: impl Fn(&&Object) -> bool,
    view: &View<'a>,
) -> Vec<&'a Object> {
    let mut found = Vec::new();
    if object.namespace().is_empty() {
        return found;
    }
    for plural in plurals {
        let all = view.list("apps", plural, object.namespace()).unwrap_or_default();
        found.extend(all.iter().filter(|one| one.deletion().is_none() && fits(one)));
    }
    found
}
