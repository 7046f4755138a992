//! A Pod stays until the kubelet of its node confirms that it stopped, with or without finalizers.
//!
//! # Symptom
//!
//! `kubectl get pods` shows `Terminating`, and the pod has no finalizer.
//!
//! ```text
//! $ kubectl get pods -n shop
//! NAME      READY   STATUS        RESTARTS   AGE
//! queue-0   1/1     Terminating   0          4d
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pod/queue-0 -n shop --from tests/causes/pods.yaml
//! ```
//!
//! # Why
//!
//! The kubelet stops the containers within the grace period. Then it deletes the object with grace period 0. Until then
//! the Pod stays. `deletionTimestamp` is the time when the grace period ends, so it can lie in the future.
//!
//! # Before you act
//!
//! Compare `deletionTimestamp` with the clock. Within the grace period the pod is slow, not stuck.
//!
//! # If it was a mistake
//!
//! The deletion of a pod cannot be withdrawn. Its owner makes a new pod. What was in an `emptyDir` is lost.
//!
//! # If it was intended
//!
//! Wait until the grace period ends. Shorten it for the next time with `terminationGracePeriodSeconds`, or repair the
//! program that ignores SIGTERM.
//!
//! # Do not
//!
//! Do not force the deletion (`--force --grace-period=0`) to save time. Only the object goes, and the containers may
//! run on.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | the grace period still runs: slow, not stuck |
//! | (the page of the kubelet) | the grace period is over: see [`crate::diagnose::causes::pods::kubelet_confirmation`] |
//!
//! # What it reads
//!
//! The node of the pod.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/kubelet/status/status_manager.go` canBeDeleted

use crate::{
    diagnose::{
        causes::cause::{Cause, On, Reads, Tells},
        kinds::{Pod, Volume},
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Itself(without_finalizers),
};

/// The finding for an object that nothing holds but its grace period.
fn without_finalizers(object: &Object, view: &View<'_>) -> Option<Finding> {
    (object.finalizers().is_empty() && timing::is_in_grace_period(object, view))
        .then(|| in_grace_period(object, view))
}

/// The finding for an object whose grace period still runs, and whose end somebody confirms.
pub(crate) fn in_grace_period(object: &Object, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        format!("{}; slow, not stuck", time_left(object, view)),
    );
    finding.tell_of(Page::of(module_path!()));
    finding.evidence.extend(deadline(object));
    if let Some(deletion) = object.deletion() {
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then: format!(
                "its containers are stopped by {} at the latest, and then it goes",
                deletion.timestamp
            ),
        });
    }
    finding
}

/// How long the grace period of an object still runs.
pub(crate) fn time_left(object: &Object, view: &View<'_>) -> String {
    object
        .deletion()
        .map_or("it is not being deleted".to_owned(), |deletion| {
            let until = deletion.timestamp;
            let remaining = Age::between(view.now(), until);
            format!("its grace period runs for another {remaining}, until {until}")
        })
}

/// When the grace period of an object ends.
pub(crate) fn deadline(object: &Object) -> Option<Evidence> {
    object.deletion().map(|deletion| Evidence {
        source: format!("{} {} metadata.deletionTimestamp", object.kind, object.name()),
        value: format!(
            "{}, with a grace period of {} s",
            deletion.timestamp, deletion.grace_seconds
        ),
        strength: Strength::Proof,
    })
}

/// What a forced deletion of the Pod would do, as a warning.
pub(crate) fn force_warning(pod: &Object) -> String {
    let claims: Vec<_> = Pod(pod).volumes().filter_map(Volume::claim).collect();
    let writers = match pod.controller() {
        Some(("StatefulSet", name)) => format!(
            "StatefulSet {name} then starts {} again elsewhere. DATA LOSS if the old one still runs: both write",
            pod.name()
        ),
        _ if Pod(pod).has_only_ended_containers() => {
            "Its containers have ended, and what its node has not cleaned up stays there".to_owned()
        }
        _ => "Its containers may go on running, and nobody would know".to_owned(),
    };
    let volumes = if claims.is_empty() {
        String::new()
    } else {
        format!(
            ". Its volumes ({}) may still be mounted on {}",
            claims.join(", "),
            Pod(pod).node()
        )
    };
    format!("force it (--force --grace-period=0): only the object goes. {writers}{volumes}")
}

/// Whether it is the mirror of a static Pod. The kubelet creates the mirror again while the manifest is on the node.
pub(crate) fn is_mirror_pod(pod: &Object) -> bool {
    !pod.annotation("kubernetes.io/config.mirror").is_empty()
}

/// The finding for the mirror of a static Pod.
pub(crate) fn mirror_pod(pod: &Object) -> Finding {
    let node = Pod(pod).node();
    let mut finding = Finding::new(
        None,
        Verdict::InUse,
        format!(
            "it mirrors a static pod: the kubelet of {node} makes it again as long as its manifest is on that node"
        ),
    );
    finding.tell_of(Page::of(module_path!()));
    finding.evidence.push(Evidence {
        source: format!("Pod {} annotation kubernetes.io/config.mirror", pod.name()),
        value: pod.annotation("kubernetes.io/config.mirror").to_owned(),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: "the static pod goes on running; deleting its mirror does not stop it".into(),
    });
    finding.steps.push(Step {
        when: When::Intended,
        text: format!("remove the manifest on {node} (usually below /etc/kubernetes/manifests)"),
        command: None,
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    });
    finding
}
