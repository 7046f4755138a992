//! An Argo CD Application, or an `AppliedManifestWork` of Open Cluster Management, and what it deployed, where that does not go.
//!
//! **Recognises** `resources-finalizer.argocd.argoproj.io` (with any ending) on an Application that is being deleted, and
//! `cluster.open-cluster-management.io/applied-manifest-work-cleanup`. **Why:** the controller deletes everything that it
//! deployed and then waits until it is gone; one object with a finalizer of its own holds the rest. Sources:
//! `argoproj/argo-cd:controller/appcontroller.go` finalizeApplicationDeletion and
//! `open-cluster-management-io/ocm:pkg/work/spoke/controllers/finalizercontroller/appliedmanifestwork_finalize_controller.go`.
//! **Wants** the objects that its status lists, if the destination is this cluster. **Concludes** `waiting`, with those that
//! are being deleted and still there, unless the holder is gone or fails. **Advises** to see what holds each.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{advice::see, verdicts::waits},
        holder::Holder,
        limits,
        model::{Finding, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const OF_APPLICATION: &str = "resources-finalizer.argocd.argoproj.io";
const OF_WORK: &str = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
const HERE: &str = "https://kubernetes.default.svc";

pub(crate) fn add_deployed_resources(
    object: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    finding: &mut Finding,
    view: &View<'_>,
) {
    if object.deletion().is_none() {
        return;
    }
    let deployed = match listed(object, finalizer) {
        Some(list) => object.list(list).iter().take(limits::DEPLOYED_OBJECTS),
        None => return,
    };
    let held: Vec<_> = deployed.filter_map(|resource| going(resource, view)).collect();
    if held.is_empty() {
        return;
    }
    waits(finding, holder, Verdict::Waiting);
    for child in &held {
        let says = "was deployed by it, is being deleted, and is still there".to_owned();
        finding.wait.on.push(view.blocker(child, says));
    }
    let steps = held.iter().take(limits::STEPS_FOR_EACH).map(|child| {
        let text = format!(
            "see what holds {} {}: the {} goes when it is gone",
            child.kind,
            child.name(),
            object.kind
        );
        see(child, text)
    });
    finding.steps.splice(0..0, steps);
}

/// Where its status lists what it deployed in this cluster.
fn listed(object: &Object, finalizer: &Finalizer) -> Option<&'static str> {
    let here = object.text("/spec/destination/server") == HERE
        || object.text("/spec/destination/name") == "in-cluster";
    if object.is("argoproj.io", "applications") && finalizer.name.starts_with(OF_APPLICATION) {
        here.then_some("/status/resources")
    } else {
        let of_work = object.is("work.open-cluster-management.io", "appliedmanifestworks");
        (of_work && finalizer.name == OF_WORK).then_some("/status/appliedResources")
    }
}

/// An object that it lists, by kind or by type, if that is there and on its way out.
fn going<'a>(resource: &Value, view: &View<'a>) -> Option<&'a Object> {
    let field = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default();
    let ty = match field("resource") {
        "" => view.kind(field("group"), field("kind")),
        plural => view.resource_type(field("group"), plural),
    }?;
    let namespace = if ty.namespaced { field("namespace") } else { "" };
    view.object(&ty.group, &ty.plural, namespace, field("name"))
        .ok()?
        .filter(|found| found.deletion().is_some())
}
