//! Searches for the controller that must remove a finalizer: first by the names in the catalogue, then by what
//! the cluster itself tells. The search stops as soon as there is an answer.

use crate::{
    diagnose::{
        holder::{
            account, driver,
            driver::Driver,
            lease, product,
            trace::{Holder, Liveness, Tells, Trace},
            workload, writer,
        },
        timing,
        view::View,
    },
    knowledge::{Entry, Runs},
    object::{Age, Finalizer},
    snapshot::facts::{Object, Resource},
};

/// The controller of a finalizer that the catalogue describes.
pub fn described(object: &Object, finalizer: &Finalizer, entry: &Entry, view: &View<'_>) -> Holder {
    let driver = driver::driver_of(object, finalizer, entry, None);
    described_with_driver(driver.as_ref(), object, finalizer, entry, view)
}

/// Like [`described`], with the driver given for finalizers that each CSI driver has its own controller for.
pub(super) fn described_with_driver(
    driver: Option<&Driver>,
    object: &Object,
    finalizer: &Finalizer,
    entry: &Entry,
    view: &View<'_>,
) -> Holder {
    let mut holder = Holder {
        elsewhere: elsewhere(entry.holder.runs),
        ..Holder::default()
    };
    if entry.holder.runs == Runs::OtherCluster {
        // A workload of that name here belongs to this cluster: a hub that manages itself has an agent, too.
        // Only the writes of the other cluster's controller show here.
        writer::add_writers(object, finalizer, &mut holder, view);
        return holder;
    }
    workload::add_workloads(entry, finalizer, object, &mut holder, view);
    let name = driver.map(|driver| driver.name.as_str());
    lease::add_named_leases(entry, name, &mut holder, view);
    if let Some(driver) = driver {
        driver::add_installation(driver, &mut holder, view);
    }
    account::add_named_accounts(entry, &mut holder, view);
    if entry.holder.runs == Runs::ControlPlane {
        // Many platforms hide their control plane, so its absence proves nothing. Only a Lease that it left
        // does.
        holder
            .signs
            .retain(|sign| sign.tells != Tells::Gone || sign.trace == Trace::Lease);
    }
    product::add_product_parts(entry, &mut holder, view);
    product::add_definition(object, &mut holder, view);
    writer::add_writers(object, finalizer, &mut holder, view);
    if holder.pending {
        return holder;
    }
    if is_late(object, view) {
        workload::drop_unrelated_workloads(entry, object, &mut holder, view);
    }
    match holder.liveness() {
        // The controller runs and does nothing, so its rights are checked.
        Liveness::Running if is_late(object, view) => check_rights(object, &mut holder, view),
        // The names neither find the controller nor prove it gone, so any account that may change the object is
        // a candidate. Sidecars of all drivers have the same rights, and so have the agents of all instances.
        Liveness::Unknown
            if entry.holder.runs == Runs::InCluster
                && holder.unseen.is_empty()
                && driver.is_none()
                && !workload::is_of_each_instance(entry) =>
        {
            account::add_accounts_with_rights(object, &mut holder, view);
            if entry.holder.leases.is_empty() {
                lease::add_leases_of_domain(object, finalizer, &mut holder, view);
            }
        }
        _ => {}
    }
    holder
}

/// The controller of a finalizer that the catalogue does not describe: found by the rights on the object, its
/// definition and its writers.
pub fn undescribed(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Holder {
    let mut holder = Holder::default();
    account::add_accounts_with_rights(object, &mut holder, view);
    product::add_definition(object, &mut holder, view);
    lease::add_leases_of_domain(object, finalizer, &mut holder, view);
    writer::add_writers(object, finalizer, &mut holder, view);
    holder
}

fn is_late(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_some_and(|deletion| Age::between(deletion.requested_at(), view.now()).0 > timing::RIGHTS_CHECK)
}

fn elsewhere(runs: Runs) -> Option<&'static str> {
    match runs {
        Runs::InCluster | Runs::ControlPlane | Runs::Nobody => None,
        Runs::HiddenControlPlane => Some("in a control plane that nobody here can see"),
        Runs::OtherCluster => Some("in another cluster"),
        Runs::Outside => Some("outside any cluster"),
    }
}

/// Adds whether the one running workload has the rights that it needs. A workload of this cluster uses its
/// account, and the rights of that can be computed.
fn check_rights(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let running: Vec<_> = holder.running().into_iter().collect();
    let &[only] = running.as_slice() else {
        return;
    };
    let ty = Resource::named(&only.type_name);
    let namespace = only.namespace.as_deref().unwrap_or_default();
    match view.object(&ty.group, &ty.plural, namespace, &only.name) {
        Ok(Some(workload)) => account::add_missing_rights(workload, object, holder, view),
        Ok(None) => {}
        Err(missing) => holder.wait_for(&missing),
    }
}
