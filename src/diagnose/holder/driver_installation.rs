//! Whether a CSI driver is installed, as the cluster itself shows it.
//!
//! Two objects have a fixed name. The manifests of a driver create its `CSIDriver`. The kubelet writes a `CSINode` entry
//! for a running node plugin (`kubernetes/kubernetes:pkg/volume/csi/nodeinfomanager`). Either of them shows that the
//! driver is installed. That both lack it is a sign that the driver is gone, but no proof: its sidecar can still run.

use crate::{
    diagnose::{
        holder::{
            lease::Life,
            trace::{Sign, Tells, Trace},
        },
        kinds::CsiNode,
        model::{Evidence, Strength},
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// A CSI driver, and what shows whether it is installed.
pub(in crate::diagnose) struct DriverInstallation {
    pub(in crate::diagnose) driver: String,
    /// Whether an object shows that the driver is installed.
    pub(in crate::diagnose) is_installed: bool,
    /// What the `CSIDriver` and the `CSINode` objects tell. Empty if not all of them could be read.
    pub(in crate::diagnose) signs: Vec<Sign>,
    /// What could not be read.
    pub(in crate::diagnose) missing: Vec<Missing>,
}

impl DriverInstallation {
    /// Reads what the cluster knows of a driver.
    pub(in crate::diagnose) fn read(driver: &str, view: &View<'_>) -> Self {
        let object = view.object("storage.k8s.io", "csidrivers", "", driver);
        let nodes = view.list("storage.k8s.io", "csinodes", "");
        let is_registered = |nodes: &[Object]| nodes.iter().any(|node| registers(node, driver));
        let is_installed =
            matches!(object, Ok(Some(_))) || nodes.as_ref().is_ok_and(|nodes| is_registered(nodes));
        let missing = [object.as_ref().err(), nodes.as_ref().err()];
        let missing = missing.into_iter().flatten().cloned().collect();
        let signs = match (object, nodes) {
            (Ok(object), Ok(nodes)) => signs(driver, object.is_some(), nodes),
            _ => Vec::new(),
        };
        DriverInstallation {
            driver: driver.to_owned(),
            is_installed,
            signs,
            missing,
        }
    }

    /// Whether two independent signs show that neither an installation nor a node has the driver. A Lease that its
    /// sidecar has not renewed for long is one of them.
    pub(in crate::diagnose) fn is_unknown_to_the_cluster(&self, life: Option<&Life>) -> bool {
        let is_long_stale = life.is_some_and(Life::is_long_dead);
        !self.driver.is_empty() && self.absence().count() + usize::from(is_long_stale) > 1
    }

    /// The signs that the driver is gone, as evidence.
    pub(in crate::diagnose) fn evidence(&self) -> impl Iterator<Item = Evidence> {
        self.absence().map(Sign::evidence)
    }

    fn absence(&self) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(|sign| sign.tells == Tells::Gone)
    }
}

fn signs(driver: &str, exists: bool, nodes: &[Object]) -> Vec<Sign> {
    let is_registered = nodes.iter().any(|node| registers(node, driver));
    // A driver that is installed and renews no Lease may only be late.
    let tells = if exists || is_registered {
        Tells::Nothing
    } else {
        Tells::Gone
    };
    let sign =
        |trace, source: &str, value: String| Sign::new(trace, tells, Strength::Moderate, source, value);
    let exists = if exists { "exists" } else { "does not exist" };
    let mut signs = vec![sign(
        Trace::Installation,
        &format!("CSIDriver {driver}"),
        exists.to_owned(),
    )];
    let on_nodes = "CSINodes spec.drivers";
    if is_registered {
        signs.push(sign(Trace::Workload, on_nodes, format!("{driver} is on a node")));
    } else if !nodes.is_empty() {
        let value = format!("none of {} names {driver}", nodes.len());
        signs.push(sign(Trace::Workload, on_nodes, value));
    }
    signs
}

/// Whether the `CSINode` has the driver's node plugin.
pub fn registers(node: &Object, driver: &str) -> bool {
    CsiNode(node).drivers().any(|name| name == driver)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::{
            testing::world::{World, object},
            view,
        },
        knowledge::Knowledge,
    };

    const DRIVER: &str = "d.example";

    fn read(world: &World) -> DriverInstallation {
        let knowledge = Knowledge::builtin();
        world.answered(|facts| {
            let view = view(facts, &knowledge);
            (DriverInstallation::read(DRIVER, &view), view.wanted())
        })
    }

    fn csi_driver() -> Object {
        let value = json!({"metadata": {"name": DRIVER}});
        object("storage.k8s.io", "csidrivers", "CSIDriver", value)
    }

    fn node(driver: &str) -> Object {
        let value = json!({"metadata": {"name": "n"}, "spec": {"drivers": [{"name": driver}]}});
        object("storage.k8s.io", "csinodes", "CSINode", value)
    }

    #[test]
    fn a_driver_that_neither_an_installation_nor_a_node_has_is_unknown_to_the_cluster() {
        let read = read(&World::of([node("other.example")]));
        assert!(!read.is_installed && read.is_unknown_to_the_cluster(None));
        assert_eq!(read.evidence().count(), 2);
    }

    #[test]
    fn one_object_shows_that_a_driver_is_installed() {
        for objects in [vec![csi_driver()], vec![node(DRIVER)]] {
            let read = read(&World::of(objects));
            assert!(read.is_installed && !read.is_unknown_to_the_cluster(None));
            assert_eq!(read.evidence().count(), 0);
        }
    }

    #[test]
    fn a_cluster_without_nodes_has_only_one_sign() {
        assert!(!read(&World::default()).is_unknown_to_the_cluster(None));
    }

    #[test]
    fn a_driver_is_not_unknown_while_something_could_not_be_read() {
        for hidden in ["csidrivers", "csinodes"] {
            let read = read(&World::of([node("other.example")]).hiding(hidden));
            assert!(!read.is_unknown_to_the_cluster(None) && read.signs.is_empty());
            assert_eq!(read.missing.len(), 1);
        }
    }
}
