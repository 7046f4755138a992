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

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            pods::stop_consumers,
            storage::{csi_holder::Holder, reclaim_policy},
            verdicts,
            verdicts::unknown,
        },
        kinds::{Pod, claim_of_volume},
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    group: "",
    plural: "persistentvolumeclaims",
    finalizer: "kubernetes.io/pvc-protection",
    explain: in_use,
};

fn in_use(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(claim, finalizer, None, view);
    let says = format!(
        "removed by kube-controller-manager (pvc-protection){}, once no pod that has a node names the claim",
        holder.alive()
    );
    let pods = match view.list("", "pods", claim.namespace()) {
        Ok(pods) => pods,
        Err(missing) => return unknown(finalizer, &says, "whether one does", &missing),
    };
    let users: Vec<&Object> = pods.iter().filter(|pod| uses(pod, claim)).collect();
    let verdict = if users.is_empty() {
        verdicts::nothing_blocks(claim, view)
    } else {
        Verdict::InUse
    };
    let mut finding = Finding::new(Some(finalizer.clone()), verdict, says);
    finding.wait.on = blockers(&users, view);
    holder.testify(&mut finding);
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
        // Of one that is not being deleted, it is said elsewhere.
        if claim.deletion().is_some() {
            finding.outlook.push(fate(claim, view));
        }
        if verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(claim));
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
        let named = claim_of_volume(volume) == Some(claim.name());
        let ephemeral =
            Pod(pod).has_ephemeral_claim(volume, claim.name()) && controlled_by(claim, pod) && !shut_down;
        named || ephemeral
    })
}

fn controlled_by(claim: &Object, pod: &Object) -> bool {
    claim.list("/metadata/ownerReferences").iter().any(|owner| {
        owner.get("controller") == Some(&Value::Bool(true))
            && owner.get("uid").and_then(Value::as_str) == Some(pod.uid())
    })
}

/// The pods that use a claim, as blockers of whatever waits for the claim.
pub(crate) fn users<'a>(claim: &Object, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("", "pods", claim.namespace())?
        .iter()
        .filter(|pod| uses(pod, claim))
        .collect())
}

pub(crate) fn blockers(users: &[&Object], view: &View<'_>) -> Vec<Blocker> {
    let mut shown: Vec<_> = users
        .iter()
        .take(limits::BLOCKERS)
        .map(|pod| view.blocker(pod, state(pod)))
        .collect();
    if users.len() > limits::BLOCKERS {
        let finished = users
            .iter()
            .skip(limits::BLOCKERS)
            .filter(|pod| Pod(pod).is_finished())
            .count();
        let rest = users.len() - limits::BLOCKERS;
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
        return;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays like this, and the pods keep their data".into(),
    });
    finding.outlook.push(fate(claim, view));
    finding.steps.extend(keep(claim, view));
    finding.steps.extend(stop_consumers::steps(claim, users, view));
    finding.do_not.push(format!(
        "remove kubernetes.io/pvc-protection by hand: the claim vanishes under {first}, and its volume is released"
    ));
}

/// Retain on the volume while the claim is still there: the one moment at which it is easy.
fn keep(claim: &Object, view: &View<'_>) -> Option<Step> {
    let name = Some(claim.text("/spec/volumeName")).filter(|name| !name.is_empty())?;
    let volume = view.object("", "persistentvolumes", "", name).ok().flatten()?;
    (reclaim_policy::policy(volume) == "Delete").then(|| Step {
        when: advice::MISTAKE,
        text: "keep the disk: with policy Retain nothing deletes it when the claim goes. The deletion of the claim itself \
               cannot be taken back through the API; leave the pods running until the data is safe"
            .into(),
        command: Some(reclaim_policy::retain(volume)),
        safety: Safety::Reversible,
    })
}

/// What becomes of the data when the claim goes: decided by its volume's reclaim policy.
fn fate(claim: &Object, view: &View<'_>) -> Outlook {
    let volume = claim.text("/spec/volumeName");
    let then = if volume.is_empty() {
        "nothing else: the claim has no volume".to_owned()
    } else {
        match view.object("", "persistentvolumes", "", volume) {
            Ok(Some(volume)) => reclaim_policy::fate(volume),
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
