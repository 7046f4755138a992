//! Drivers of a Pod's volumes that are not on its node.
//!
//! **Why:** the kubelet unmounts a volume through the driver that has registered on the node, and the driver's node plugin is
//! a Pod that can be evicted or deleted (`kubernetes/kubernetes:pkg/volume/csi/csi_client.go` newCsiDriverClient). It then
//! takes the driver out of the CSINode (`pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`). **Wants** the CSINode, and the
//! volumes of the claims. **Advises** to bring the node plugin back.

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        kinds::{CsiNode, PersistentVolume, PersistentVolumeClaim, Pod, Volume},
        limits,
        model::{Finding, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the CSINode if it lacks a driver of the Pod's volumes. What could not be read accuses nobody.
pub(super) fn add_missing_plugins(pod: &Object, node: &Object, finding: &mut Finding, view: &View<'_>) {
    let needed = drivers(pod, view);
    if needed.is_empty() {
        return;
    }
    let Ok(Some(found)) = view.object("storage.k8s.io", "csinodes", "", node.name()) else {
        return;
    };
    let there: BTreeSet<_> = CsiNode(found).drivers().collect();
    for driver in needed.iter().filter(|driver| !there.contains(driver.as_str())) {
        let says =
            format!("lacks driver {driver} of its volumes, without which the kubelet cannot unmount them");
        finding.wait.on.insert(0, view.blocker(found, says));
        let then = "the kubelet unmounts and finishes by itself";
        finding.steps.insert(0, see_its_pods(driver, node, then));
    }
}

/// The step that shows whether a Pod of a driver runs on the node, and what follows once one does.
pub(super) fn see_its_pods(driver: &str, node: &Object, then: &str) -> Step {
    Step {
        when: When::Now,
        text: format!(
            "see why no Pod of driver {driver} runs on {}: it may be uninstalled, evicted, not scheduled, or crash. Once it runs there \
             again, {then}",
            node.name()
        ),
        command: Some(Command::of(
            "kubectl get pods -A --field-selector spec.nodeName={}",
            [node.name()],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The CSI drivers of the volumes of a Pod.
fn drivers(pod: &Object, view: &View<'_>) -> BTreeSet<String> {
    let inline = Pod(pod)
        .volumes()
        .filter_map(Volume::csi_driver)
        .map(str::to_owned);
    let claims = Pod(pod)
        .volumes()
        .filter_map(Volume::claim)
        .take(limits::VOLUMES_ONE_BY_ONE);
    let bound = claims.filter_map(|name| {
        let claim = view
            .object("", "persistentvolumeclaims", pod.namespace(), name)
            .ok()??;
        let name = Some(PersistentVolumeClaim(claim).volume()).filter(|name| !name.is_empty())?;
        let volume = view.object("", "persistentvolumes", "", name).ok()??;
        Some(PersistentVolume(volume).csi_driver().to_owned())
    });
    inline.chain(bound).filter(|driver| !driver.is_empty()).collect()
}
