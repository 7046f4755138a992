//! `kubernetes.io/pvc-protection`: a claim that pods use.
//!
//! # Symptom
//!
//! `kubectl delete pvc` does not return. The claim stays `Terminating`, and its finalizer is
//! `kubernetes.io/pvc-protection`. `kubectl describe pvc` shows the pods in `Used By`.
//!
//! ```text
//! $ kubectl get pvc -n db
//! NAME     STATUS        VOLUME         CAPACITY   ACCESS MODES   STORAGECLASS   AGE
//! data-0   Terminating   pvc-6791fdd4   1Gi        RWO            disks          5d
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pvc/data-0 -n db --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! A pod of the namespace has a node and names the claim. The phase of the pod does not matter: a `Completed` pod
//! counts, too. A generic ephemeral volume counts for the pod that controls its claim, unless that pod was shut down
//! (`deletionGracePeriodSeconds` 0). When no such pod is left, kube-controller-manager removes the finalizer, and the
//! claim goes.
//!
//! # Before you act
//!
//! This is no fault. See which pods use the claim, who owns them, and what the reclaim policy of the volume does to the
//! disk. With policy `Delete` the disk is destroyed when the claim goes.
//!
//! # If it was a mistake
//!
//! The deletion of a claim cannot be withdrawn with kubectl. Keep the disk while the pods still run: `kubectl
//! finalizers rescue pvc/NAME --only-retain` sets the volume to `Retain`. Without `--only-retain`, `rescue` makes the
//! claim again for the same disk.
//!
//! # If it was intended
//!
//! Stop the pods, finished ones first. Scale their owner to zero, because an owner replaces a pod that is only deleted.
//! If a StatefulSet deletes its claims when it is scaled down, the explanation says DATA LOSS.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The volume is released while a pod still writes to it, and its disk is
//! destroyed.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | a pod with a node names the claim |
//! | waiting | no pod uses the claim, and the controller had less than a minute to act |
//! | stalled | no pod uses the claim, and the controller has not acted for a minute |
//! | unknown | pods could not be listed |
//!
//! # What it reads
//!
//! The pods of the namespace and their owners, the volume, and the Lease of kube-controller-manager.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/pvcprotection/pvc_protection_controller.go`, the same from 1.25 to
//!   1.36

use crate::diagnose::kinds::{OwnerReference, PersistentVolumeClaim, Pod};
use crate::{
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            release,
            storage::stop_consumers,
        },
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Strength, Verdict},
        reclaim_policy,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumeclaims")],
    finalizer: On::Named("kubernetes.io/pvc-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(claim_in_use),
};

/// Answers for the finalizer on a claim.
fn claim_in_use(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(claim, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager")
        .part("pvc-protection")
        .once("no pod uses the claim");
    let pods = match view.list("", "pods", claim.namespace()) {
        Ok(pods) => pods,
        Err(missing) => {
            let users = Users::not_seen("whether one does", &missing);
            return in_use::finding(claim, finalizer, &controller, says, users, view).0;
        }
    };
    let using: Vec<&Object> = pods.iter().filter(|pod| uses(pod, claim)).collect();
    let nobody = if claim.deletion().is_some() {
        "no pod uses the claim any more"
    } else {
        "no pod uses it now"
    };
    let users = Users::of(blockers(&using, view), Verdict::InUse, nobody);
    let (mut finding, standing) = in_use::finding(claim, finalizer, &controller, says, users, view);
    finding.evidence.push(Evidence {
        source: format!("pods in {}", claim.namespace()),
        value: format!("{} of {} have a node and name the claim", using.len(), pods.len()),
        strength: Strength::Proof,
    });
    if standing == Standing::Used {
        add_advice(&mut finding, claim, &using, view);
    } else {
        // The diagnosis says this elsewhere for a claim that is not being deleted.
        if claim.deletion().is_some() {
            finding.outlook.push(data_outlook(claim, view));
        }
        if standing == Standing::Late {
            finding.steps.push(release::letting_go(
                advice::nudge(claim),
                release::by_whole_end_of(claim, view),
            ));
        }
    }
    finding
}

/// Whether the protection controller counts the pod as a user of the claim.
pub fn uses(pod: &Object, claim: &Object) -> bool {
    if Pod(pod).node().is_empty() {
        return false;
    }
    let shut_down = pod.deletion().is_some_and(|deletion| deletion.grace_seconds == 0);
    Pod(pod).volumes().any(|volume| {
        let named = volume.claim() == Some(claim.name());
        let ephemeral =
            Pod(pod).has_ephemeral_claim(volume, claim.name()) && controlled_by(claim, pod) && !shut_down;
        named || ephemeral
    })
}

fn controlled_by(claim: &Object, pod: &Object) -> bool {
    OwnerReference::all(claim).any(|owner| owner.is_to_controller() && owner.is_to(pod))
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
            when: Moment::DeletedNow,
            then: "it stays, Terminating, until these pods are gone, and no new pod can use it. That cannot be taken back"
                .into(),
        });
        return;
    }
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
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
        when: Moment::ClaimGoes,
        then,
    }
}
