//! The workloads that an object owns, and that run on. With an ordinary deletion the garbage collector deletes what an object
//! owns only after the object is gone. A controller that waits until its Pods have ended must end them itself
//! (`kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` attemptToDeleteItem).

use crate::{
    diagnose::{
        kinds::Workload,
        limits,
        model::{Blocker, Finding},
        view::View,
    },
    snapshot::facts::Object,
};

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
    for plural in ["deployments", "statefulsets"] {
        // Workloads that could not be listed are a gap of the diagnosis.
        let all = view.list("apps", plural, object.namespace()).unwrap_or_default();
        let runs_on = |one: &&Object| {
            one.deletion().is_none()
                && one.is_owned_by(object.uid())
                && Workload(one).replicas().is_none_or(|count| count > 0)
        };
        owned.extend(all.iter().filter(runs_on));
    }
    let Some(first) = owned.first() else {
        return Vec::new();
    };
    let runs = match owned.len() {
        1 => ", which runs on".to_owned(),
        many => format!(" and {} more, which run on", many - 1),
    };
    // A workload that runs on tells more than the probable name of the controller.
    finding.wait.said.now.insert(
        0,
        format!(
            "It owns {} {}{runs}: the garbage collector deletes what it owns only after it is gone",
            first.kind,
            first.name()
        ),
    );
    let shown = owned.iter().take(limits::NAMES_IN_SENTENCE);
    shown
        .map(|one| super::only_named(one.reference(), "is owned by it, and runs on".to_owned()))
        .collect()
}
