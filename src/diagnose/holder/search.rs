//! Looking for whoever must remove a finalizer: first by the names that the catalogue gives, then by what the
//! cluster itself tells, and only as far as is needed for an answer.

use crate::{
    diagnose::{
        holder::{
            account, driver,
            driver::Driver,
            lease, product,
            trace::{Holder, State, Tells, Trace},
            workload, writer,
        },
        timing,
        view::View,
    },
    knowledge::{Entry, Runs},
    object::{Age, Finalizer},
    snapshot::facts::{Object, Resource},
};

/// The holder of a finalizer that the catalogue describes.
pub fn described(object: &Object, finalizer: &Finalizer, entry: &Entry, view: &View<'_>) -> Holder {
    let driver = driver::of(object, finalizer, entry, None);
    of_driver(driver.as_ref(), object, finalizer, entry, view)
}

/// The same where each CSI driver has its own, of this one.
pub(super) fn of_driver(
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
        // What is called like it here is this cluster's own: a hub that manages itself has an agent, too. Of the other
        // one only what it wrote can be seen.
        writer::look(object, finalizer, &mut holder, view);
        return holder;
    }
    workload::look(entry, finalizer, object, &mut holder, view);
    let name = driver.map(|driver| driver.name.as_str());
    lease::named(entry, name, &mut holder, view);
    if let Some(driver) = driver {
        driver::look(driver, &mut holder, view);
    }
    account::named(entry, &mut holder, view);
    if entry.holder.runs == Runs::ControlPlane {
        // Many platforms hide theirs: what is not seen of it says nothing, only a Lease that it left does.
        holder
            .signs
            .retain(|sign| sign.tells != Tells::Gone || sign.trace == Trace::Lease);
    }
    product::look(entry, &mut holder, view);
    product::definition(object, &mut holder, view);
    writer::look(object, finalizer, &mut holder, view);
    if holder.pending {
        return holder;
    }
    if is_late(object, view) {
        workload::leave_out_others(entry, object, &mut holder, view);
    }
    match holder.state() {
        // It runs and does nothing: may it do what it must?
        State::Running if is_late(object, view) => rights(object, &mut holder, view),
        // The names did not find it, nor prove it gone: whoever may change the object is a candidate.
        // The sidecars of all drivers have the same rights, and so have the agents of all instances.
        State::Unknown
            if entry.holder.runs == Runs::InCluster
                && holder.unseen.is_empty()
                && driver.is_none()
                && !workload::is_of_each_instance(entry) =>
        {
            account::by_rights(object, &mut holder, view);
            if entry.holder.leases.is_empty() {
                lease::by_domain(object, finalizer, &mut holder, view);
            }
        }
        _ => {}
    }
    holder
}

/// The holder of a finalizer that nobody has described: by the rights on the object, its definition, its writers.
pub fn undescribed(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Holder {
    let mut holder = Holder::default();
    account::by_rights(object, &mut holder, view);
    product::definition(object, &mut holder, view);
    lease::by_domain(object, finalizer, &mut holder, view);
    writer::look(object, finalizer, &mut holder, view);
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

/// What runs as a workload of this cluster acts as its account, whose rights can be computed.
fn rights(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let running: Vec<_> = holder.running().into_iter().collect();
    let &[only] = running.as_slice() else {
        return;
    };
    let ty = Resource::named(&only.type_name);
    let namespace = only.namespace.as_deref().unwrap_or_default();
    match view.object(&ty.group, &ty.plural, namespace, &only.name) {
        Ok(Some(workload)) => account::lacks_rights(workload, object, holder, view),
        Ok(None) => {}
        Err(missing) => holder.wait_for(&missing),
    }
}
