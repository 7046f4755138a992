//! Holders of which each CSI driver has its own: sidecars that run beside the driver's controller.
//!
//! Their workload has whatever name the driver's author gave it. What the driver leaves in a cluster whatever it is
//! called is the `CSIDriver` object that its manifests bring, and the `CSINode` entries that kubelets write for a running
//! node plugin (`kubernetes/kubernetes:pkg/volume/csi/nodeinfomanager`). Either of them shows that it is installed.

use super::trace::{Holder, Sign, Tells, Trace};
use crate::{
    diagnose::{model::Strength, view::View},
    knowledge::Entry,
    object::Finalizer,
    snapshot::facts::Object,
};

/// Whether the entry describes a holder of which each driver has its own.
pub(super) fn is_of_each(entry: &Entry) -> bool {
    let leases = entry.holder.leases.iter().map(|lease| Some(&lease.name));
    let workloads = entry
        .holder
        .workloads
        .iter()
        .map(|workload| workload.name.as_ref());
    leases
        .chain(workloads)
        .flatten()
        .any(|name| name.contains("{driver}"))
}

/// The driver whose holder it is. The finalizer's own name has it only with other characters.
pub(super) fn of(object: &Object, finalizer: &Finalizer, entry: &Entry) -> Option<String> {
    if !is_of_each(entry) {
        return None;
    }
    ["/spec/csi/driver", "/spec/attacher", "/spec/driver"]
        .into_iter()
        .map(|pointer| object.text(pointer))
        .chain(entry.matched(&finalizer.name))
        .find(|driver| !driver.is_empty())
        .map(str::to_owned)
}

/// Whether the driver is installed.
pub(super) fn look(driver: &str, holder: &mut Holder, view: &View<'_>) {
    let object = view.object("storage.k8s.io", "csidrivers", "", driver);
    let nodes = view.list("storage.k8s.io", "csinodes", "");
    let (object, nodes) = match (object, nodes) {
        (Ok(object), Ok(nodes)) => (object, nodes),
        (object, nodes) => {
            for missing in object.err().iter().chain(nodes.err().iter()) {
                holder.miss(missing);
            }
            return;
        }
    };
    let registered = nodes.iter().any(|node| registers(node, driver));
    // One that is installed and renews no Lease may only be late.
    let tells = if object.is_some() || registered {
        Tells::Nothing
    } else {
        Tells::Gone
    };
    let exists = if object.is_some() {
        "exists"
    } else {
        "does not exist"
    };
    let mut add = |trace, source: String, value: String| {
        holder.add(Sign::new(trace, tells, Strength::Moderate, source, value));
    };
    add(Trace::Product, format!("CSIDriver {driver}"), exists.to_owned());
    if registered {
        add(
            Trace::Workload,
            "CSINodes spec.drivers".into(),
            format!("{driver} is on a node"),
        );
    } else if !nodes.is_empty() {
        let value = format!("none of {} names {driver}", nodes.len());
        add(Trace::Workload, "CSINodes spec.drivers".into(), value);
    }
}

fn registers(node: &Object, driver: &str) -> bool {
    node.list("/spec/drivers")
        .iter()
        .any(|entry| entry.get("name").and_then(serde_json::Value::as_str) == Some(driver))
}
