//! `kubernetes.io/pvc-protection`: a claim that pods use.
//!
//! **Recognises** the finalizer on a claim. **Why:** the controller removes it when no pod of the namespace that
//! has a node names the claim, whatever the pod's phase; generic ephemeral volumes count for the pod that
//! controls their claim, unless it was shut down (`deletionGracePeriodSeconds` 0). Source:
//! `kubernetes/kubernetes:pkg/controller/volume/pvcprotection/pvc_protection_controller.go`, the same from 1.25
//! to 1.36. **Wants** the pods of the namespace, their owners, the volume and the controller manager's Lease.
//! **Concludes** `in-use` with the pods; without any `stalled`, after a minute; without the right to see pods
//! `unknown`. **Advises** to stop the users, finished ones first, and never to remove the finalizer. Says DATA LOSS
//! where stopping a StatefulSet deletes its other claims.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// More users than this are summed up.
const SHOWN: usize = 5;
/// A command line with more names than this is no command line any more.
const MANY: usize = 50;

pub(super) fn in_use(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let entry = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&claim.reference()).into()));
    let life = entry.map(|entry| holder::life(&entry, None, view));
    let alive = life
        .as_ref()
        .map(|life| format!(", {}", life.in_words()))
        .unwrap_or_default();
    let says = format!(
        "removed by kube-controller-manager (pvc-protection){alive}, once no pod that has a node names the claim"
    );
    let pods = match view.list("", "pods", claim.namespace()) {
        Ok(pods) => pods,
        Err(missing) => {
            let says = format!("{says}; whether one does is not known: {}", missing.in_words());
            return Finding::new(Some(finalizer.clone()), Verdict::Unknown, says);
        }
    };
    let users: Vec<&Object> = pods.iter().filter(|pod| uses(pod, claim)).collect();
    let verdict = if users.is_empty() {
        super::nothing_blocks(claim, view)
    } else {
        Verdict::InUse
    };
    let mut finding = Finding::new(Some(finalizer.clone()), verdict, says);
    finding.wait.on = blockers(&users, view);
    finding
        .evidence
        .extend(life.iter().filter_map(holder::Life::evidence));
    finding.evidence.push(Evidence {
        source: format!("pods in {}", claim.namespace()),
        value: format!("{} of {} have a node and name the claim", users.len(), pods.len()),
        strength: Strength::Proof,
    });
    if users.is_empty() {
        finding.say(if claim.deletion().is_some() {
            "; no pod does any more"
        } else {
            "; none does now"
        });
        finding.outlook.push(fate(claim, view));
        if verdict == Verdict::Stalled {
            finding.steps.push(super::nudge(claim));
        }
    } else {
        advise(&mut finding, claim, &users, view);
    }
    finding
}

/// The controller's own predicate.
fn uses(pod: &Object, claim: &Object) -> bool {
    if pod.text("/spec/nodeName").is_empty() {
        return false;
    }
    let shut_down = pod.deletion().is_some()
        && pod
            .number("/metadata/deletionGracePeriodSeconds")
            .unwrap_or_default()
            == 0;
    pod.list("/spec/volumes").iter().any(|volume| {
        let named = claim_of(volume) == Some(claim.name());
        let ephemeral = volume.get("ephemeral").is_some_and(Value::is_object)
            && volume
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|v| format!("{}-{v}", pod.name()) == claim.name())
            && controlled_by(claim, pod)
            && !shut_down;
        named || ephemeral
    })
}

fn claim_of(volume: &Value) -> Option<&str> {
    volume
        .pointer("/persistentVolumeClaim/claimName")
        .and_then(Value::as_str)
}

/// Whether a pod names this claim, directly or as its own ephemeral volume.
pub(super) fn names(pod: &Object, claim: &str) -> bool {
    pod.list("/spec/volumes").iter().any(|volume| {
        let ephemeral = volume.get("ephemeral").is_some_and(Value::is_object)
            && volume
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|v| format!("{}-{v}", pod.name()) == claim);
        claim_of(volume) == Some(claim) || ephemeral
    })
}

fn controlled_by(claim: &Object, pod: &Object) -> bool {
    claim.list("/metadata/ownerReferences").iter().any(|owner| {
        owner.get("controller") == Some(&Value::Bool(true))
            && owner.get("uid").and_then(Value::as_str) == Some(pod.uid())
    })
}

pub(super) fn is_finished(pod: &Object) -> bool {
    matches!(pod.text("/status/phase"), "Succeeded" | "Failed")
}

/// The pods that use a claim, as blockers of whatever waits for the claim.
pub(super) fn users<'a>(claim: &Object, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("", "pods", claim.namespace())?
        .iter()
        .filter(|pod| uses(pod, claim))
        .collect())
}

pub(super) fn blockers(users: &[&Object], view: &View<'_>) -> Vec<Blocker> {
    let mut shown: Vec<_> = users
        .iter()
        .take(SHOWN)
        .map(|pod| super::as_blocker(pod, state(pod), view))
        .collect();
    if users.len() > SHOWN {
        let finished = users.iter().skip(SHOWN).filter(|pod| is_finished(pod)).count();
        let rest = users.len() - SHOWN;
        shown.push(Blocker::new(
            None,
            format!("{rest} more pods, {finished} of them finished"),
        ));
    }
    shown
}

/// How a pod stands, in words.
fn state(pod: &Object) -> String {
    let phase = match pod.text("/status/phase") {
        "Succeeded" => "Completed, and counts as long as it exists".to_owned(),
        "Failed" => "Failed, and counts as long as it exists".to_owned(),
        "" => "in no phase yet".to_owned(),
        phase => phase.to_owned(),
    };
    let going = if pod.deletion().is_some() {
        ", being deleted"
    } else {
        ""
    };
    let owner = pod
        .controller()
        .map(|(kind, name)| format!(", owned by {kind} {name}"))
        .unwrap_or_default();
    format!("{phase} on {}{going}{owner}", pod.text("/spec/nodeName"))
}

fn advise(finding: &mut Finding, claim: &Object, users: &[&Object], view: &View<'_>) {
    let first = users.first().map(|pod| pod.name()).unwrap_or_default();
    if claim.deletion().is_none() {
        finding.outlook.push(Outlook {
            when: "if it is deleted now".into(),
            then: "it stays, Terminating, until these pods are gone; that cannot be taken back, and no new pod can use it"
                .into(),
        });
        finding.outlook.push(fate(claim, view));
        return;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays like this, and the pods keep their data".into(),
    });
    finding.outlook.push(fate(claim, view));
    finding.steps.extend(keep(claim, view));
    finding.steps.extend(release(claim, users, view));
    finding.do_not.push(format!(
        "remove kubernetes.io/pvc-protection by hand: the claim vanishes under {first}, and its volume is released"
    ));
}

/// Retain on the volume while the claim is still there: the one moment at which it is easy.
fn keep(claim: &Object, view: &View<'_>) -> Option<Step> {
    let name = Some(claim.text("/spec/volumeName")).filter(|name| !name.is_empty())?;
    let volume = view.object("", "persistentvolumes", "", name).ok().flatten()?;
    (super::volume::policy(volume) == "Delete").then(|| Step {
        when: super::MISTAKE,
        text: "keep the disk: with policy Retain nothing deletes it when the claim goes. The deletion of the claim itself \
               cannot be taken back through the API; leave the pods running until the data is safe"
            .into(),
        command: Some(super::volume::retain(volume)),
        safety: Safety::Reversible,
    })
}

/// How to make the users of a claim go, finished ones first. With many owners only the first are told.
pub(super) fn release(claim: &Object, users: &[&Object], view: &View<'_>) -> Vec<Step> {
    let namespace = claim.namespace();
    let present = users.iter().copied().filter(|pod| pod.deletion().is_none());
    let (finished, running): (Vec<&Object>, Vec<&Object>) =
        present.partition(|pod| is_finished(pod) && !comes_back(pod));
    let mut steps = Vec::new();
    if !finished.is_empty() {
        let names: Vec<_> = finished.iter().take(MANY).map(|pod| pod.name()).collect();
        let rest = finished.len() - names.len();
        let more = if rest > 0 {
            format!(", {} at a time, {rest} more after these", names.len())
        } else {
            String::new()
        };
        steps.push(Step {
            when: super::INTENDED,
            text: format!("delete the finished pods{more}; only their logs go with them"),
            command: Some(format!("kubectl -n {namespace} delete pod {}", names.join(" "))),
            safety: Safety::Safe,
        });
    }
    let mut owners: BTreeMap<ObjectRef, &Object> = BTreeMap::new();
    for pod in running {
        owners.entry(owner_of(pod, view)).or_insert(pod);
    }
    let rest = owners.len().saturating_sub(SHOWN);
    steps.extend(
        owners
            .iter()
            .take(SHOWN)
            .map(|(owner, pod)| stop(pod, owner, namespace, view)),
    );
    if rest > 0 {
        steps.push(Step {
            when: super::INTENDED,
            text: format!("stop {rest} more pods or owners of pods that use the claim, and look again"),
            command: None,
            safety: Safety::Reversible,
        });
    }
    for pod in users.iter().filter(|pod| pod.deletion().is_some()).take(SHOWN) {
        steps.push(Step {
            when: super::INTENDED,
            text: format!(
                "see why pod {} does not go, which is being deleted already",
                pod.name()
            ),
            command: Some(format!(
                "kubectl finalizers explain pod/{} -n {namespace}",
                pod.name()
            )),
            safety: Safety::Safe,
        });
    }
    steps
}

/// Whether its owner makes a new pod of the same name when this one is deleted.
fn comes_back(pod: &Object) -> bool {
    pod.controller()
        .is_some_and(|(kind, _)| matches!(kind, "StatefulSet" | "DaemonSet"))
}

/// What becomes of the data when the claim goes: decided by its volume's reclaim policy.
fn fate(claim: &Object, view: &View<'_>) -> Outlook {
    let volume = claim.text("/spec/volumeName");
    let then = if volume.is_empty() {
        "nothing else: the claim has no volume".to_owned()
    } else {
        match view.object("", "persistentvolumes", "", volume) {
            Ok(Some(volume)) => super::volume::fate(volume),
            Ok(None) => format!("its volume {volume} does not exist any more"),
            Err(missing) => format!(
                "the reclaim policy of volume {volume} decides about the data, and it is not known: {}",
                missing.in_words()
            ),
        }
    };
    Outlook {
        when: "when the claim goes".into(),
        then,
    }
}

/// Who makes the pod. A ReplicaSet is most often made by a Deployment, which would undo what is done to it; one
/// that could not be looked at has no kind here.
fn owner_of(pod: &Object, view: &View<'_>) -> ObjectRef {
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
    Ok(set.is_some_and(|set| set.text("/spec/persistentVolumeClaimRetentionPolicy/whenScaled") == "Delete"))
}

fn stop(pod: &Object, owner: &ObjectRef, namespace: &str, view: &View<'_>) -> Step {
    let (kind, name) = (owner.kind.as_str(), &owner.name);
    let (text, command) = match kind {
        "" => {
            return Step {
                when: super::INTENDED,
                text: format!(
                    "stop what makes ReplicaSet {name}, which runs {}: who that is could not be read, and a ReplicaSet \
                     that its Deployment makes is scaled up again",
                    pod.name()
                ),
                command: Some(format!("kubectl -n {namespace} describe replicaset {name}")),
                safety: Safety::Safe,
            };
        }
        "StatefulSet" | "Deployment" | "ReplicaSet" | "ReplicationController" => (
            format!("stop {kind} {name}, which runs {}", pod.name()),
            format!(
                "kubectl -n {namespace} scale {} {name} --replicas=0",
                kind.to_lowercase()
            ),
        ),
        "Job" => (
            format!(
                "suspend Job {name}, which runs {}: its pods go, and it can be resumed",
                pod.name()
            ),
            format!("kubectl -n {namespace} patch job {name} -p '{{\"spec\":{{\"suspend\":true}}}}'"),
        ),
        "Pod" => (
            format!(
                "stop pod {}; nothing owns it, so it does not come back",
                pod.name()
            ),
            format!("kubectl -n {namespace} delete pod {}", pod.name()),
        ),
        _ => (
            format!(
                "stop {kind} {name}, which owns {}: a pod that is only deleted comes back",
                pod.name()
            ),
            format!("kubectl -n {namespace} describe {} {name}", kind.to_lowercase()),
        ),
    };
    let (text, safety) = match scaling_deletes_claims(owner, namespace, view) {
        _ if kind == "Pod" => (
            format!("{text}: what it has not written to the volume is lost"),
            Safety::Destructive,
        ),
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
                "DATA LOSS is possible: {text}. Whether it deletes the claims of all its pods when it is scaled down \
                 (persistentVolumeClaimRetentionPolicy) is not known: {}",
                missing.in_words()
            ),
            Safety::Destructive,
        ),
    };
    Step {
        when: super::INTENDED,
        text,
        command: Some(command),
        safety,
    }
}
