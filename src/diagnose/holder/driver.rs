//! Controllers that each CSI driver has its own copy of: sidecars that run beside the driver's controller.
//!
//! The author of the driver names their workload.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        holder::{
            bystander::Wanted,
            driver_installation::DriverInstallation,
            pod_template::name_of,
            rights,
            rights::is_meant_to_run,
            trace::{Holder, Sign, Tells, Trace},
            workload::sidecar,
        },
        kinds::{CsiNode, PersistentVolume},
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

/// The driver that an object and a finalizer on it name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Driver {
    /// Its name.
    pub name: String,
    /// Whether the driver itself writes this name as that of a CSI driver. A cluster in which it is installed
    /// then knows it by that name.
    pub is_registered: bool,
}

/// Whether the entry describes a controller that each driver has its own copy of.
pub(super) fn is_per_driver(entry: &Entry) -> bool {
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

/// The driver that distinguishes these objects from others with the same finalizer.
pub fn distinguishing_driver<'a>(
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
    is_per_driver(&entry).then_some(driver)
}

/// The driver whose sidecar holds the object. `seen` is the driver that the object named when it was last read;
/// it is for an object that can no longer be read.
pub(super) fn driver_of(
    object: &Object,
    finalizer: &Finalizer,
    entry: &Entry,
    seen: Option<&str>,
) -> Option<Driver> {
    if !is_per_driver(entry) {
        return None;
    }
    let mut named = names(&object.value).chain(seen);
    let Some(in_name) = driver_in_name(finalizer, entry) else {
        let name = named.next()?;
        return Some(Driver {
            name: name.to_owned(),
            is_registered: is_csi(object, name),
        });
    };
    // The name of the finalizer has the driver only with other characters.
    let exact = named.find(|name| plain(name) == in_name);
    Some(Driver {
        name: exact.unwrap_or(in_name).to_owned(),
        is_registered: exact.is_some(),
    })
}

/// The driver as the name of the finalizer spells it.
pub(super) fn driver_in_name<'a>(finalizer: &'a Finalizer, entry: &Entry) -> Option<&'a str> {
    entry.matched(&finalizer.name).filter(|driver| !driver.is_empty())
}

/// Whether the object names a CSI driver. Other provisioners use the same library and finalizer for their
/// volumes, and a cluster knows nothing of them.
fn is_csi(object: &Object, driver: &str) -> bool {
    let says_so = [
        PersistentVolume(object).csi_driver(),
        object.annotation("pv.kubernetes.io/migrated-to"),
    ];
    !object.is("", "persistentvolumes") || says_so.contains(&driver)
}

/// Adds signs of whether the driver is installed.
pub(super) fn add_installation(driver: &Driver, holder: &mut Holder, view: &View<'_>) {
    if !driver.is_registered {
        return;
    }
    let installation = DriverInstallation::read(&driver.name, view);
    for missing in &installation.missing {
        holder.add_missing(missing);
    }
    for sign in installation.signs {
        holder.add(sign);
    }
}

/// Adds what runs the sidecar of a driver and may be that of this one. A workload is that of another driver if it is named
/// like a driver that a node has registered. The sidecar itself does not tell whose volumes it serves.
pub(super) fn add_sidecars(
    driver: &Driver,
    object: &Object,
    entry: &Entry,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let nodes = match view.list("storage.k8s.io", "csinodes", "") {
        Ok(nodes) => nodes,
        Err(missing) => return holder.add_missing(&missing),
    };
    let registered: BTreeSet<_> = nodes
        .iter()
        .flat_map(|node| CsiNode(node).drivers())
        .filter(|name| *name != driver.name)
        .collect();
    let others: Vec<_> = registered
        .into_iter()
        .map(|name| Wanted::of_driver(entry, name))
        .collect();
    let mut workloads = Vec::new();
    for plural in ["deployments", "statefulsets", "daemonsets"] {
        match view.list("apps", plural, "") {
            Ok(all) => workloads.extend(all),
            Err(missing) => holder.add_missing(&missing),
        }
    }
    workloads.extend(rights::lone_pods(object, holder, view));
    for workload in workloads.into_iter().filter(|one| is_meant_to_run(one)) {
        let Some(container) = sidecar(entry, workload) else {
            continue;
        };
        if others.iter().any(|other| other.shares_a_word(workload)) {
            continue;
        }
        let value = format!("runs {container}, for a driver that it does not name");
        let sign = Sign::new(
            Trace::Workload,
            Tells::Possible,
            Strength::Moderate,
            name_of(workload),
            value,
        );
        holder.add(sign.about(workload.reference()));
    }
}
