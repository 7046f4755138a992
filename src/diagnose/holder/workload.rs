//! What a holder runs as: Deployments and the like by name and labels, and how they stand.
//!
//! A Deployment of the right name may belong to somebody else, and a chart may have given ours another name. So it
//! is taken for the holder only if a second thing fits (labels, or the namespace it usually runs in), and it counts
//! as gone only if nothing fits at all, neither by name nor by labels, in any namespace. Readiness:
//! `kubernetes/kubernetes:pkg/controller/deployment/sync.go`, `pkg/controller/daemon/daemon_controller.go`; reasons of
//! containers: `pkg/kubelet/images/types.go`, `pkg/kubelet/container/sync_result.go`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    trace::{Holder, Sign, Tells, Trace},
    writer::{self, Change},
};
use crate::{
    diagnose::{
        model::Strength,
        view::{Missing, View},
    },
    knowledge::{Entry, Workload, WorkloadKind, schema::glob},
    object::Age,
    snapshot::{
        facts::{By, Object},
        selector::Selector,
    },
};

/// Looks for every workload that the entry names.
pub(super) fn look(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let named: Vec<_> = entry
        .holder
        .workloads
        .iter()
        .filter(|one| is_findable(one))
        .collect();
    let before = holder.signs.len();
    let mut complete = !named.is_empty();
    for workload in &named {
        if let Err(missing) = one(workload, entry, holder, view) {
            complete = false;
            holder.miss(&missing);
        }
    }
    if complete && holder.signs.len() == before {
        let all: Vec<_> = named.iter().map(|workload| described(workload)).collect();
        holder.add(Sign::new(
            Trace::Workload,
            Tells::Gone,
            Strength::Strong,
            "workloads in all namespaces",
            format!("none is {}", all.join(" or ")),
        ));
    }
}

/// A container's name alone, or a name for each driver, is nothing to look for in a whole cluster.
fn is_findable(workload: &Workload) -> bool {
    let fixed = workload.name.as_deref().is_some_and(|name| !name.contains('{'));
    fixed || workload.selector.is_some()
}

fn described(workload: &Workload) -> String {
    let kind = kind(workload.kind).2;
    match (&workload.name, &workload.selector) {
        (Some(name), _) => format!("{kind} {name}"),
        (None, Some(selector)) => format!("{kind} with {selector}"),
        (None, None) => kind.to_owned(),
    }
}

/// Group, plural, kind.
fn kind(kind: WorkloadKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        WorkloadKind::Deployment => ("apps", "deployments", "Deployment"),
        WorkloadKind::StatefulSet => ("apps", "statefulsets", "StatefulSet"),
        WorkloadKind::DaemonSet => ("apps", "daemonsets", "DaemonSet"),
        WorkloadKind::Job => ("batch", "jobs", "Job"),
        WorkloadKind::Pod => ("", "pods", "Pod"),
    }
}

fn one(workload: &Workload, entry: &Entry, holder: &mut Holder, view: &View<'_>) -> Result<(), Missing> {
    let (group, plural, _) = kind(workload.kind);
    let namespace = workload.namespace.as_deref().unwrap_or_default();
    let mut found: BTreeMap<&str, &Object> = BTreeMap::new();
    // Both questions are asked before the first answer is used: they go out together.
    let by_name = match &workload.name {
        Some(name) if name.contains('*') => view
            .list(group, plural, namespace)
            .map(|all| all.iter().filter(|object| glob(name, object.name())).collect()),
        Some(name) => view
            .search(group, plural, namespace, By::Name(name.clone()))
            .map(|all| all.iter().collect()),
        None => Ok(Vec::new()),
    };
    let is_general = workload.name.as_deref().is_some_and(|name| name.contains('*'));
    let by_labels = match &workload.selector {
        // Where the name is open the labels alone say too little.
        Some(selector) if !is_general => view.search(group, plural, namespace, By::Labels(selector.clone())),
        _ => Ok(&[][..]),
    };
    let by_name: Vec<&Object> = by_name?;
    for object in by_name.into_iter().chain(by_labels?) {
        found.insert(object.uid(), object);
    }
    for object in found.into_values() {
        if fits(object, workload, entry) {
            state(object, Strength::Strong, holder, view);
        } else {
            holder.add(
                Sign::new(
                    Trace::Workload,
                    Tells::Nothing,
                    Strength::Hint,
                    name_of(object),
                    "has its name, but may be another's",
                )
                .about(object.reference()),
            );
        }
    }
    Ok(())
}

/// Whether it is the holder's and not something of the same name.
fn fits(object: &Object, workload: &Workload, entry: &Entry) -> bool {
    let name = workload
        .name
        .as_deref()
        .is_none_or(|name| glob(name, object.name()));
    let labels = workload
        .selector
        .as_deref()
        .and_then(|selector| Selector::parse(selector).ok())
        .map(|selector| {
            selector.matches(&labels(object, "/spec/template/metadata/labels"))
                || selector.matches(&labels(object, "/metadata/labels"))
        });
    let at_home = entry
        .holder
        .namespaces
        .iter()
        .any(|home| glob(home, object.namespace()));
    match labels {
        Some(fit) => fit,
        None => name && (at_home || workload.namespace.is_some()),
    }
}

fn labels(object: &Object, pointer: &str) -> BTreeMap<String, String> {
    let labels = object
        .value
        .pointer(pointer)
        .and_then(serde_json::Value::as_object);
    let text = |(key, value): (&String, &serde_json::Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}

/// `Deployment cert-manager/cert-manager`.
pub(super) fn name_of(object: &Object) -> String {
    format!("{} {}/{}", object.kind, object.namespace(), object.name())
}

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
        .then(|| scaled_down(object, holder, view))
        .flatten();
    if tells == Tells::Off {
        sign.before = remembered(object).or_else(|| event.and_then(before));
    }
    holder.add(sign);
    if let (Some(event), None) = (event, since) {
        let ago = happened(event).map_or_else(String::new, |time| {
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

/// The Event that tells when it was switched off. Whoever scales to zero leaves no trace in managedFields: a Scale without
/// replicas owns no field (`kubernetes/api:autoscaling/v1/types.go`, `omitempty`). But the Deployment's controller says what
/// it did.
fn scaled_down<'a>(workload: &Object, holder: &mut Holder, view: &'a View<'_>) -> Option<&'a Object> {
    let events = match view.events(workload) {
        Ok(events) => events,
        Err(missing) => {
            holder.wait_for(&missing);
            return None;
        }
    };
    events
        .iter()
        .filter(|event| {
            event.text("/reason") == "ScalingReplicaSet" && event.text("/message").contains("to 0")
        })
        .max_by_key(|event| happened(event))
}

fn happened(event: &Object) -> Option<Timestamp> {
    event.time("/lastTimestamp").or_else(|| event.time("/eventTime"))
}

/// How many there were by that Event: `Scaled down replica set a-1 from 3 to 0`, once `… to 0 from 3`
/// (`kubernetes/kubernetes:pkg/controller/deployment/sync.go`).
fn before(event: &Object) -> Option<(i64, &'static str)> {
    let (_, from) = event.text("/message").split_once(" from ")?;
    let count = from.split(' ').next()?.parse().ok()?;
    Some((count, "as the Event of its scaling says"))
}

/// How many there were by what its annotations remember: what was applied, and what tools note that scale to zero and
/// back (`openshift/api`: idling; `caas-team/py-kube-downscaler`).
fn remembered(workload: &Object) -> Option<(i64, &'static str)> {
    let count = |name: &str| workload.annotation(name).parse().ok();
    let noted = [
        "idling.alpha.openshift.io/previous-scale",
        "downscaler/original-replicas",
    ];
    if let Some(count) = noted.into_iter().find_map(count).filter(|count| *count > 0) {
        return Some((count, "as its annotation remembers"));
    }
    let applied = workload.annotation("kubectl.kubernetes.io/last-applied-configuration");
    let applied: serde_json::Value = serde_json::from_str(applied).ok()?;
    // An applied configuration without a number leaves it at one.
    let count = applied["spec"]["replicas"].as_i64().unwrap_or(1);
    (count > 0).then_some((count, "as its last applied configuration says"))
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
