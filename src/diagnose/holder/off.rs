//! What is known of a workload from before it was switched off.

use jiff::Timestamp;

use crate::{
    diagnose::{holder::trace::Holder, view::View},
    snapshot::facts::Object,
};

/// The Event that tells when it was switched off. Whoever scales to zero leaves no trace in managedFields: a Scale without
/// replicas owns no field (`kubernetes/api:autoscaling/v1/types.go`, `omitempty`). But the Deployment's controller says what
/// it did.
pub(super) fn scaled_down<'a>(
    workload: &Object,
    holder: &mut Holder,
    view: &'a View<'_>,
) -> Option<&'a Object> {
    let events = match view.events(workload) {
        Ok(events) => events,
        Err(missing) => {
            holder.wait_for(&missing);
            return None;
        }
    };
    events
        .iter()
        .filter(|event| {
            event.text("/reason") == "ScalingReplicaSet" && event.text("/message").contains("to 0")
        })
        .max_by_key(|event| happened(event))
}

pub(super) fn happened(event: &Object) -> Option<Timestamp> {
    event.time("/lastTimestamp").or_else(|| event.time("/eventTime"))
}

/// How many there were by that Event: `Scaled down replica set a-1 from 3 to 0`, once `… to 0 from 3`
/// (`kubernetes/kubernetes:pkg/controller/deployment/sync.go`).
pub(super) fn before(event: &Object) -> Option<(i64, &'static str)> {
    let (_, from) = event.text("/message").split_once(" from ")?;
    let count = from.split(' ').next()?.parse().ok()?;
    Some((count, "as the Event of its scaling says"))
}

/// How many there were by what its annotations remember: what was applied, and what tools note that scale to zero and
/// back (`openshift/api`: idling; `caas-team/py-kube-downscaler`).
pub(super) fn remembered(workload: &Object) -> Option<(i64, &'static str)> {
    let count = |name: &str| workload.annotation(name).parse().ok();
    let noted = [
        "idling.alpha.openshift.io/previous-scale",
        "downscaler/original-replicas",
    ];
    if let Some(count) = noted.into_iter().find_map(count).filter(|count| *count > 0) {
        return Some((count, "as its annotation remembers"));
    }
    let applied = workload.annotation("kubectl.kubernetes.io/last-applied-configuration");
    let applied: serde_json::Value = serde_json::from_str(applied).ok()?;
    // An applied configuration without a number leaves it at one.
    let count = applied["spec"]["replicas"].as_i64().unwrap_or(1);
    (count > 0).then_some((count, "as its last applied configuration says"))
}
