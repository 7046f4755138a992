//! The Kubernetes Event that `--event` records. It shows later readers of the object or its namespace who did
//! what.

use jiff::Timestamp;
use serde_json::json;

use super::{Action, FIELD_MANAGER, Plan, Request};

/// The namespace for Events of cluster-scoped objects
/// (`kubernetes/kubernetes:pkg/apis/core/validation/events.go`).
const DEFAULT_NAMESPACE: &str = "default";

/// The request that creates the Event of a plan that this user carried out.
pub fn event(plan: &Plan, user: Option<&str>, now: Timestamp) -> Request {
    let target = &plan.target;
    let namespace = target.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    let user = user.unwrap_or("somebody");
    let finalizer = plan.finalizer.as_ref().map_or("", |finalizer| &finalizer.name);
    let (reason, says) = match plan.action {
        Action::Remove => (
            "FinalizerRemoved",
            format!(
                "{user} removed {finalizer} from metadata.finalizers by hand ({}; cost: {})",
                plan.verdict.word(),
                plan.cost.consequence.typed()
            ),
        ),
        Action::Finalize => (
            "NamespaceFinalized",
            format!(
                "{user} removed {finalizer} from spec.finalizers by hand ({})",
                plan.verdict.word()
            ),
        ),
        Action::Nudge => (
            "Nudged",
            format!("{user} changed an annotation, so that controllers look again"),
        ),
        Action::Retain => (
            "ReclaimPolicyRetained",
            format!("{user} set the reclaim policy to Retain, so that nothing deletes the disk"),
        ),
        Action::Rescue => (
            "VolumeMadeAgain",
            format!("{user} let the volume object go and made it again for the same claim and disk"),
        ),
        Action::Unmark => (
            "DeletionTakenBack",
            format!("{user} took the deletion out of the object in etcd"),
        ),
    };
    let kind = match plan.action {
        Action::Nudge | Action::Retain | Action::Rescue => "Normal",
        Action::Remove | Action::Finalize | Action::Unmark => "Warning",
    };
    Request {
        method: "POST",
        path: format!("/api/v1/namespaces/{namespace}/events"),
        content_type: "application/json",
        body: json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": format!("{FIELD_MANAGER}-"), "namespace": namespace},
            "involvedObject": {
                "apiVersion": target.api_version,
                "kind": target.kind,
                "namespace": target.namespace,
                "name": target.name,
                "uid": target.uid,
                "resourceVersion": plan.resource_version,
            },
            "type": kind,
            "reason": reason,
            "message": says,
            "source": {"component": FIELD_MANAGER},
            "reportingComponent": FIELD_MANAGER,
            "firstTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "lastTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "count": 1,
        }),
    }
}
