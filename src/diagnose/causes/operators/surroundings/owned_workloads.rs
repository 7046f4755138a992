//! The workloads that an object owns, and that run on. With an ordinary deletion the garbage collector deletes what an object
//! owns only after the object is gone. A controller that waits until its Pods have ended must end them itself
//! (`kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` attemptToDeleteItem).

use crate::{
    diagnose::{
        causes::operators::referenced_by::is_child,
        kinds::Workload,
        limits,
        model::{Blocker, Finding},
        view::View,
    },
    snapshot::facts::Object,
};

/// Says which workloads that were made for it do not run, and returns them for the chain. Its controller may need them for
/// its clean-up, or may have stopped them itself.
pub(super) fn add_stopped(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Blocker> {
    if object.namespace().is_empty() {
        return Vec::new();
    }
    let mut stopped = Vec::new();
    for plural in ["deployments", "statefulsets"] {
        let all = view.list("apps", plural, object.namespace()).unwrap_or_default();
        let is_stopped = |one: &&Object| {
            one.deletion().is_none() && Workload(one).replicas() == Some(0) && is_child(one, object)
        };
        stopped.extend(all.iter().filter(is_stopped));
    }
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
    let is_foreground = object
        .finalizers()
        .iter()
        .any(|finalizer| finalizer.name == "foregroundDeletion");
    if object.namespace().is_empty() || object.uid().is_empty() || is_foreground {
        return Vec::new();
    }
    let mut owned = Vec::new();
    for plural in ["deployments", "statefulsets", "daemonsets"] {
        // Workloads that could not be listed are a gap of the diagnosis.
        let all = view.list("apps", plural, object.namespace()).unwrap_or_default();
        let runs_on = |one: &&Object| {
            one.deletion().is_none()
                && one.is_owned_by(object.uid())
                && Workload(one).replicas().is_none_or(|count| count > 0)
                && Workload(one).wanted_nodes().is_none_or(|count| count > 0)
        };
        owned.extend(all.iter().filter(runs_on));
    }
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
    let shown = owned.iter().take(limits::NAMES_IN_SENTENCE);
    shown
        .map(|one| super::only_named(one.reference(), "belongs to it, and runs on".to_owned()))
        .collect()
}
