//! `kubernetes.io/pvc-protection`: a claim that pods use.
//!
//! **Recognises** the finalizer on a PersistentVolumeClaim. **Why:** the controller keeps it while a pod of the
//! namespace has a node and names the claim. The phase of the pod does not matter. A generic ephemeral volume counts
//! for the pod that controls its claim, unless that pod was shut down (`deletionGracePeriodSeconds` 0). Source:
//! `kubernetes/kubernetes:pkg/controller/volume/pvcprotection/pvc_protection_controller.go`, the same from 1.25 to
//! 1.36. **Wants** the pods of the namespace, their owners, the volume, and the Lease of kube-controller-manager.
//! **Concludes** `in-use` with the pods. Without any pod it concludes `stalled` after a minute; without the right to
//! list pods, `unknown`. **Advises** to stop the pods, finished ones first, and never to remove the finalizer. Says
//! DATA LOSS where stopping a StatefulSet deletes its other claims.

use serde_json::Value;

use crate::diagnose::kinds::{PersistentVolumeClaim, Pod};
use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            controller::Controller,
            pods::stop_consumers,
            storage::{reclaim_policy, release},
            verdicts,
            verdicts::unknown,
        },
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Page, Strength, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    group: "",
    plural: "persistentvolumeclaims",
    finalizer: "kubernetes.io/pvc-protection",
    explain: claim_in_use,
};

/// Answers for the finalizer on a claim.
fn claim_in_use(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(claim, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager (pvc-protection)")
        .once("no pod uses the claim");
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
    controller.add_evidence(&mut finding);
    finding.evidence.push(Evidence {
        source: format!("pods in {}", claim.namespace()),
        value: format!("{} of {} have a node and name the claim", users.len(), pods.len()),
        strength: Strength::Proof,
    });
    if users.is_empty() {
        finding.say(if claim.deletion().is_some() {
            "no pod does any more"
        } else {
            "no pod does now"
        });
        // The diagnosis says this elsewhere for a claim that is not being deleted.
        if claim.deletion().is_some() {
            finding.outlook.push(data_outlook(claim, view));
        }
        if verdict == Verdict::Stalled {
            finding.steps.push(release::letting_go(
                advice::nudge(claim),
                release::by_whole_end_of(claim, view),
            ));
        }
    } else {
        add_advice(&mut finding, claim, &users, view);
    }
    finding
}

/// Whether the protection controller counts the pod as a user of the claim.
pub fn uses(pod: &Object, claim: &Object) -> bool {
    if Pod(pod).node().is_empty() {
        return false;
    }
    let shut_down = pod.deletion().is_some()
        && pod
            .number("/metadata/deletionGracePeriodSeconds")
            .unwrap_or_default()
            == 0;
    Pod(pod).volumes().any(|volume| {
        let named = volume.claim() == Some(claim.name());
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

/// The pods that use a claim.
pub(crate) fn users<'a>(claim: &Object, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("", "pods", claim.namespace())?
        .iter()
        .filter(|pod| uses(pod, claim))
        .collect())
}

/// The pods that use a claim, as blockers of an object that waits for the claim.
pub(crate) fn blockers(users: &[&Object], view: &View<'_>) -> Vec<Blocker> {
    let mut shown: Vec<_> = users
        .iter()
        .take(limits::BLOCKERS)
        .map(|pod| view.blocker(pod, describe_pod(pod)))
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

/// The state of a pod, in words.
fn describe_pod(pod: &Object) -> String {
    let phase = match Pod(pod).phase() {
        "Succeeded" => "Completed (counts while it exists)".to_owned(),
        "Failed" => "Failed (counts while it exists)".to_owned(),
        "" => "in no phase yet".to_owned(),
        phase => phase.to_owned(),
    };
    let deletion = if pod.deletion().is_some() {
        ", being deleted"
    } else {
        ""
    };
    let owner = pod
        .controller()
        .map(|(kind, name)| format!(", owned by {kind} {name}"))
        .unwrap_or_default();
    format!("{phase} on {}{deletion}{owner}", Pod(pod).node())
}

fn add_advice(finding: &mut Finding, claim: &Object, users: &[&Object], view: &View<'_>) {
    let first = users.first().map(|pod| pod.name()).unwrap_or_default();
    if claim.deletion().is_none() {
        finding.outlook.push(Outlook {
            when: "if it is deleted now".into(),
            then: "it stays, Terminating, until these pods are gone, and no new pod can use it. That cannot be taken back"
                .into(),
        });
        return;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays like this, and the pods keep their data".into(),
    });
    finding.outlook.push(data_outlook(claim, view));
    finding.steps.extend(stop_consumers::steps(claim, users, view));
    finding.do_not.push(format!(
        "remove kubernetes.io/pvc-protection by hand: the claim vanishes under {first}, and its volume is released"
    ));
}

/// What happens to the data when the claim is deleted. The reclaim policy of the volume decides.
fn data_outlook(claim: &Object, view: &View<'_>) -> Outlook {
    let volume = PersistentVolumeClaim(claim).volume();
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
