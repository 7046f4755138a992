//! `kubernetes.io/pvc-protection`: a claim that pods use.
//!
//! **Recognises** the finalizer on a claim. **Why:** the controller removes it when no pod of the namespace that
//! has a node names the claim, whatever the pod's phase; generic ephemeral volumes count for the pod that
//! controls their claim, unless it was shut down (`deletionGracePeriodSeconds` 0). Source:
//! `kubernetes/kubernetes:pkg/controller/volume/pvcprotection/pvc_protection_controller.go`, the same from 1.25
//! to 1.36. **Wants** the pods of the namespace, the volume and the controller manager's Lease. **Concludes**
//! `in-use` with the pods; without any `stalled`, after a minute; without the right to see pods `unknown`.
//! **Advises** to remove the users, finished ones first, and never the finalizer.

use serde_json::Value;

use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// More users than this are summed up.
const SHOWN: usize = 5;

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
        finding.say("; no pod does any more");
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
        let named = volume
            .pointer("/persistentVolumeClaim/claimName")
            .and_then(Value::as_str)
            == Some(claim.name());
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

fn controlled_by(claim: &Object, pod: &Object) -> bool {
    claim.list("/metadata/ownerReferences").iter().any(|owner| {
        owner.get("controller") == Some(&Value::Bool(true))
            && owner.get("uid").and_then(Value::as_str) == Some(pod.uid())
    })
}

fn is_finished(pod: &Object) -> bool {
    matches!(pod.text("/status/phase"), "Succeeded" | "Failed")
}

/// The pods that use a claim, as blockers of whatever waits for the claim.
pub(super) fn users<'a>(
    claim: &Object,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, crate::diagnose::view::Missing> {
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
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays like this, and the pods keep their data".into(),
    });
    finding.outlook.push(fate(claim, view));
    finding.steps.extend(release(claim, users));
    finding.do_not.push(format!(
        "remove kubernetes.io/pvc-protection by hand: the claim vanishes under {}, and its volume is released",
        users.first().map(|pod| pod.name()).unwrap_or_default()
    ));
}

/// How to make the users of a claim go, finished ones first.
pub(super) fn release(claim: &Object, users: &[&Object]) -> Vec<Step> {
    let namespace = claim.namespace();
    let (finished, running): (Vec<&Object>, Vec<&Object>) =
        users.iter().copied().partition(|pod| is_finished(pod));
    let mut steps = Vec::new();
    if !finished.is_empty() {
        let names: Vec<_> = finished.iter().take(SHOWN).map(|pod| pod.name()).collect();
        let more = if finished.len() > SHOWN {
            " (and the others that are finished)"
        } else {
            ""
        };
        steps.push(Step {
            when: super::INTENDED,
            text: format!("delete the finished pods{more}; nothing is lost by that"),
            command: Some(format!("kubectl -n {namespace} delete pod {}", names.join(" "))),
            safety: Safety::Safe,
        });
    }
    let mut told: Vec<ObjectRef> = Vec::new();
    for pod in running.iter().filter(|pod| pod.deletion().is_none()) {
        let owner = owner_of(pod);
        if !told.contains(&owner) {
            steps.push(stop(pod, &owner, namespace));
            told.push(owner);
        }
    }
    steps
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

fn owner_of(pod: &Object) -> ObjectRef {
    let (kind, name) = pod.controller().unwrap_or(("Pod", pod.name()));
    ObjectRef {
        kind: kind.to_owned(),
        name: name.to_owned(),
        ..ObjectRef::default()
    }
}

fn stop(pod: &Object, owner: &ObjectRef, namespace: &str) -> Step {
    let name = &owner.name;
    let (text, command) = match owner.kind.as_str() {
        "StatefulSet" | "Deployment" => (
            format!("stop {} {name}, which runs {}", owner.kind, pod.name()),
            format!(
                "kubectl -n {namespace} scale {} {name} --replicas=0",
                owner.kind.to_lowercase()
            ),
        ),
        "ReplicaSet" => (
            format!("stop what owns ReplicaSet {name}: a pod that is only deleted comes back"),
            format!(
                "kubectl -n {namespace} get replicaset {name} -o jsonpath='{{.metadata.ownerReferences}}'"
            ),
        ),
        "Pod" => (
            format!(
                "stop pod {}; nothing owns it, so it does not come back",
                pod.name()
            ),
            format!("kubectl -n {namespace} delete pod {}", pod.name()),
        ),
        kind => (
            format!("stop {kind} {name}, which owns {}", pod.name()),
            format!("kubectl -n {namespace} get {} {name}", kind.to_lowercase()),
        ),
    };
    Step {
        when: super::INTENDED,
        text,
        command: Some(command),
        safety: Safety::Reversible,
    }
}
