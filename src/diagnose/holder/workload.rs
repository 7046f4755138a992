//! The workload of a controller: Deployments and the like, found by name and labels.
//!
//! A Deployment of the right name may belong to another product, and a chart may have given the controller
//! another name. So a workload is taken for the controller only if a second thing fits: its labels, or the
//! namespace in which the product usually runs. The workload counts as absent only if no workload of any
//! namespace fits by name or by labels. That is one sign, and never proves alone that the controller is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    diagnose::{
        holder::{
            node,
            pod_template::{account_of, images, name_of},
            rbac::Changers,
            standing,
            trace::{Holder, Sign, Tells, Trace},
        },
        kinds::{self, PodSpec},
        model::Strength,
        view::{Missing, View},
    },
    knowledge::{Entry, OF_OBJECT, SameAs, WorkloadDescription, WorkloadKind, schema::glob},
    object::Finalizer,
    snapshot::{
        facts::{By, Object},
        selector::Selector,
    },
};

/// Adds signs of every workload that the entry names.
pub(super) fn add_workloads(
    entry: &Entry,
    finalizer: &Finalizer,
    target: &Object,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let node = node::node_of_holder(target, finalizer, entry);
    let named: Vec<_> = entry
        .holder
        .workloads
        .iter()
        .filter(|one| is_findable(one))
        .collect();
    // A workload that cannot be searched for may be there.
    let mut complete = !named.is_empty() && named.len() == entry.holder.workloads.len();
    let (mut own, mut others): (Vec<&Object>, Vec<&Object>) = Default::default();
    let mut elsewhere = BTreeSet::new();
    for workload in &named {
        let Some(labels) = instance_labels(workload, target) else {
            complete = false;
            continue;
        };
        match matching_workloads(workload, &labels, target, view) {
            Ok(found) => {
                let (fit, rest): (Vec<_>, Vec<_>) = found
                    .into_iter()
                    .partition(|object| fits(object, workload, entry));
                own.extend(fit);
                // A description by the image alone fits any name. Another image is no sign then, and no proof of absence: a
                // mirror may have renamed it.
                if workload.name.as_deref() == Some("*") {
                    elsewhere.extend(rest.into_iter().map(Object::uid));
                } else {
                    others.extend(rest);
                }
            }
            Err(missing) => {
                complete = false;
                holder.add_missing(&missing);
            }
        }
    }
    // One description may match what another leaves open, and two may match the same workload.
    let mut known = BTreeSet::new();
    own.retain(|object| known.insert(object.uid()));
    others.retain(|object| known.insert(object.uid()));
    for object in &own {
        match node {
            Some(node) if object.is("apps", "daemonsets") => {
                node::add_pod_on_node(object, node, holder, view);
            }
            _ => standing::add_standing(object, Strength::Strong, holder, view),
        }
    }
    for object in others {
        let sign = Sign::new(
            Trace::Workload,
            Tells::Nothing,
            Strength::Hint,
            name_of(object),
            "has its name, but may be another's",
        );
        holder.add(sign.about(object.reference()));
    }
    known.extend(elsewhere);
    if complete && known.is_empty() {
        holder.add(Sign::new(
            Trace::Workload,
            Tells::Gone,
            Strength::Strong,
            if named
                .iter()
                .all(|one| one.namespace.as_deref() == Some(OF_OBJECT))
            {
                format!("workloads in namespace {}", target.namespace())
            } else {
                "workloads in all namespaces".into()
            },
            format!("none is {}", descriptions(&named, target)),
        ));
    }
}

/// The namespace that the workload runs in; empty for all namespaces.
fn namespace_of<'a>(workload: &'a WorkloadDescription, target: &'a Object) -> &'a str {
    match workload.namespace.as_deref() {
        Some(OF_OBJECT) => target.namespace(),
        Some(fixed) => fixed,
        None => "",
    }
}

/// The labels of the instance that this object belongs to. None if the object does not name its instance.
fn instance_labels<'a>(
    workload: &'a WorkloadDescription,
    target: &'a Object,
) -> Option<Vec<(&'a str, &'a str)>> {
    let label = |same: &'a SameAs| {
        let value = target.text(&same.field);
        (!value.is_empty()).then_some((same.label.as_str(), value))
    };
    workload.instance.iter().map(label).collect()
}

/// The labels that the controller of this object's instance has, if the object names its instance.
pub(super) fn labels_of_instance(entry: &Entry, target: &Object) -> Option<Vec<(String, String)>> {
    let all: Option<Vec<_>> = entry
        .holder
        .workloads
        .iter()
        .map(|workload| instance_labels(workload, target))
        .collect();
    let owned = |(label, value): (&str, &str)| (label.to_owned(), value.to_owned());
    Some(all?.into_iter().flatten().map(owned).collect())
}

/// Whether each instance of the product has its own controller. An account that may change the objects of all
/// instances is then not that controller.
pub fn is_of_each_instance(entry: &Entry) -> bool {
    entry
        .holder
        .workloads
        .iter()
        .any(WorkloadDescription::is_of_instance)
}

/// Whether the entry has enough to search a whole cluster. The name of a container alone is not enough, nor is
/// a name for each driver.
fn is_findable(workload: &WorkloadDescription) -> bool {
    let fixed = workload.name.as_deref().is_some_and(|name| !name.contains('{'));
    fixed || workload.selector.is_some()
}

/// Whether the entry describes the workload only as one of many, such as the providers of one product.
fn is_any_of_many(workload: &WorkloadDescription) -> bool {
    let selector = workload.selector.as_deref();
    workload.name.is_none() && selector.is_some_and(|selector| !selector.contains('='))
}

/// Drops workloads that serve other objects. If the entry matches many workloads, those without rights to
/// change the object serve other types. Whether they run or lack rights tells nothing about this object.
pub(super) fn drop_unrelated_workloads(entry: &Entry, object: &Object, holder: &mut Holder, view: &View<'_>) {
    for workload in entry.holder.workloads.iter().filter(|one| is_any_of_many(one)) {
        let (group, plural, _) = kind(workload.kind);
        let namespace = namespace_of(workload, object);
        let selector = By::Labels(workload.selector.clone().unwrap_or_default());
        let Ok(found) = view.search(group, plural, namespace, selector) else {
            return;
        };
        if found.is_empty() {
            continue;
        }
        let changers = Changers::of(object, view);
        if let Err(missing) = &changers {
            holder.add_missing(missing);
        }
        for other in found {
            let account = account_of(other);
            let may = |changers: &Rc<Changers>| changers.may(other.namespace(), account, object);
            if changers.as_ref().is_ok_and(may) {
                continue;
            }
            let reference = other.reference();
            holder
                .signs
                .retain(|sign| sign.object.as_ref() != Some(&reference));
            if changers.is_err() {
                continue;
            }
            holder.add(
                Sign::new(
                    Trace::Workload,
                    Tells::Nothing,
                    Strength::Hint,
                    name_of(other),
                    format!("is for others: it may not change {}", object.resource.name()),
                )
                .about(reference),
            );
        }
    }
}

/// These workloads in words: `Deployment rancher, *-rancher or Pod agent`. A kind stands once before several names.
fn descriptions(workloads: &[&WorkloadDescription], target: &Object) -> String {
    let mut text = String::new();
    let mut last = None;
    let mut told = BTreeSet::new();
    let workloads: Vec<_> = workloads
        .iter()
        .filter(|one| told.insert(description(one, target)))
        .collect();
    for (at, workload) in workloads.iter().enumerate() {
        let is_end = at.saturating_add(1) == workloads.len();
        text.push_str(match (at, is_end) {
            (0, _) => "",
            (_, true) => " or ",
            (_, false) => ", ",
        });
        let one = description(workload, target);
        let kind = kind(workload.kind).2;
        let is_told = last.replace(kind) == Some(kind) && workload.name.is_some();
        text.push_str(
            one.strip_prefix(kind)
                .filter(|_| is_told)
                .map_or(&*one, str::trim_start),
        );
    }
    text
}

fn description(workload: &WorkloadDescription, target: &Object) -> String {
    let kind = kind(workload.kind).2;
    let labels: Vec<_> = instance_labels(workload, target)
        .into_iter()
        .flatten()
        .map(|(label, value)| format!("{label}={value}"))
        .collect();
    let of = |word: &str| {
        if labels.is_empty() {
            String::new()
        } else {
            format!("{word}{}", labels.join(","))
        }
    };
    match (&workload.name, &workload.selector) {
        (Some(name), _) => format!("{kind} {name}{}", of(" with ")),
        (None, Some(selector)) => format!("{kind} with {selector}{}", of(",")),
        (None, None) => kind.to_owned(),
    }
}

/// The group, plural and kind of these workloads.
fn kind(kind: WorkloadKind) -> (&'static str, &'static str, &'static str) {
    let (group, plural) = match kind {
        WorkloadKind::Deployment => ("apps", "deployments"),
        WorkloadKind::StatefulSet => ("apps", "statefulsets"),
        WorkloadKind::DaemonSet => ("apps", "daemonsets"),
        WorkloadKind::Job => ("batch", "jobs"),
        WorkloadKind::Pod => ("", "pods"),
    };
    (group, plural, kind.name())
}

/// The workloads with this name or these labels.
fn matching_workloads<'a>(
    workload: &WorkloadDescription,
    instance: &[(&str, &str)],
    target: &Object,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    let (group, plural, _) = kind(workload.kind);
    let namespace = namespace_of(workload, target);
    let mut found: BTreeMap<&str, &Object> = BTreeMap::new();
    // Both queries are made before the first answer is used, so that they are read together.
    let by_name = match &workload.name {
        Some(name) if name.contains('*') => view
            .list(group, plural, namespace)
            .map(|all| all.iter().filter(|object| glob(name, object.name())).collect()),
        Some(name) => view
            .search(group, plural, namespace, By::Name(name.clone()))
            .map(|all| all.iter().collect()),
        None => Ok(Vec::new()),
    };
    let is_general = workload.name.as_deref().is_some_and(|name| name.contains('*'));
    let by_labels = match &workload.selector {
        // If the name is a pattern, the labels alone are too general.
        Some(selector) if !is_general => view.search(group, plural, namespace, By::Labels(selector.clone())),
        _ => Ok(&[][..]),
    };
    let by_name: Vec<&Object> = by_name?;
    for object in by_name.into_iter().chain(by_labels?) {
        found.insert(object.uid(), object);
    }
    Ok(found
        .into_values()
        .filter(|object| has_labels(object, instance))
        .collect())
}

/// Searches in the other direction: whether this workload may be the controller that the entry describes.
pub fn could_be_holder(entry: &Entry, object: &Object) -> bool {
    entry
        .holder
        .workloads
        .iter()
        .filter(|workload| is_findable(workload))
        .any(|workload| {
            let (group, plural, _) = kind(workload.kind);
            let place = workload.namespace.as_deref();
            let open_name = workload.name.as_deref().filter(|name| name.contains('*'));
            object.is(group, plural)
                && place.is_none_or(|place| place == OF_OBJECT || place == object.namespace())
                && open_name.is_none_or(|name| glob(name, object.name()))
                && fits(object, workload, entry)
        })
}

/// The container by which the entry recognises its controller if the name of the workload is not fixed: a
/// sidecar of any driver. The workload does not tell whose objects it serves.
pub fn sidecar<'a>(entry: &'a Entry, object: &Object) -> Option<&'a str> {
    let open = entry.holder.workloads.iter().filter(|one| !is_findable(one));
    let containers: Vec<_> = PodSpec::of(object).container_names().collect();
    open.filter_map(|one| one.container.as_deref())
        .find(|name| containers.contains(name))
}

/// Whether the workload or its Pods have these labels.
fn has_labels(object: &Object, wanted: &[(&str, &str)]) -> bool {
    own_labels(object).iter().any(|labels| {
        wanted
            .iter()
            .all(|(label, value)| labels.get(*label).is_some_and(|one| one == value))
    })
}

/// The labels of its Pods and its own labels. Some charts set only one of them.
fn own_labels(object: &Object) -> [BTreeMap<String, String>; 2] {
    [kinds::Workload(object).pod_labels(), object.labels()]
}

/// Whether this workload is the controller and not another workload of the same name.
fn fits(object: &Object, workload: &WorkloadDescription, entry: &Entry) -> bool {
    let name = workload
        .name
        .as_deref()
        .is_none_or(|name| glob(name, object.name()));
    let labels = workload
        .selector
        .as_deref()
        .and_then(|selector| Selector::parse(selector).ok())
        .map(|selector| own_labels(object).iter().any(|labels| selector.matches(labels)));
    let at_home = entry
        .holder
        .namespaces
        .iter()
        .any(|home| glob(home, object.namespace()));
    let is_image = |image: &String| workload.images.iter().any(|pattern| glob(pattern, image));
    let has_image = || images(object).iter().any(is_image);
    match (labels, workload.images.is_empty()) {
        (Some(fit), is_any) => fit && (is_any || has_image()),
        // An image of the product tells as much as the namespace in which it usually runs.
        (None, false) => name && has_image(),
        (None, true) => name && (at_home || workload.namespace.is_some()),
    }
}
