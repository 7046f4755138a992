//! Looking for whoever must remove a finalizer: first by the names that the catalogue gives, then by what the
//! cluster itself tells, and only as far as is needed for an answer.

use super::{
    Life, account, lease, product,
    trace::{Holder, Sign, State, Tells, Trace},
    workload, writer,
};
use crate::{
    diagnose::{model::Strength, view::View},
    knowledge::{Entry, Runs},
    object::Finalizer,
    snapshot::facts::Object,
};

/// The holder of a finalizer that the catalogue describes.
pub fn described(object: &Object, finalizer: &Finalizer, entry: &Entry, view: &View<'_>) -> Holder {
    let mut holder = Holder {
        elsewhere: elsewhere(entry.holder.runs),
        ..Holder::default()
    };
    lease_of(entry, &mut holder, view);
    workload::look(entry, &mut holder, view);
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
    match holder.state() {
        // It runs: but may it do what it must?
        State::Running => rights(object, &mut holder, view),
        // The names did not find it, nor prove it gone: whoever may change the object is a candidate.
        State::Unknown if entry.holder.runs == Runs::InCluster => {
            account::by_rights(object, &mut holder, view);
        }
        _ => {}
    }
    holder
}

/// The holder of a finalizer that nobody has described: by the rights on the object, its definition, its writers.
pub fn undescribed(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Holder {
    let mut holder = Holder::default();
    product::definition(object, &mut holder, view);
    writer::look(object, finalizer, &mut holder, view);
    lease::by_domain(object, finalizer, &mut holder, view);
    account::by_rights(object, &mut holder, view);
    holder
}

fn elsewhere(runs: Runs) -> Option<&'static str> {
    match runs {
        Runs::InCluster | Runs::ControlPlane | Runs::Nobody => None,
        Runs::HiddenControlPlane => Some("in a control plane that nobody here can see"),
        Runs::OtherCluster => Some("in another cluster"),
        Runs::Outside => Some("outside any cluster"),
    }
}

fn lease_of(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let life = lease::life(entry, None, view);
    let (tells, strength) = match &life {
        Life::Renewing { .. } => (Tells::Alive, Strength::Strong),
        Life::Stale { ago, .. } if ago.0 >= lease::LONG_DEAD => (Tells::Gone, Strength::Moderate),
        Life::Stale { .. } => (Tells::Nothing, Strength::Moderate),
        Life::NoLease => return,
        Life::NotSeen(why) => return holder.miss(why.clone()),
    };
    if let Life::Renewing { lease, ago } | Life::Stale { lease, ago } = &life {
        holder.add(Sign::new(
            Trace::Lease,
            tells,
            strength,
            format!("Lease {lease} spec.renewTime"),
            format!("renewed {ago} ago"),
        ));
    }
}

/// What runs as a workload of this cluster acts as its account, whose rights can be computed.
fn rights(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let running: Vec<_> = holder
        .with(Tells::Alive)
        .filter(|sign| sign.trace == Trace::Workload)
        .filter_map(|sign| sign.object.clone())
        .collect();
    let [only] = running.as_slice() else {
        return;
    };
    let (plural, group) = only.type_name.split_once('.').unwrap_or((&only.type_name, ""));
    let namespace = only.namespace.as_deref().unwrap_or_default();
    if let Ok(Some(workload)) = view.object(group, plural, namespace, &only.name) {
        account::lacks_rights(workload, object, holder, view);
    }
}
