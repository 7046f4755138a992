//! An Argo CD Application, or an AppliedManifestWork of Open Cluster Management, that waits for the objects it
//! deployed.
//!
//! # Symptom
//!
//! An Application hangs in `Deleting`, with `resources-finalizer.argocd.argoproj.io`. Or an `AppliedManifestWork`
//! stays, with `cluster.open-cluster-management.io/applied-manifest-work-cleanup`.
//!
//! ```text
//! $ kubectl finalizers explain applications.argoproj.io/shop -n argocd --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! The controller deletes everything that it deployed and waits until it is gone. One object with a finalizer of its
//! own blocks the rest.
//!
//! # Before you act
//!
//! See which of its objects are in deletion, and what holds each.
//!
//! # If it was a mistake
//!
//! What is not deleted yet can be kept: stop the controller, and save the objects.
//!
//! # If it was intended
//!
//! Resolve the object that is stuck. The Application then goes by itself.
//!
//! # Do not
//!
//! Do not remove the finalizer to get rid of the Application. What it deployed runs on, and nobody manages it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | objects that it deployed are stuck in deletion |
//! | (of the controller) | the controller is gone or fails |
//!
//! # What it reads
//!
//! The objects that its status lists, if the destination is this cluster.
//!
//! # Sources
//!
//! - `argoproj/argo-cd:controller/appcontroller.go` finalizeApplicationDeletion
//! -
//!   `open-cluster-management-io/ocm:pkg/work/spoke/controllers/finalizercontroller/appliedmanifestwork_finalize_controller.go`

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice::explain_step,
            cause::{Cause, Described, On, Reads, Tells, Turn},
            verdicts::set_unless_holder_is_at_fault,
        },
        limits,
        model::{Finding, Page, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const APPLICATION_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
const WORK_FINALIZER: &str = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
const THIS_CLUSTER: &str = "https://kubernetes.default.svc";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Product, add_deployed_resources),
};

/// Adds the deployed objects that are stuck in deletion.
fn add_deployed_resources(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described {
        object,
        finalizer,
        holder,
        ..
    } = *described;
    if object.deletion().is_none() {
        return;
    }
    let deployed = match status_field(object, finalizer) {
        Some(list) => object.list(list).iter().take(limits::DEPLOYED_OBJECTS),
        None => return,
    };
    let in_deletion: Vec<_> = deployed
        .filter_map(|resource| found_in_deletion(resource, view))
        .collect();
    if in_deletion.is_empty() {
        return;
    }
    set_unless_holder_is_at_fault(finding, holder, Verdict::Waiting);
    for child in &in_deletion {
        let says = "was deployed by it, is being deleted, and is still there".to_owned();
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(view.blocker(child, says));
    }
    let steps = in_deletion.iter().take(limits::STEPS_FOR_EACH).map(|child| {
        let text = format!(
            "see what holds {} {}: the {} goes when it is gone",
            child.kind,
            child.name(),
            object.kind
        );
        explain_step(child, text)
    });
    finding.steps.splice(0..0, steps);
}

/// The status field that lists what the object deployed in this cluster.
fn status_field(object: &Object, finalizer: &Finalizer) -> Option<&'static str> {
    let here = object.text("/spec/destination/server") == THIS_CLUSTER
        || object.text("/spec/destination/name") == "in-cluster";
    if object.is("argoproj.io", "applications") && finalizer.name.starts_with(APPLICATION_FINALIZER) {
        here.then_some("/status/resources")
    } else {
        let of_work = object.is("work.open-cluster-management.io", "appliedmanifestworks");
        (of_work && finalizer.name == WORK_FINALIZER).then_some("/status/appliedResources")
    }
}

/// A listed object, by kind or by type, if it exists and is being deleted.
fn found_in_deletion<'a>(resource: &Value, view: &View<'a>) -> Option<&'a Object> {
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
