//! How a workload stands: whether it runs, was switched off, or cannot run, and why.
//!
//! Readiness: `kubernetes/kubernetes:pkg/controller/deployment/sync.go`, `pkg/controller/daemon/daemon_controller.go`; reasons
//! of containers: `pkg/kubelet/images/types.go`, `pkg/kubelet/container/sync_result.go`.

use super::{
    off,
    trace::{Holder, Sign, Tells, Trace},
    workload::{labels, name_of},
    writer::{self, Change},
};
use crate::{
    diagnose::{model::Strength, view::View},
    object::Age,
    snapshot::facts::{By, Object},
};

/// How a workload stands, as one sign.
pub(super) fn state(object: &Object, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    let mut since = None;
    let (tells, value) = if let Some(deletion) = object.deletion() {
        let ago = Age::between(deletion.requested_at(), view.now());
        (Tells::Failing, format!("is itself being deleted, for {ago}"))
    } else if object.is("", "pods") {
        of_pod(object)
    } else if object.is("batch", "jobs") {
        match object.number("/status/active").unwrap_or_default() {
            0 => (Tells::Off, "has no Pod that runs".to_owned()),
            active => (Tells::Alive, format!("{active} Pods run")),
        }
    } else {
        let scaled = writer::last_change(object, &["fieldsV1", "f:spec", "f:replicas"]);
        since = scaled.as_ref().map(|change| change.time);
        of_replicas(object, scaled.as_ref(), view)
    };
    let sign = Sign::new(Trace::Workload, tells, strength, name_of(object), value);
    let mut sign = sign.about(object.reference()).at(since);
    let event = (tells == Tells::Off)
        .then(|| off::scaled_down(object, holder, view))
        .flatten();
    if tells == Tells::Off {
        sign.before = off::remembered(object).or_else(|| event.and_then(off::before));
    }
    holder.add(sign);
    if let (Some(event), None) = (event, since) {
        let ago = off::happened(event).map_or_else(String::new, |time| {
            format!(", {} ago", Age::between(time, view.now()))
        });
        let source = format!("Event of {}", name_of(object));
        let value = format!("{}{ago}", event.text("/message"));
        holder.add(Sign::new(Trace::Workload, Tells::Off, strength, source, value));
    }
    if tells == Tells::Failing {
        home(object, strength, holder, view);
    }
}

/// Nothing starts in a namespace that is being deleted, whatever a workload in it is told.
fn home(workload: &Object, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    match view.object("", "namespaces", "", workload.namespace()) {
        Ok(Some(namespace)) => {
            if let Some(deletion) = namespace.deletion() {
                let ago = Age::between(deletion.requested_at(), view.now());
                let value = format!(
                    "is being deleted, for {ago}, with the holder in it: no Pod starts there any more"
                );
                let source = format!("Namespace {}", namespace.name());
                let sign = Sign::new(Trace::Home, Tells::Failing, strength, source, value);
                holder.add(
                    sign.about(namespace.reference())
                        .at(Some(deletion.requested_at())),
                );
            }
        }
        Ok(None) => {}
        Err(missing) => holder.miss(&missing),
    }
}

fn of_replicas(object: &Object, scaled: Option<&Change>, view: &View<'_>) -> (Tells, String) {
    let (wanted, ready) = if object.is("apps", "daemonsets") {
        (
            object
                .number("/status/desiredNumberScheduled")
                .unwrap_or_default(),
            object.number("/status/numberReady").unwrap_or_default(),
        )
    } else {
        (
            object.number("/spec/replicas").unwrap_or(1),
            object.number("/status/readyReplicas").unwrap_or_default(),
        )
    };
    if wanted == 0 && object.is("apps", "daemonsets") {
        return (Tells::Off, "is meant to run on no node".to_owned());
    }
    if wanted == 0 {
        let who = scaled.map_or_else(String::new, |change| {
            let ago = Age::between(change.time, view.now());
            format!(", by {} {ago} ago", change.manager)
        });
        return (Tells::Off, format!("is scaled to 0 replicas{who}"));
    }
    if ready > 0 {
        return (Tells::Alive, format!("{ready} of {wanted} ready"));
    }
    (
        Tells::Failing,
        format!("0 of {wanted} ready{}", why_not(object, view)),
    )
}

/// Why none of its Pods is ready, in the words of the first that says so.
fn why_not(object: &Object, view: &View<'_>) -> String {
    let selector: Vec<_> = labels(object, "/spec/selector/matchLabels")
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if !selector.is_empty() {
        match view.search("", "pods", object.namespace(), By::Labels(selector.join(","))) {
            Ok(pods) => {
                if let Some(said) = pods.iter().find_map(trouble) {
                    return format!(": {said}");
                }
            }
            Err(missing) => return format!(": why is not known, {}", missing.in_words()),
        }
    }
    // Nothing may create its Pods: no account, no room in a quota, a namespace that goes.
    let (status, reason, message) = object.condition("ReplicaFailure").unwrap_or_default();
    if status == "True" {
        format!(": {reason}: {message}")
    } else {
        String::new()
    }
}

fn of_pod(pod: &Object) -> (Tells, String) {
    match pod.condition("Ready") {
        Some(("True", _, _)) => (Tells::Alive, "ready".to_owned()),
        _ => match trouble(pod) {
            Some(said) => (Tells::Failing, said),
            None => (Tells::Failing, format!("{} and not ready", phase(pod))),
        },
    }
}

fn phase(pod: &Object) -> &str {
    match pod.text("/status/phase") {
        "" => "Pending",
        phase => phase,
    }
}

/// What keeps a Pod from running, literally: people search for these words.
fn trouble(pod: &Object) -> Option<String> {
    let waiting = pod
        .list("/status/initContainerStatuses")
        .iter()
        .chain(pod.list("/status/containerStatuses"))
        .filter_map(|container| container.pointer("/state/waiting"))
        .find_map(|waiting| {
            let field = |name: &str| {
                waiting
                    .get(name)
                    .and_then(serde_json::Value::as_str)
                    .unwrap_or_default()
            };
            let reason = field("reason");
            // What every Pod goes through is no trouble.
            (!matches!(reason, "" | "ContainerCreating" | "PodInitializing")).then(|| {
                match field("message") {
                    "" => reason.to_owned(),
                    message => format!("{reason}: {message}"),
                }
            })
        });
    waiting.or_else(|| {
        let (status, reason, message) = pod.condition("PodScheduled")?;
        (status == "False").then(|| format!("{reason}: {message}"))
    })
}
