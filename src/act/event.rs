//! The Kubernetes Event that `--event` records. It shows later readers of the object or its namespace who did
//! what.

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use serde_json::Value;

use crate::plan::{Action, FIELD_MANAGER, Plan, Request};

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
    let time = Some(Time(now));
    let event = Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{FIELD_MANAGER}-")),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(target.api_version.clone()),
            kind: Some(target.kind.clone()),
            namespace: target.namespace.clone(),
            name: Some(target.name.clone()),
            uid: Some(target.uid.clone()),
            resource_version: Some(plan.resource_version.clone()),
            ..ObjectReference::default()
        },
        type_: Some(kind.to_owned()),
        reason: Some(reason.to_owned()),
        message: Some(says),
        source: Some(EventSource {
            component: Some(FIELD_MANAGER.to_owned()),
            ..EventSource::default()
        }),
        reporting_component: Some(FIELD_MANAGER.to_owned()),
        first_timestamp: time.clone(),
        last_timestamp: time,
        count: Some(1),
        ..Event::default()
    };
    Request {
        method: "POST",
        path: format!("/api/v1/namespaces/{namespace}/events"),
        content_type: "application/json",
        // The types of Kubernetes have only keys that JSON can have.
        body: serde_json::to_value(event).unwrap_or(Value::Null),
    }
}
