//! Pods: their termination, which only a kubelet confirms, and the Jobs and ResourceClaims that hold them or wait for
//! them.

pub(crate) mod grace_period;
pub(crate) mod job_tracking;
pub(crate) mod kubelet;
pub(crate) mod kubelet_confirmation;
mod missing_device_driver;
mod missing_node_plugin;
pub(crate) mod pod_garbage_collector;
pub(crate) mod resource_claim;

use super::{
    api_machinery::no_finalizers,
    cause::{Cause, On, Reads, Tells},
};
use crate::{
    diagnose::{model::Finding, view::View},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[("", "pods")],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: kubelet_confirmation::PAGE,
    tells: Tells::Itself(not_terminated),
};

/// The finding for the termination of the Pod. None if the kubelet is done and only finalizers hold the Pod.
fn not_terminated(pod: &Object, view: &View<'_>) -> Option<Finding> {
    let deletion = pod.deletion()?;
    if deletion.grace_seconds == 0 {
        return pod
            .finalizers()
            .is_empty()
            .then(|| no_finalizers::nothing_holds_it(pod));
    }
    let mut finding = if deletion.in_grace(view.now()) {
        kubelet_confirmation::not_yet_due(pod, view)
    } else {
        kubelet_confirmation::not_confirmed(pod, view)
    };
    finding.wait.page.get_or_insert(kubelet_confirmation::PAGE);
    Some(finding)
}
