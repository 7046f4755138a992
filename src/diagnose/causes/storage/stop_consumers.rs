//! The steps that stop the Pods that use a claim, for the causes of claims and volumes.
//!
//! **Recognises** nothing by itself. **Why:** a Pod with an owner comes back if it is only deleted. A StatefulSet may
//! delete the claims of all its Pods when it is scaled down (`persistentVolumeClaimRetentionPolicy.whenScaled`,
//! `kubernetes/kubernetes:pkg/controller/statefulset/stateful_pod_control.go`). **Wants** ReplicaSets and
//! StatefulSets by name. **Advises** to delete finished Pods first, then to stop the owners of the others. A step
//! that deletes claims begins with DATA LOSS.

use std::collections::BTreeMap;

use crate::{
    command::Command,
    diagnose::{
        causes::release,
        kinds::{Pod, Workload},
        limits,
        model::{Safety, Step, When},
        view::{Missing, View},
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// The steps that stop the users of a claim, finished Pods first. Only the first owners get a step of their own.
pub(crate) fn steps(claim: &Object, users: &[&Object], view: &View<'_>) -> Vec<Step> {
    let namespace = claim.namespace();
    let present = users.iter().copied().filter(|pod| pod.deletion().is_none());
    let (finished, running): (Vec<&Object>, Vec<&Object>) =
        present.partition(|pod| Pod(pod).is_finished() && !is_recreated(pod));
    let released = release::by_whole_end_of(claim, view);
    let let_go = |step| release::letting_go(step, released.clone());
    let mut steps = Vec::new();
    if !finished.is_empty() {
        let names: Vec<_> = finished
            .iter()
            .take(limits::NAMES_IN_COMMAND)
            .map(|pod| pod.name())
            .collect();
        let rest = finished.len() - names.len();
        let more = if rest > 0 {
            format!(", {} at a time, {rest} more after these", names.len())
        } else {
            String::new()
        };
        steps.push(let_go(Step {
            when: When::Intended,
            text: format!("delete the finished pods{more}; their logs go with them"),
            command: Some(Command::of("kubectl -n {} delete pod", [namespace]).arguments(names)),
            safety: Safety::Safe,
            lets_go: Vec::new(),
        }));
    }
    let mut owners: BTreeMap<ObjectRef, &Object> = BTreeMap::new();
    for pod in running {
        owners.entry(top_owner(pod, view)).or_insert(pod);
    }
    let rest = owners.len().saturating_sub(limits::OWNERS);
    steps.extend(
        owners
            .iter()
            .take(limits::OWNERS)
            .map(|(owner, pod)| let_go(stop_step(pod, owner, namespace, view))),
    );
    if rest > 0 {
        let text = format!("see who else uses it: {rest} more pods or owners of pods must stop, too");
        steps.push(see_step(&claim.resource.name(), claim.name(), namespace, text));
    }
    for pod in users
        .iter()
        .filter(|pod| pod.deletion().is_some())
        .take(limits::OWNERS)
    {
        steps.push(Step {
            when: When::Intended,
            text: format!(
                "see why pod {} does not go, which is being deleted already",
                pod.name()
            ),
            command: Some(Command::explain("pod", pod.name(), namespace)),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
    }
    steps
}

/// Whether its owner creates a new Pod of the same name when this one is deleted.
fn is_recreated(pod: &Object) -> bool {
    pod.controller()
        .is_some_and(|(kind, _)| matches!(kind, "StatefulSet" | "DaemonSet"))
}

/// The owner that creates the Pod. A Deployment usually creates the ReplicaSet, and undoes any change of it. The kind
/// is empty if the ReplicaSet could not be read.
fn top_owner(pod: &Object, view: &View<'_>) -> ObjectRef {
    let named = |kind: &str, name: &str| ObjectRef {
        kind: kind.to_owned(),
        name: name.to_owned(),
        ..ObjectRef::default()
    };
    match pod.controller() {
        Some(("ReplicaSet", name)) => match view.object("apps", "replicasets", pod.namespace(), name) {
            Ok(set) => {
                let above = set.and_then(Object::controller);
                above.map_or_else(|| named("ReplicaSet", name), |(kind, name)| named(kind, name))
            }
            Err(_) => named("", name),
        },
        Some((kind, name)) => named(kind, name),
        None => named("Pod", pod.name()),
    }
}

/// Whether scaling a StatefulSet down deletes the claims of its pods
/// (`persistentVolumeClaimRetentionPolicy.whenScaled`), and with them perhaps their disks.
fn scaling_deletes_claims(owner: &ObjectRef, namespace: &str, view: &View<'_>) -> Result<bool, Missing> {
    if owner.kind != "StatefulSet" {
        return Ok(false);
    }
    let set = view.object("apps", "statefulsets", namespace, &owner.name)?;
    Ok(set.is_some_and(|set| Workload(set).claims_when_scaled() == "Delete"))
}

/// The step that shows an owner that no one command stops.
fn see_step(type_name: &str, name: &str, namespace: &str, text: String) -> Step {
    Step {
        when: When::Intended,
        text,
        command: Some(Command::describe(type_name, name, namespace)),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

fn stop_step(pod: &Object, owner: &ObjectRef, namespace: &str, view: &View<'_>) -> Step {
    let (kind, name) = (owner.kind.as_str(), &owner.name);
    let (text, command) = match kind {
        "" => {
            let text = format!(
                "stop what makes ReplicaSet {name}, which runs {}: who that is could not be read, and a ReplicaSet that its \
                 Deployment makes is scaled up again",
                pod.name()
            );
            return see_step("replicaset", name, namespace, text);
        }
        "StatefulSet" | "Deployment" | "ReplicaSet" | "ReplicationController" => (
            format!("stop {kind} {name}, which runs {}", pod.name()),
            Command::scale(&kind.to_lowercase(), name, namespace, 0),
        ),
        "Job" => (
            format!(
                "suspend Job {name}, which runs {}: its pods go, and it can be resumed",
                pod.name()
            ),
            Command::of(
                "kubectl -n {} patch job {} -p {}",
                [namespace, name, r#"{"spec":{"suspend":true}}"#],
            ),
        ),
        "Pod" => (
            format!(
                "stop pod {}. It has no owner and will not come back. Data outside of volumes is LOST",
                pod.name()
            ),
            Command::of("kubectl -n {} delete pod {}", [namespace, pod.name()]),
        ),
        _ => {
            let text = format!(
                "see how to stop {kind} {name}, which owns {}: a pod that is only deleted comes back",
                pod.name()
            );
            return see_step(&kind.to_lowercase(), name, namespace, text);
        }
    };
    let (text, safety) = match scaling_deletes_claims(owner, namespace, view) {
        _ if kind == "Pod" => (text, Safety::Destructive),
        Ok(false) => (text, Safety::Reversible),
        Ok(true) => (
            format!(
                "DATA LOSS: {text}. Its persistentVolumeClaimRetentionPolicy deletes the claims of ALL its pods when it is \
                 scaled down; set whenScaled to Retain first if they shall stay"
            ),
            Safety::Destructive,
        ),
        Err(missing) => (
            format!(
                "DATA LOSS is possible: {text}. Its persistentVolumeClaimRetentionPolicy is not known: {}. With whenScaled \
                 Delete it deletes the claims of all its pods",
                missing.in_words()
            ),
            Safety::Destructive,
        ),
    };
    Step {
        when: When::Intended,
        text,
        command: Some(command),
        safety,
        lets_go: Vec::new(),
    }
}
