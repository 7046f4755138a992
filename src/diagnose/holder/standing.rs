//! The state of a workload: whether it runs, was switched off, or cannot run, and why.
//!
//! Readiness: `kubernetes/kubernetes:pkg/controller/deployment/sync.go`,
//! `pkg/controller/daemon/daemon_controller.go`; reasons of containers: `pkg/kubelet/images/types.go`,
//! `pkg/kubelet/container/sync_result.go`.

use jiff::Timestamp;

use crate::{
    command::Command,
    diagnose::{
        holder::{
            off,
            pod_template::{name_of, version_of},
            trace::{Holder, Sign, Tells, Trace},
            writer,
        },
        kinds::{Condition, Job, NotReady, Pod, Workload},
        model::Strength,
        timing,
        view::{Missing, View},
    },
    object::Age,
    snapshot::facts::{By, Object},
};

/// The state that a workload reports.
struct Standing {
    tells: Tells,
    field: &'static str,
    value: String,
    /// The time since when, if the workload reports it.
    since: Option<Timestamp>,
    /// What its Pods report as the reason why they do not run. A Pod that only is not ready may be starting.
    is_explained: bool,
    /// What shows why a container of it ended.
    shown_by: Option<Command>,
}

/// Adds the state of a workload as a sign.
pub(super) fn add_standing(object: &Object, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    let Standing {
        tells,
        field,
        value,
        since,
        is_explained,
        shown_by,
    } = standing(object, view);
    let sign = Sign::new(Trace::Workload, tells, strength, name_of(object), value);
    let is_long = since.is_some_and(|since| Age::between(since, view.now()).0 > timing::UNSEEN_CONTROLLER);
    let mut sign = sign
        .of(field)
        .about(object.reference())
        .at(since)
        .lasting(is_explained || is_long);
    sign.shown_by = shown_by;
    sign.version = version_of(object);
    let event = (tells == Tells::Off)
        .then(|| off::scale_down_event(object, holder, view))
        .flatten();
    if tells == Tells::Off {
        sign.before = off::replicas_in_annotations(object).or_else(|| event.and_then(off::replicas_in_event));
    }
    holder.add(sign);
    if let (Some(event), None) = (event, since) {
        let ago = event.last_time().map_or_else(String::new, |time| {
            format!(", {} ago", Age::between(time, view.now()))
        });
        let source = format!("Event of {}", name_of(object));
        let value = format!("{}{ago}", event.message());
        holder.add(Sign::new(Trace::Workload, Tells::Off, strength, source, value));
    }
    if tells == Tells::Failing {
        add_namespace_deletion(object, strength, holder, view);
    }
}

fn standing(object: &Object, view: &View<'_>) -> Standing {
    let now = if object.is("", "pods") {
        standing_of_pod(object, view)
    } else if object.is("batch", "jobs") {
        standing_of_job(object)
    } else {
        standing_of_replicas(object, view)
    };
    let Some(deletion) = object.deletion() else {
        return now;
    };
    let since = deletion.requested_at();
    let ends = format!("is itself being deleted, for {}", Age::between(since, view.now()));
    if now.tells == Tells::Alive {
        // Its Pods run until they are gone, which a finalizer can put off for ever.
        return Standing {
            value: format!("{}; {ends}", now.value),
            ..now
        };
    }
    Standing {
        tells: Tells::Failing,
        field: "metadata.deletionTimestamp",
        value: ends,
        since: Some(since),
        is_explained: true,
        shown_by: None,
    }
}

fn standing_of_job(job: &Object) -> Standing {
    let (tells, value) = match Job(job).active() {
        0 => (Tells::Off, "has no Pod that runs".to_owned()),
        active => (Tells::Alive, format!("{active} Pods run")),
    };
    Standing {
        tells,
        field: "status.active",
        value,
        since: None,
        is_explained: false,
        shown_by: None,
    }
}

/// Adds that the namespace of the workload is being deleted. No Pod starts there any more, whatever a workload
/// in it specifies.
fn add_namespace_deletion(workload: &Object, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    match view.object("", "namespaces", "", workload.namespace()) {
        Ok(Some(namespace)) => {
            if let Some(deletion) = namespace.deletion() {
                let ago = Age::between(deletion.requested_at(), view.now());
                let value = format!(
                    "is being deleted, for {ago}, with the holder in it: no Pod starts there any more"
                );
                let source = format!("Namespace {}", namespace.name());
                let sign = Sign::new(Trace::Home, Tells::Failing, strength, source, value).lasting(true);
                holder.add(
                    sign.about(namespace.reference())
                        .at(Some(deletion.requested_at())),
                );
            }
        }
        Ok(None) => {}
        Err(missing) => holder.add_missing(&missing),
    }
}

fn standing_of_replicas(object: &Object, view: &View<'_>) -> Standing {
    let is_daemon_set = object.is("apps", "daemonsets");
    let (wanted, ready, field) = if is_daemon_set {
        (
            Workload(object).wanted_nodes().unwrap_or_default(),
            Workload(object).ready_nodes(),
            "status.numberReady",
        )
    } else {
        (
            Workload(object).replicas().unwrap_or(1),
            Workload(object).ready_replicas(),
            "status.readyReplicas",
        )
    };
    if wanted == 0 && is_daemon_set {
        return Standing {
            tells: Tells::Off,
            field: "status.desiredNumberScheduled",
            value: "is meant to run on no node".to_owned(),
            since: None,
            is_explained: false,
            shown_by: None,
        };
    }
    if wanted == 0 {
        let scaled = writer::last_change(object, &["f:spec", "f:replicas"]);
        let who = scaled.as_ref().map_or_else(String::new, |change| {
            let ago = Age::between(change.time, view.now());
            format!(", by {} {ago} ago", change.manager)
        });
        return Standing {
            tells: Tells::Off,
            field: "spec.replicas",
            value: format!("is scaled to 0 replicas{who}"),
            since: scaled.map(|change| change.time),
            is_explained: false,
            shown_by: None,
        };
    }
    let (since, lasting) = condition_since(object, "Available", ready > 0, view);
    let mut shown_by = None;
    let (tells, why, is_explained) = if ready > 0 {
        (Tells::Alive, String::new(), false)
    } else {
        match why_not_ready(object, view) {
            Ok(Some(why)) => {
                shown_by = why.shown_by;
                (Tells::Failing, format!(": {}", why.says), why.lasts)
            }
            Ok(None) => (Tells::Failing, String::new(), false),
            Err(missing) => {
                let why = format!(": why is not known, {}", missing.in_words());
                (Tells::Failing, why, false)
            }
        }
    };
    Standing {
        tells,
        field,
        value: format!("{ready} of {wanted} ready{lasting}{why}"),
        since,
        is_explained,
        shown_by,
    }
}

/// The time since when a condition has this status, if it has it, and the same in words.
fn condition_since(
    object: &Object,
    condition: &str,
    holds: bool,
    view: &View<'_>,
) -> (Option<Timestamp>, String) {
    let since = Condition::since(object, condition, if holds { "True" } else { "False" });
    let words = since.map_or_else(String::new, |since| {
        format!(" for {}", Age::between(since, view.now()))
    });
    (since, words)
}

/// Why nothing of a workload is ready.
struct WhyNot {
    says: String,
    /// Whether it stays so by itself.
    lasts: bool,
    /// A command that shows more.
    shown_by: Option<Command>,
}

impl WhyNot {
    fn of(pod: &Object) -> Option<Self> {
        let NotReady { says, crash, lasts } = Pod(pod).why_not_ready()?;
        // What the container that ended has logged before. The log of the one that runs now may be empty.
        let shown_by = crash.map(|crash| {
            Command::of(
                "kubectl -n {} logs {} --container {} --previous --tail=50",
                [pod.namespace(), pod.name(), crash.container],
            )
        });
        Some(WhyNot {
            says,
            lasts,
            shown_by,
        })
    }
}

/// Why no Pod of the workload is ready, in the words of the first Pod that says it.
fn why_not_ready(object: &Object, view: &View<'_>) -> Result<Option<WhyNot>, Missing> {
    let selector: Vec<_> = Workload(object)
        .selected_labels()
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if !selector.is_empty() {
        let pods = view.search("", "pods", object.namespace(), By::Labels(selector.join(",")))?;
        if let Some(why) = pods.iter().find_map(WhyNot::of) {
            return Ok(Some(why));
        }
    }
    // The controller may not create Pods: no account, no room in a quota, or a namespace in deletion.
    let (status, reason, message) = object.condition("ReplicaFailure").unwrap_or_default();
    Ok((status == "True").then(|| WhyNot {
        says: format!("{reason}: {message}"),
        lasts: true,
        shown_by: None,
    }))
}

fn standing_of_pod(pod: &Object, view: &View<'_>) -> Standing {
    let ready = matches!(pod.condition("Ready"), Some(("True", _, _)));
    let (since, lasting) = condition_since(pod, "Ready", ready, view);
    let why = WhyNot::of(pod).filter(|_| !ready);
    let is_explained = why.as_ref().is_some_and(|why| why.lasts);
    let shown_by = why.as_ref().and_then(|why| why.shown_by.clone());
    let (tells, value) = if ready {
        (Tells::Alive, format!("ready{lasting}"))
    } else {
        let unready = || format!("{} and not ready{lasting}", phase(pod));
        (Tells::Failing, why.map_or_else(unready, |why| why.says))
    };
    Standing {
        tells,
        field: "status.conditions",
        value,
        since,
        is_explained,
        shown_by,
    }
}

fn phase(pod: &Object) -> &str {
    match Pod(pod).phase() {
        "" => "Pending",
        phase => phase,
    }
}
