//! What is wrong with an object that somebody needs.

use crate::{
    diagnose::{
        complaint::{failing_condition, failing_state, join},
        kinds::{Condition, Endpoint, EndpointSlice, Pod, Service, Workload},
        service_backend,
        view::View,
    },
    snapshot::facts::{By, Object},
};

/// Why the object does not do what others need it for; none if nothing is known to be wrong. The text follows its name.
pub(super) fn trouble(found: &Object, view: &View<'_>) -> Option<String> {
    if found.deletion().is_some() {
        return Some("is being deleted".to_owned());
    }
    if let Some(("False" | "Unknown", reason, message)) = found.condition("Ready")
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
    failing_condition(found)
        .or_else(|| failing_state(found))
        .map(|text| format!("reports {text}"))
        .or_else(|| Some(format!("is not available: {}", unavailable(found)?)))
}

/// The condition about the whole object, where it has no `Ready`: `Available`, or `ClusterAvailable` of a `…Cluster`.
fn unavailable(found: &Object) -> Option<String> {
    let is_about_whole = |kind: &str| {
        let bare = ["Available", "Ready", "Healthy"]
            .iter()
            .find_map(|end| kind.strip_suffix(end));
        // `UpgradeAvailable` of a `SystemUpgrade` tells of a newer version.
        bare.is_some_and(|bare| found.kind.ends_with(bare) && !matches!(bare, "Upgrade" | "Update"))
    };
    if found.condition("Ready").is_some() {
        return None;
    }
    let raised = Condition::all(found).find(|one| one.status() == "False" && is_about_whole(one.kind()))?;
    let why = join(raised.reason().trim(), raised.message().trim());
    (!why.is_empty()).then_some(why)
}

fn is_scaled_to_zero(found: &Object) -> bool {
    let is_workload = ["deployments", "statefulsets", "replicasets"]
        .iter()
        .any(|plural| found.is("apps", plural));
    is_workload && Workload(found).replicas() == Some(0)
}

/// A Service that selects Pods, and has none that is ready. Somebody else fills one without a selector.
fn without_endpoints(service: &Object, view: &View<'_>) -> Option<String> {
    if Service(service).selector().next().is_none() || Service(service).external_host().is_some() {
        return None;
    }
    let of_it = By::Labels(format!("{}={}", EndpointSlice::SERVICE, service.name()));
    let slices = view.search("discovery.k8s.io", "endpointslices", service.namespace(), of_it);
    let answers = |slice: &Object| EndpointSlice(slice).endpoints().any(Endpoint::is_ready);
    let slices = slices.ok()?;
    let is_contradicted = slices.is_empty() && service_backend::ready_pod(service, view).is_some();
    (!slices.iter().any(answers) && !is_contradicted).then(|| "has no endpoint that is ready".to_owned())
}
