//! Drivers of a Pod's devices that are not on its node.
//!
//! **Why:** before a Pod ends, the kubelet gives its devices back through the driver that has registered on the node
//! (`kubernetes/kubernetes:pkg/kubelet/kubelet.go` SyncTerminatingPod, `pkg/kubelet/cm/dra/manager.go` unprepareResources).
//! It does so before it writes the status of the Pod, so the containers may still be reported as running. When a driver goes,
//! the kubelet deletes its ResourceSlices of the node (`pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go` wipeResourceSlices).
//! **Wants** the ResourceClaims of the Pod, and the ResourceSlices. **Advises** to bring the driver back.

use std::collections::BTreeSet;

use super::missing_node_plugin::see_its_pods;
use crate::{
    diagnose::{
        kinds::{Pod, ResourceClaim, ResourceSlice},
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the step for each driver of the Pod's devices that has no ResourceSlice of the node, and returns what the node lacks.
/// What could not be read accuses nobody.
pub(super) fn add_missing_drivers(
    pod: &Object,
    node: &Object,
    finding: &mut Finding,
    view: &View<'_>,
) -> Option<String> {
    let needed = drivers(pod, view);
    if needed.is_empty() {
        return None;
    }
    let slices = view.list("resource.k8s.io", "resourceslices", "").ok()?;
    // A controller can offer devices of many nodes. Such a slice says nothing about the driver on one of them.
    let may_be_there = |driver: &str| {
        let mut of_driver = slices
            .iter()
            .map(ResourceSlice)
            .filter(|slice| slice.driver() == driver);
        of_driver.any(|slice| slice.node() == node.name() || slice.node().is_empty())
    };
    let missing: Vec<_> = needed
        .into_iter()
        .filter(|driver| !may_be_there(driver))
        .collect();
    for driver in &missing {
        finding.evidence.push(Evidence {
            source: format!("ResourceSlices of driver {driver}"),
            value: format!("none is of node {}", node.name()),
            strength: Strength::Strong,
        });
        let then = "the kubelet gives the devices back and finishes by itself";
        finding.steps.insert(0, see_its_pods(driver, node, then));
    }
    (!missing.is_empty()).then(|| {
        format!(
            "driver {}, which the kubelet needs to give back devices of the pod, has no ResourceSlice there",
            missing.join(" and driver ")
        )
    })
}

/// The drivers of the devices that the Pod has.
fn drivers<'a>(pod: &Object, view: &View<'a>) -> BTreeSet<&'a str> {
    let claims = Pod(pod).resource_claims().take(limits::VOLUMES_ONE_BY_ONE);
    let found = claims.filter_map(|name| {
        view.object("resource.k8s.io", "resourceclaims", pod.namespace(), name)
            .ok()?
    });
    found.flat_map(|claim| ResourceClaim(claim).drivers()).collect()
}
