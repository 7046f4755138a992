//! Searches for the controller that must remove a finalizer: first by the names in the catalogue, then by what
//! the cluster itself tells. The search stops as soon as the controller is found. Before it counts as gone, everybody
//! who may be it under another name is looked for.

use serde_json::json;

use crate::{
    diagnose::{
        holder::{
            account,
            bystander::Wanted,
            driver,
            driver::Driver,
            lease, node, platform, product, program, rights, silence,
            trace::{Holder, Sign, Tells, Trace},
            workload, writer,
        },
        model::Liveness,
        timing,
        view::{Missing, View},
    },
    knowledge::{Entry, FoundBy, Runs},
    object::{Age, Finalizer, ResourceType},
    snapshot::{
        Gap, What, Why,
        facts::{Object, Resource},
    },
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
        add_lack_of_sight(object, &entry.project, &holder, view);
        return holder;
    }
    workload::add_workloads(entry, finalizer, object, &mut holder, view);
    let is_by_kind = entry.holder.found_by.contains(&FoundBy::RbacOnKind);
    if is_by_kind {
        rights::add_namesakes(object, &mut holder, view);
    }
    // Where the name says a kind, the operator of that kind acts, and not that of the object.
    let of_kind = is_by_kind.then(|| named_kind(finalizer, object, view)).flatten();
    let subject = of_kind.as_ref().unwrap_or(object);
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
        // The controller runs and does nothing, so its rights are checked. A Lease shows that it runs, and not under which
        // name.
        Liveness::Running if is_late(object, view) => {
            let is_unnamed = holder.running().is_empty() && !entry.holder.workloads.is_empty();
            if is_unnamed && driver.is_none() && entry.holder.runs == Runs::InCluster {
                let wanted = Wanted::of(entry, object, finalizer);
                add_candidates(object, None, Some(&wanted), &mut holder, view);
            }
            check_rights(object, &mut holder, view);
        }
        // The names do not find the controller, so everything that may change the object is a candidate.
        Liveness::Unknown | Liveness::Gone
            if holder.unseen.is_empty() && matches!(entry.holder.runs, Runs::InCluster | Runs::Nobody) =>
        {
            let wanted = wanted(driver, entry, object, finalizer);
            product::add_missing_types(object, entry, &mut holder, view);
            // On a custom type the rights are the second sign. The sidecars of all drivers, and the controllers of all
            // instances, write under one name. The sign comes before the search that may refute it.
            let is_only_one = driver.is_none() && !workload::is_of_each_instance(entry);
            if is_only_one && rights::is_shared(subject, Some(&wanted)) {
                silence::add_silence(object, finalizer, entry, &mut holder, view);
            }
            let by_domain =
                entry.holder.leases.is_empty() && driver.is_none() && !workload::is_of_each_instance(entry);
            add_candidates(
                subject,
                by_domain.then_some(finalizer),
                Some(&wanted),
                &mut holder,
                view,
            );
            if let Some(driver) = driver {
                driver::add_sidecars(driver, object, entry, &mut holder, view);
            }
            if holder.liveness() == Liveness::Gone {
                lease::add_renewed_leases(&wanted, &mut holder, view);
            }
        }
        _ => {}
    }
    if holder.was_not_met() {
        platform::add_hiding_platform(object, entry, &mut holder, view);
    }
    add_lack_of_sight(object, &entry.project, &holder, view);
    holder
}

/// An object of the kind that a finalizer on another object is named after: a `NeutronAPI` for `openstack.org/neutronapi`.
fn named_kind(finalizer: &Finalizer, object: &Object, view: &View<'_>) -> Option<Object> {
    let (domain, word) = finalizer.name.split_once('/')?;
    let below = format!(".{domain}");
    let is_named = |ty: &&ResourceType| {
        let is_of_domain = ty.group == domain || ty.group.ends_with(&below);
        is_of_domain && ty.kind.eq_ignore_ascii_case(word) && ty.name() != object.resource.name()
    };
    let ty = view.types().iter().find(is_named)?;
    let namespace = if ty.namespaced { object.namespace() } else { "" };
    Some(Object {
        resource: Resource::new(&ty.group, &ty.plural),
        kind: ty.kind.clone(),
        api_version: ty.api_version(),
        value: json!({"metadata": {"namespace": namespace}}),
    })
}

/// What the controller is recognised by.
fn wanted(driver: Option<&Driver>, entry: &Entry, object: &Object, finalizer: &Finalizer) -> Wanted {
    driver.map_or_else(
        || Wanted::of(entry, object, finalizer),
        |driver| Wanted::of_driver(entry, &driver.name),
    )
}

/// Whether something else than the workload that fails may be the controller, by its rights, by its Lease, or where a
/// platform hides it. An older installation can be left behind and fail. What could not be seen may be the controller, too.
pub fn may_be_another(
    object: &Object,
    finalizer: &Finalizer,
    entry: Option<&Entry>,
    holder: &Holder,
    view: &View<'_>,
) -> bool {
    let fails: Vec<_> = holder
        .with(Tells::Failing)
        .filter_map(|sign| sign.object.as_ref())
        .collect();
    // What fails beside it was not ready at this moment. It may run in the next.
    let is_another = |sign: &Sign| {
        matches!(sign.tells, Tells::Alive | Tells::Possible | Tells::Failing)
            && sign.object.as_ref().is_none_or(|object| !fails.contains(&object))
    };
    let mut others = Holder::default();
    let wanted = entry.map(|entry| {
        let driver = driver::driver_of(object, finalizer, entry, None);
        wanted(driver.as_ref(), entry, object, finalizer)
    });
    // Leases first: beside a workload, a Lease in another namespace counts as that of another instance.
    if let (Some(entry), Some(wanted)) = (entry, &wanted) {
        lease::add_renewed_leases(wanted, &mut others, view);
        platform::add_hiding_platform(object, entry, &mut others, view);
    } else {
        lease::add_leases_of_domain(object, finalizer, &mut others, view);
        platform::add_platform_of_domain(object, finalizer, &mut others, view);
    }
    rights::add_who_may_change(object, wanted.as_ref(), rights::Until::End, &mut others, view);
    others.pending
        || others.elsewhere.is_some()
        || !others.unseen.is_empty()
        || holder.signs.iter().chain(&others.signs).any(is_another)
}

/// The sidecar of a registered CSI driver. None if the catalogue does not describe the finalizer.
pub fn sidecar_of(driver: &str, object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Option<Holder> {
    let entry = view.entry(object, finalizer)?;
    let driver = Driver {
        name: driver.to_owned(),
        is_registered: true,
    };
    Some(described_with_driver(
        Some(&driver),
        object,
        finalizer,
        &entry,
        view,
    ))
}

/// Adds what may be the controller, by its rights, and by Leases of the domain of this finalizer.
fn add_candidates(
    object: &Object,
    by_domain: Option<&Finalizer>,
    wanted: Option<&Wanted>,
    holder: &mut Holder,
    view: &View<'_>,
) {
    // On a type that many controllers change, rights only keep a controller from being gone, so they come last.
    let is_shared = rights::is_shared(object, wanted);
    if !is_shared {
        rights::add_who_may_change(object, wanted, rights::Until::Found, holder, view);
    }
    if let Some(finalizer) = by_domain {
        lease::add_leases_of_domain(object, finalizer, holder, view);
    }
    if is_shared {
        rights::add_who_may_change(object, wanted, rights::Until::Found, holder, view);
    }
}

/// Records that a controller which this cluster does not show was not seen.
fn add_lack_of_sight(object: &Object, project: &str, holder: &Holder, view: &View<'_>) {
    if let (Liveness::Elsewhere, Some(place)) = (holder.liveness(), &holder.elsewhere)
        && object.deletion().is_some()
    {
        view.miss(&Gap {
            what: What::Controller(project.to_owned()),
            why: Why::OutOfSight(place.clone()),
        });
    }
}

/// The controller of a finalizer that the catalogue does not describe: found by the rights on the object, its
/// definition and its writers.
pub fn undescribed(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Holder {
    let mut holder = Holder::default();
    product::add_definition(object, &mut holder, view);
    add_candidates(object, Some(finalizer), None, &mut holder, view);
    holder.doubt_many();
    writer::add_writers(object, finalizer, &mut holder, view);
    node::add_missing_node_of_pod(object, finalizer, &mut holder, view);
    if holder.liveness() == Liveness::Unknown {
        program::add_program(object, finalizer, &mut holder, view);
        // A name alone tells little. A program that may not change the object is no working controller of it.
        if holder.liveness() == Liveness::Running && check_rights(object, &mut holder, view).is_none() {
            holder.take_back(Tells::Nothing);
        }
    }
    if holder.liveness() == Liveness::Gone {
        platform::add_platform_of_domain(object, finalizer, &mut holder, view);
        add_lack_of_sight(object, &finalizer.name, &holder, view);
    }
    holder
}

fn is_late(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_some_and(|deletion| Age::between(deletion.requested_at(), view.now()).0 > timing::RIGHTS_CHECK)
}

fn elsewhere(runs: Runs) -> Option<String> {
    let place = match runs {
        Runs::InCluster | Runs::ControlPlane | Runs::Nobody => return None,
        Runs::HiddenControlPlane => "in a control plane that nobody here can see",
        Runs::OtherCluster => "in another cluster",
        Runs::Outside => "outside any cluster",
    };
    Some(place.to_owned())
}

/// The first thing that the one running workload may not do with other objects, of what its entry says that it must.
pub fn lacking_for_work(object: &Object, entry: &Entry, holder: &Holder, view: &View<'_>) -> Holder {
    let mut lacking = Holder::default();
    let Ok(Some(workload)) = only_runner(holder, view) else {
        return lacking;
    };
    for right in entry
        .waits_for
        .rights
        .iter()
        .filter(|right| right.is_needed_for(&object.value))
    {
        account::add_lacking(right, workload, object, &mut lacking, view);
        if lacking.with(Tells::Failing).next().is_some() {
            break;
        }
    }
    lacking
}

/// Adds whether the one running workload has the rights that it needs. A workload of this cluster uses its
/// account, and the rights of that can be computed. None if it is not known.
fn check_rights(object: &Object, holder: &mut Holder, view: &View<'_>) -> Option<()> {
    match only_runner(holder, view) {
        Ok(workload) => account::add_missing_rights(workload?, object, holder, view),
        Err(missing) => {
            holder.wait_for(&missing);
            None
        }
    }
}

/// The one workload that runs; none if there are several, or it is gone meanwhile.
fn only_runner<'a>(holder: &Holder, view: &View<'a>) -> Result<Option<&'a Object>, Missing> {
    let running: Vec<_> = holder.running().into_iter().collect();
    let &[only] = running.as_slice() else {
        return Ok(None);
    };
    let ty = Resource::named(&only.type_name);
    let namespace = only.namespace.as_deref().unwrap_or_default();
    view.object(&ty.group, &ty.plural, namespace, &only.name)
}
