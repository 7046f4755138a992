//! The Pods that were made for an object, and that do not end, do not start, or are on a node that is not ready.

use std::collections::BTreeSet;

use super::owned_workloads;
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
    let all = pods_beside(object, view);
    let mut found: Vec<_> = all
        .iter()
        .filter_map(|pod| Some((*pod, trouble(pod)?)))
        .enumerate()
        .filter(|(at, (pod, _))| {
            is_child(pod, object)
                || is_part(pod, object)
                || *at < limits::PODS_FOLLOWED_UP && is_descendant(pod, object, view)
        })
        .map(|(_, found)| found)
        .collect();
    found.extend(on_silent_nodes(&all, object, view));
    // A Pod that waits for a volume or a secret says so only in its events.
    let starting = |pod: &&&Object| Pod(pod).phase() == "Pending" && trouble(pod).is_none();
    let own = all
        .iter()
        .filter(starting)
        .copied()
        .filter(|pod| is_child(pod, object));
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

/// The Pods in its namespace. Those of an object without a namespace are in the namespaces of its workloads. What could not be
/// listed is a gap of the diagnosis.
fn pods_beside<'a>(object: &Object, view: &View<'a>) -> Vec<&'a Object> {
    let places = match object.namespace() {
        "" => owned_workloads::namespaces_of_owned(object, view),
        own => BTreeSet::from([own.to_owned()]),
    };
    let places = places.iter().take(limits::NAMES_IN_SENTENCE);
    places
        .flat_map(|place| view.list("", "pods", place).unwrap_or_default())
        .collect()
}

/// The Pods that were made for it, on nodes that are not ready. What such a Pod is to do there goes on only with its node.
fn on_silent_nodes<'a>(all: &[&'a Object], object: &Object, view: &View<'_>) -> Vec<(&'a Object, String)> {
    // A Pod and a Node tell it in the same way.
    let is_ready = |one: &Object| one.condition("Ready").is_none_or(|(status, ..)| status == "True");
    let is_unready = |pod: &&Object| {
        !is_ready(pod) && !Pod(pod).node().is_empty() && trouble(pod).is_none() && !Pod(pod).is_finished()
    };
    let unready = all
        .iter()
        .copied()
        .filter(is_unready)
        .take(limits::PODS_FOLLOWED_UP);
    let own = unready.filter(|pod| is_child(pod, object) || is_descendant(pod, object, view));
    let on_silent_node = own.filter_map(|pod| {
        let node = view.object("", "nodes", "", Pod(pod).node()).ok()??;
        (!is_ready(node)).then(|| (pod, format!("is on node {}, which is not ready", node.name())))
    });
    on_silent_node.collect()
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
