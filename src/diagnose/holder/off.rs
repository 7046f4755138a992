//! The state of a workload before it was switched off.

use serde_json::Value;

use crate::{
    diagnose::{
        holder::trace::Holder,
        kinds::{Event, Workload},
        view::View,
    },
    snapshot::facts::Object,
};

/// The Event that tells when the workload was scaled to zero. Scaling to zero leaves no trace in managedFields:
/// a Scale without replicas owns no field (`kubernetes/api:autoscaling/v1/types.go`, `omitempty`). But the
/// Deployment controller records an Event.
pub(super) fn scale_down_event<'a>(
    workload: &Object,
    holder: &mut Holder,
    view: &'a View<'_>,
) -> Option<Event<'a>> {
    let events = match view.events(workload) {
        Ok(events) => events,
        Err(missing) => {
            holder.wait_for(&missing);
            return None;
        }
    };
    events
        .iter()
        .map(Event)
        .filter(|event| event.reason() == "ScalingReplicaSet" && event.message().contains("to 0"))
        .max_by_key(|event| event.last_time())
}

/// The number of replicas before that Event: `Scaled down replica set a-1 from 3 to 0`, formerly `… to 0 from
/// 3` (`kubernetes/kubernetes:pkg/controller/deployment/sync.go`).
pub(super) fn replicas_in_event(event: Event<'_>) -> Option<(i64, &'static str)> {
    let (_, from) = event.message().split_once(" from ")?;
    let count = from.split(' ').next()?.parse().ok()?;
    Some((count, "as the Event of its scaling says"))
}

/// The number of replicas from annotations: from the last applied configuration, and from tools that scale to
/// zero and back (`openshift/api`: idling; `caas-team/py-kube-downscaler`).
pub(super) fn replicas_in_annotations(workload: &Object) -> Option<(i64, &'static str)> {
    let count = |name: &str| workload.annotation(name).parse().ok();
    let noted = [
        "idling.alpha.openshift.io/previous-scale",
        "downscaler/original-replicas",
    ];
    if let Some(count) = noted.into_iter().find_map(count).filter(|count| *count > 0) {
        return Some((count, "as its annotation remembers"));
    }
    let applied = workload.annotation("kubectl.kubernetes.io/last-applied-configuration");
    let applied: Value = serde_json::from_str(applied).ok()?;
    // An applied configuration without `replicas` means one replica.
    let count = Workload::replicas_in(&applied).unwrap_or(1);
    (count > 0).then_some((count, "as its last applied configuration says"))
}
