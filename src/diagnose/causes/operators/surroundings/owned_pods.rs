//! The Pods that were made for an object, and that do not end or do not start.

use crate::{
    diagnose::{
        causes::{advice::explain_step, operators::referenced_by::is_child},
        kinds::Pod,
        limits,
        model::{Blocker, Finding},
        view::View,
    },
    snapshot::facts::Object,
};

/// The labels of the parts of one installation, and of the program that made them
/// (`kubernetes/website:content/en/docs/concepts/overview/working-with-objects/common-labels.md`).
const INSTANCE: &str = "app.kubernetes.io/instance";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

pub(super) fn add_pods(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    if object.namespace().is_empty() {
        return;
    }
    // Pods that could not be listed are a gap of the diagnosis.
    let Ok(all) = view.list("", "pods", object.namespace()) else {
        return;
    };
    let mut found: Vec<_> = all
        .iter()
        .filter_map(|pod| Some((pod, trouble(pod)?)))
        .enumerate()
        .filter(|(at, (pod, _))| {
            is_child(pod, object)
                || is_part(pod, object)
                || *at < limits::PODS_FOLLOWED_UP && is_descendant(pod, object, view)
        })
        .map(|(_, found)| found)
        .collect();
    // A Pod that waits for a volume or a secret says so only in its events.
    let starting = |pod: &&Object| Pod(pod).phase() == "Pending" && trouble(pod).is_none();
    let own = all.iter().filter(starting).filter(|pod| is_child(pod, object));
    found.extend(own.take(limits::STEPS_FOR_EACH).filter_map(|pod| {
        let why = super::last_warning(pod, view)?;
        Some((pod, format!("does not start: {why}")))
    }));
    if found.is_empty() {
        return;
    }
    for (pod, trouble) in found.iter().take(limits::BLOCKERS) {
        let blocker = view.blocker(pod, format!("was made for it, {trouble}"));
        super::add_blocker(finding, blocker, runs);
    }
    if found.len() > limits::BLOCKERS {
        let more = found.len() - limits::BLOCKERS;
        super::add_blocker(
            finding,
            Blocker::new(None, format!("{more} more of its Pods")),
            runs,
        );
    }
    let steps = found
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|(pod, _)| explain_step(pod, format!("see why {} {} does not go", pod.kind, pod.name())));
    finding.steps.splice(0..0, steps);
}

/// The first Pod that was made for an object and is not ready, and why.
pub(super) fn unready<'a>(object: &Object, view: &View<'a>) -> Option<(&'a Object, String)> {
    if object.namespace().is_empty() {
        return None;
    }
    let all = view.list("", "pods", object.namespace()).ok()?;
    let why = |pod| Pod(pod).why_not_ready().map(|why| why.says);
    let mut unready = all
        .iter()
        .filter(|pod| matches!(pod.condition("Ready"), Some(("False", ..))) && !Pod(pod).is_finished())
        .take(limits::PODS_FOLLOWED_UP)
        .filter_map(|pod| Some((pod, why(pod)?)));
    unready.find(|(pod, _)| is_child(pod, object) || is_descendant(pod, object, view))
}

/// Whether an operator made the Pod as a part of this object. Helm gives the same label to all of a release, and a release may
/// have the name of any object in it.
fn is_part(pod: &Object, object: &Object) -> bool {
    let labels = pod.labels();
    let is_instance = labels.get(INSTANCE).is_some_and(|name| name == object.name());
    is_instance && labels.get(MANAGED_BY).is_some_and(|program| program != "Helm")
}

/// Whether the controllers of a Pod lead to this object: a StatefulSet, or a ReplicaSet and its Deployment.
fn is_descendant(pod: &Object, object: &Object, view: &View<'_>) -> bool {
    let mut child = pod;
    for _ in 0..limits::CONTROLLERS_ABOVE_POD {
        if child.is_owned_by(object.uid()) {
            return !object.uid().is_empty();
        }
        let Some(owner) = controller_of(child, view) else {
            return false;
        };
        child = owner;
    }
    false
}

fn controller_of<'a>(child: &Object, view: &View<'a>) -> Option<&'a Object> {
    let (kind, name) = child.controller()?;
    let (group, plural) = match kind {
        "StatefulSet" => ("apps", "statefulsets"),
        "ReplicaSet" => ("apps", "replicasets"),
        "Deployment" => ("apps", "deployments"),
        "DaemonSet" => ("apps", "daemonsets"),
        "Job" => ("batch", "jobs"),
        "CronJob" => ("batch", "cronjobs"),
        _ => return None,
    };
    view.object(group, plural, child.namespace(), name).ok()?
}

/// Why a Pod does not end, or does not start. A Pod that runs as it should has no trouble.
fn trouble(pod: &Object) -> Option<String> {
    if Pod(pod).is_finished() && pod.finalizers().is_empty() {
        return None;
    }
    if pod.deletion().is_some() {
        let node = match Pod(pod).node() {
            "" => String::new(),
            node => format!(" on {node}"),
        };
        return Some(format!("is being deleted{node}, and has not ended"));
    }
    Pod(pod).problem().map(|why| format!("does not start: {why}"))
}
