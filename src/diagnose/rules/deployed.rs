//! An Argo CD Application and what it deployed, where that does not go.
//!
//! **Recognises** `resources-finalizer.argocd.argoproj.io` (with any ending) on an Application that is being deleted. **Why:**
//! the controller deletes everything that it deployed and then waits until it is gone; one object with a finalizer of its own
//! holds the Application. Source: `argoproj/argo-cd:controller/appcontroller.go` finalizeApplicationDeletion. **Wants** the
//! objects in `status.resources`, if the destination is this cluster. **Concludes** `waiting`, with those that are being
//! deleted and still there, unless the holder is gone or fails. **Advises** to see what holds each.

use serde_json::Value;

use super::{see, waits};
use crate::{
    diagnose::{
        holder::Holder,
        model::{Finding, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
const HERE: &str = "https://kubernetes.default.svc";
/// An Application of more objects is looked at in part.
const LOOKED_AT: usize = 20;
/// Of so many it is said how to go on.
const NAMED: usize = 3;

pub(super) fn look(
    object: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    finding: &mut Finding,
    view: &View<'_>,
) {
    let of_application = object.is("argoproj.io", "applications") && finalizer.name.starts_with(FINALIZER);
    let here = object.text("/spec/destination/server") == HERE
        || object.text("/spec/destination/name") == "in-cluster";
    if !of_application || !here || object.deletion().is_none() {
        return;
    }
    let deployed = object.list("/status/resources").iter().take(LOOKED_AT);
    let held: Vec<_> = deployed.filter_map(|resource| going(resource, view)).collect();
    if held.is_empty() {
        return;
    }
    waits(finding, holder, Verdict::Waiting);
    for child in &held {
        let says = "was deployed by it, is being deleted, and is still there".to_owned();
        finding.wait.on.push(super::as_blocker(child, says, view));
    }
    let steps = held.iter().take(NAMED).map(|child| {
        let text = format!(
            "see what holds {} {}: the Application goes when it is gone",
            child.kind,
            child.name()
        );
        see(child, text)
    });
    finding.steps.splice(0..0, steps);
}

/// An object that it lists, if that is there and on its way out.
fn going<'a>(resource: &Value, view: &View<'a>) -> Option<&'a Object> {
    let field = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default();
    let ty = view.kind(field("group"), field("kind"))?;
    let namespace = if ty.namespaced { field("namespace") } else { "" };
    view.object(&ty.group, &ty.plural, namespace, field("name"))
        .ok()?
        .filter(|found| found.deletion().is_some())
}
