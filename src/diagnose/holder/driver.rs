//! Holders of which each CSI driver has its own: sidecars that run beside the driver's controller.
//!
//! Their workload has whatever name the driver's author gave it. What the driver leaves in a cluster whatever it is
//! called is the `CSIDriver` object that its manifests bring, and the `CSINode` entries that kubelets write for a running
//! node plugin (`kubernetes/kubernetes:pkg/volume/csi/nodeinfomanager`). Either of them shows that it is installed.

use crate::{
    diagnose::{
        holder::trace::{Holder, Sign, Tells, Trace},
        model::Strength,
        view::View,
    },
    knowledge::{Entry, GroupKind, Knowledge},
    object::Finalizer,
    snapshot::{
        CrowdKey, OnType,
        driver::{names, plain},
        facts::Object,
    },
};

/// A driver, as far as an object and a finalizer on it tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Driver {
    /// Its name.
    pub name: String,
    /// Whether that is a CSI driver's, as the driver itself writes it: then a cluster in which it is installed knows it by
    /// that name.
    is_registered: bool,
}

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

/// The driver that tells these objects from others with the same finalizer.
pub fn apart<'a>(
    finalizer: &Finalizer,
    on: &OnType,
    alike: &'a CrowdKey,
    knowledge: &Knowledge,
) -> Option<&'a str> {
    let kind = GroupKind {
        group: &on.group,
        kind: &on.kind,
    };
    let driver = alike.driver.as_deref()?;
    let entry = knowledge.lookup(&finalizer.name, finalizer.list, Some(kind))?;
    is_of_each(&entry).then_some(driver)
}

/// The driver whose holder it is; `seen` is the one that the object named when it was seen last, for one that cannot be read
/// any more.
pub(super) fn of(
    object: &Object,
    finalizer: &Finalizer,
    entry: &Entry,
    seen: Option<&str>,
) -> Option<Driver> {
    if !is_of_each(entry) {
        return None;
    }
    let mut named = names(&object.value).chain(seen);
    let Some(written) = written(finalizer, entry) else {
        let name = named.next()?;
        return Some(Driver {
            name: name.to_owned(),
            is_registered: is_csi(object, name),
        });
    };
    // The finalizer's own name has it only with other characters.
    let exact = named.find(|name| plain(name) == written);
    Some(Driver {
        name: exact.unwrap_or(written).to_owned(),
        is_registered: exact.is_some(),
    })
}

/// The driver as the finalizer's own name has it.
pub(super) fn written<'a>(finalizer: &'a Finalizer, entry: &Entry) -> Option<&'a str> {
    entry
        .matched(&finalizer.name)
        .filter(|written| !written.is_empty())
}

/// Volumes may be those of other provisioners, with the same library and finalizer, of which a cluster knows nothing.
fn is_csi(object: &Object, driver: &str) -> bool {
    let says_so = [
        object.text("/spec/csi/driver"),
        object.annotation("pv.kubernetes.io/migrated-to"),
    ];
    !object.is("", "persistentvolumes") || says_so.contains(&driver)
}

/// Whether the driver is installed.
pub(super) fn look(driver: &Driver, holder: &mut Holder, view: &View<'_>) {
    if !driver.is_registered {
        return;
    }
    let driver = driver.name.as_str();
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

/// Whether the `CSINode` has the driver's node plugin.
pub fn registers(node: &Object, driver: &str) -> bool {
    node.list("/spec/drivers")
        .iter()
        .any(|entry| entry.get("name").and_then(serde_json::Value::as_str) == Some(driver))
}
