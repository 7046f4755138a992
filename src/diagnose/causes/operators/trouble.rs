//! What is wrong with an object that somebody needs.

use serde_json::Value;

use crate::{
    diagnose::{
        complaint::{failing_condition, join},
        kinds::{Pod, Workload},
        view::View,
    },
    snapshot::facts::{By, Object},
};

/// The label by which an EndpointSlice names its Service
/// (`kubernetes/api:discovery/v1/well_known_labels.go` LabelServiceName).
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Why the object does not do what others need it for; none if nothing is known to be wrong. The text follows its name.
pub(super) fn trouble(found: &Object, view: &View<'_>) -> Option<String> {
    if found.deletion().is_some() {
        return Some("is being deleted".to_owned());
    }
    if let Some(("False", reason, message)) = found.condition("Ready")
        && !found.is("", "pods")
    {
        return Some(match &*join(reason.trim(), message.trim()) {
            "" => "is not ready".to_owned(),
            why => format!("is not ready: {why}"),
        });
    }
    if is_scaled_to_zero(found) {
        return Some("is scaled to zero".to_owned());
    }
    if found.is("", "services") {
        return without_endpoints(found, view);
    }
    if found.is("", "pods") {
        let gate = || {
            Some(format!(
                "is not ready: its readiness gate {} is not met",
                Pod(found).unmet_readiness_gate()?
            ))
        };
        let problem = Pod(found).problem().map(|why| format!("does not start: {why}"));
        return problem.or_else(gate);
    }
    failing_condition(found).map(|text| format!("reports {text}"))
}

fn is_scaled_to_zero(found: &Object) -> bool {
    let is_workload = ["deployments", "statefulsets", "replicasets"]
        .iter()
        .any(|plural| found.is("apps", plural));
    is_workload && Workload(found).replicas() == Some(0)
}

/// A Service that selects Pods, and has none that is ready. Somebody else fills one without a selector.
fn without_endpoints(service: &Object, view: &View<'_>) -> Option<String> {
    let selector = service.value.pointer("/spec/selector")?.as_object()?;
    if selector.is_empty() || service.text("/spec/type") == "ExternalName" {
        return None;
    }
    let of_it = By::Labels(format!("{SERVICE_NAME}={}", service.name()));
    let slices = view.search("discovery.k8s.io", "endpointslices", service.namespace(), of_it);
    let is_ready = |endpoint: &Value| endpoint.pointer("/conditions/ready") != Some(&Value::Bool(false));
    let answers = |slice: &Object| slice.list("/endpoints").iter().any(is_ready);
    (!slices.ok()?.iter().any(answers)).then(|| "has no endpoint that is ready".to_owned())
}
