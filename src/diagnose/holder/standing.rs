//! How a workload stands: whether it runs, was switched off, or cannot run, and why.
//!
//! Readiness: `kubernetes/kubernetes:pkg/controller/deployment/sync.go`, `pkg/controller/daemon/daemon_controller.go`; reasons
//! of containers: `pkg/kubelet/images/types.go`, `pkg/kubelet/container/sync_result.go`.

use jiff::Timestamp;

use crate::{
    diagnose::{
        holder::{
            off,
            trace::{Holder, Sign, Tells, Trace},
            workload::{labels, name_of},
            writer,
        },
        model::Strength,
        view::View,
    },
    object::Age,
    snapshot::facts::{By, Object},
};

/// What a workload says of itself.
struct Standing {
    tells: Tells,
    field: &'static str,
    value: String,
    /// Since when, if it says that.
    since: Option<Timestamp>,
}

/// How a workload stands, as one sign.
pub(super) fn state(object: &Object, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    let Standing {
        tells,
        field,
        value,
        since,
    } = standing(object, view);
    let sign = Sign::new(Trace::Workload, tells, strength, name_of(object), value);
    let mut sign = sign.of(field).about(object.reference()).at(since);
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

fn standing(object: &Object, view: &View<'_>) -> Standing {
    if let Some(deletion) = object.deletion() {
        let since = deletion.requested_at();
        return Standing {
            tells: Tells::Failing,
            field: "metadata.deletionTimestamp",
            value: format!("is itself being deleted, for {}", Age::between(since, view.now())),
            since: Some(since),
        };
    }
    if object.is("", "pods") {
        of_pod(object, view)
    } else if object.is("batch", "jobs") {
        of_job(object)
    } else {
        of_replicas(object, view)
    }
}

fn of_job(job: &Object) -> Standing {
    let (tells, value) = match job.number("/status/active").unwrap_or_default() {
        0 => (Tells::Off, "has no Pod that runs".to_owned()),
        active => (Tells::Alive, format!("{active} Pods run")),
    };
    Standing {
        tells,
        field: "status.active",
        value,
        since: None,
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

fn of_replicas(object: &Object, view: &View<'_>) -> Standing {
    let of_each_node = object.is("apps", "daemonsets");
    let (wanted, ready, field) = if of_each_node {
        (
            object
                .number("/status/desiredNumberScheduled")
                .unwrap_or_default(),
            object.number("/status/numberReady").unwrap_or_default(),
            "status.numberReady",
        )
    } else {
        (
            object.number("/spec/replicas").unwrap_or(1),
            object.number("/status/readyReplicas").unwrap_or_default(),
            "status.readyReplicas",
        )
    };
    if wanted == 0 && of_each_node {
        return Standing {
            tells: Tells::Off,
            field: "status.desiredNumberScheduled",
            value: "is meant to run on no node".to_owned(),
            since: None,
        };
    }
    if wanted == 0 {
        let scaled = writer::last_change(object, &["fieldsV1", "f:spec", "f:replicas"]);
        let who = scaled.as_ref().map_or_else(String::new, |change| {
            let ago = Age::between(change.time, view.now());
            format!(", by {} {ago} ago", change.manager)
        });
        return Standing {
            tells: Tells::Off,
            field: "spec.replicas",
            value: format!("is scaled to 0 replicas{who}"),
            since: scaled.map(|change| change.time),
        };
    }
    let (since, lasting) = lasting(object, "Available", ready > 0, view);
    let (tells, why) = if ready > 0 {
        (Tells::Alive, String::new())
    } else {
        (Tells::Failing, why_not(object, view))
    };
    Standing {
        tells,
        field,
        value: format!("{ready} of {wanted} ready{lasting}{why}"),
        since,
    }
}

/// Since when a condition has been so, if it is so; and the same in words.
fn lasting(object: &Object, condition: &str, holds: bool, view: &View<'_>) -> (Option<Timestamp>, String) {
    let since = object.since(condition, if holds { "True" } else { "False" });
    let words = since.map_or_else(String::new, |since| {
        format!(" for {}", Age::between(since, view.now()))
    });
    (since, words)
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

fn of_pod(pod: &Object, view: &View<'_>) -> Standing {
    let ready = matches!(pod.condition("Ready"), Some(("True", _, _)));
    let (since, lasting) = lasting(pod, "Ready", ready, view);
    let (tells, value) = if ready {
        (Tells::Alive, format!("ready{lasting}"))
    } else {
        let why = trouble(pod).unwrap_or_else(|| format!("{} and not ready{lasting}", phase(pod)));
        (Tells::Failing, why)
    };
    Standing {
        tells,
        field: "status.conditions",
        value,
        since,
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
