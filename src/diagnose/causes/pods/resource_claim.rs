//! `resource.kubernetes.io/delete-protection`: a ResourceClaim whose devices Pods have reserved.
//!
//! # Symptom
//!
//! A ResourceClaim stays in deletion, with the finalizer `resource.kubernetes.io/delete-protection`. Its
//! `status.reservedFor` names pods.
//!
//! ```text
//! $ kubectl finalizers explain resourceclaims/gpu -n shop --from tests/causes/pods.yaml
//! ```
//!
//! # Why
//!
//! The controller removes the finalizer when `status.reservedFor` is empty, and clears the allocation before. It drops
//! a pod from that list if the pod is gone, was replaced or has finished. It also drops a pod in deletion that never
//! had a node. A pod in deletion that still runs stays in the list. The controller never drops an entry of another kind
//! than Pod (or `PodGroup`, if that feature is on).
//!
//! # Before you act
//!
//! This is no fault. See which pods use the device, and who owns them.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn. The pods keep the device while they run. Create the claim again under another name
//! for new pods.
//!
//! # If it was intended
//!
//! Stop the pods. Scale their owner to zero, because an owner replaces a pod that is only deleted.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The scheduler would give the device to another pod while the first still uses
//! it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | a pod that runs is in the list |
//! | waiting | an entry must be dropped by somebody else |
//! | stalled | the list is empty, and the controller has not acted |
//!
//! # What it reads
//!
//! The pods of the list and their owners.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/resourceclaim/controller.go` syncClaim, isPodDone

use serde_json::json;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            storage::{pvc_protection, stop_consumers},
        },
        kinds::{Consumer, Pod, ResourceClaim},
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        view::{Missing, View},
    },
    object::{Finalizer, join_group},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("resource.k8s.io", "resourceclaims")],
    finalizer: On::Named("resource.kubernetes.io/delete-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(reserved),
};

/// The consumers in `status.reservedFor`.
#[derive(Default)]
struct Consumers<'a> {
    pods: Vec<&'a Object>,
    /// The entries that the controller does not drop: their index in the list, and what they name.
    others: Vec<(usize, String)>,
    /// Why a Pod could not be read, if one could not.
    unread: Option<Missing>,
    /// How many entries the controller drops at its next sync.
    droppable: usize,
}

fn reserved(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(claim, finalizer, None, view);
    let entries = ResourceClaim(claim).consumers();
    let consumers = consumers(claim, view);
    let says = holder
        .removes("kube-controller-manager")
        .part("resourceclaim controller")
        .once("nobody is left in status.reservedFor");
    let users = users(&consumers, view);
    let (mut finding, standing) = in_use::finding(claim, finalizer, &holder, says, users, view);
    if standing == Standing::NotSeen {
        finding.wait.on.extend(entries_of_others(&consumers));
    } else if let Some(missing) = &consumers.unread {
        finding.say(format!(
            "whether more of its pods use it is not known: {}",
            missing.in_words()
        ));
    }
    finding.evidence.push(Evidence {
        source: format!("ResourceClaim {} status.reservedFor", claim.name()),
        value: format!(
            "{} entries; {} pods that still count",
            entries.len(),
            consumers.pods.len()
        ),
        strength: Strength::Proof,
    });
    add_advice(&mut finding, claim, &consumers, standing, view);
    finding.do_not.push(format!(
        "remove {} by hand: the scheduler forgets that the device is taken, and may give it to a second pod while the \
         first still uses it",
        finalizer.name
    ));
    finding
}

/// Who uses the device: Pods, and entries that the controller never drops.
fn users(consumers: &Consumers<'_>, view: &View<'_>) -> Users {
    let others = entries_of_others(consumers);
    match &consumers.unread {
        _ if !consumers.pods.is_empty() => {
            let mut blockers = pvc_protection::blockers(&consumers.pods, view);
            blockers.extend(others);
            Users::Found(Verdict::InUse, blockers)
        }
        Some(missing) => Users::not_seen("whether its pods still use it", missing),
        None if consumers.droppable > 0 => Users::of(
            others.collect(),
            Verdict::Waiting,
            "all that it names have finished or are gone, and are dropped by the next look",
        ),
        None => Users::of(others.collect(), Verdict::Waiting, "nobody is"),
    }
}

/// The entries that the controller does not drop.
fn entries_of_others(consumers: &Consumers<'_>) -> impl Iterator<Item = Blocker> {
    consumers.others.iter().map(|(place, name)| {
        let says = format!(
            "status.reservedFor[{place}] names {name}, and Kubernetes never drops such an entry: whoever wrote it must"
        );
        Blocker::new(None, says)
    })
}

fn consumers<'a>(claim: &Object, view: &View<'a>) -> Consumers<'a> {
    let mut consumers = Consumers::default();
    let entries = ResourceClaim(claim).consumers().enumerate();
    for (place, entry) in entries.take(limits::CONSUMERS) {
        let (group, resource, name) = (entry.group(), entry.plural(), entry.name());
        if (group, resource) != ("", "pods") {
            consumers
                .others
                .push((place, format!("{} {name}", join_group(resource, group))));
            continue;
        }
        match view.object("", "pods", claim.namespace(), name) {
            Ok(Some(pod)) if pod.uid() == entry.uid() && !is_done(pod) => consumers.pods.push(pod),
            Ok(_) => consumers.droppable += 1,
            Err(missing) => consumers.unread = Some(missing),
        }
    }
    consumers
}

/// Whether the controller drops the Pod, by its own predicate (isPodDone).
fn is_done(pod: &Object) -> bool {
    Pod(pod).is_finished() || pod.deletion().is_some() && Pod(pod).node().is_empty()
}

fn add_advice(
    finding: &mut Finding,
    claim: &Object,
    consumers: &Consumers<'_>,
    standing: Standing,
    view: &View<'_>,
) {
    let is_being_deleted = claim.deletion().is_some();
    if !consumers.pods.is_empty() {
        let when = if is_being_deleted {
            Moment::NothingDone
        } else {
            Moment::DeletedNow
        };
        finding.outlook.push(Outlook {
            when,
            then: "it stays, Terminating, and its pods keep the device, until they have finished; no new pod can use the claim"
                .into(),
        });
    }
    if !is_being_deleted {
        return;
    }
    finding
        .steps
        .extend(stop_consumers::steps(claim, &consumers.pods, view));
    for (place, name) in &consumers.others {
        finding.steps.push(drop_entry(claim, *place, name));
    }
    if standing == Standing::Late {
        finding.steps.push(advice::nudge(claim));
    }
}

/// The step that drops an entry, as its writer would.
fn drop_entry(claim: &Object, place: usize, name: &str) -> Step {
    let entry = ResourceClaim::consumer_pointer(place);
    let uid = ResourceClaim(claim)
        .consumers()
        .nth(place)
        .map_or("", Consumer::uid);
    let operations = json!([
        {"op": "test", "path": format!("{entry}/uid"), "value": uid},
        {"op": "remove", "path": entry},
    ]);
    Step {
        when: When::WriterGone,
        text: format!(
            "DEVICE GIVEN AWAY while it is in use, unless {name} has really stopped using it: drop this one entry. With no \
             entry left the controller clears the allocation and finishes by itself"
        ),
        command: Some(Command::of(
            "kubectl -n {} patch resourceclaim {} --subresource=status --type=json -p {}",
            [claim.namespace(), claim.name(), &operations.to_string()],
        )),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::diagnose::testing::{
        told::{commands, said, verdict},
        world::{World, bare as object},
    };

    const NAME: &str = "resource.kubernetes.io/delete-protection";

    fn claim(reserved: &Value) -> Object {
        object(
            "resource.k8s.io",
            "resourceclaims",
            "ResourceClaim",
            json!({"metadata": {"name": "gpu", "namespace": "n", "uid": "c", "finalizers": [NAME],
                "deletionTimestamp": "2026-01-01T11:00:00Z"}, "status": {"reservedFor": reserved}}),
        )
    }

    fn pod(uid: &str, phase: &str) -> Object {
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "p", "namespace": "n", "uid": uid}, "spec": {"nodeName": "a"},
                "status": {"phase": phase}}),
        )
    }

    #[test]
    fn a_pod_counts_while_it_runs_with_the_same_uid() {
        let entry = json!([{"resource": "pods", "name": "p", "uid": "1"}]);
        for (pod, expected) in [
            (Some(pod("1", "Running")), Verdict::InUse),
            (Some(pod("1", "Succeeded")), Verdict::Stalled),
            (Some(pod("2", "Running")), Verdict::Stalled),
            (None, Verdict::Stalled),
        ] {
            let diagnosis = World::closed()
                .object("", "pods", "n", "p", pod)
                .explain(&claim(&entry));
            assert_eq!(verdict(&diagnosis, NAME), Some(expected), "{}", said(&diagnosis));
        }
        let diagnosis = World::closed().explain(&claim(&entry));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Unknown));
    }

    #[test]
    fn an_entry_of_another_kind_is_never_dropped() {
        let entry = json!([{"apiGroup": "jobs.test", "resource": "runs", "name": "r", "uid": "7"}]);
        let diagnosis = World::closed().explain(&claim(&entry));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Waiting));
        assert!(said(&diagnosis).contains("names runs.jobs.test r, and Kubernetes never drops"));
        assert!(
            commands(&diagnosis).contains("\"value\":\"7\""),
            "{}",
            commands(&diagnosis)
        );
    }
}
