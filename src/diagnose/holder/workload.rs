//! What a holder runs as: Deployments and the like, found by name and labels.
//!
//! A Deployment of the right name may belong to somebody else, and a chart may have given ours another name. So it
//! is taken for the holder only if a second thing fits (labels, or the namespace it usually runs in), and it counts
//! as gone only if nothing fits at all, neither by name nor by labels, in any namespace.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    diagnose::{
        holder::{
            account::acts_as,
            node,
            rbac::Changers,
            standing,
            trace::{Holder, Sign, Tells, Trace},
        },
        model::Strength,
        view::{Missing, View},
    },
    knowledge::{Entry, OF_OBJECT, SameAs, Workload, WorkloadKind, schema::glob},
    object::Finalizer,
    snapshot::{
        facts::{By, Object},
        selector::Selector,
    },
};

/// Looks for every workload that the entry names.
pub(super) fn look(
    entry: &Entry,
    finalizer: &Finalizer,
    target: &Object,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let node = node::of(target, finalizer, entry);
    let named: Vec<_> = entry
        .holder
        .workloads
        .iter()
        .filter(|one| is_findable(one))
        .collect();
    let mut complete = !named.is_empty();
    let (mut own, mut others): (Vec<&Object>, Vec<&Object>) = Default::default();
    for workload in &named {
        let Some(labels) = of_instance(workload, target) else {
            complete = false;
            continue;
        };
        match one(workload, &labels, target, view) {
            Ok(found) => {
                let (fit, rest): (Vec<_>, Vec<_>) = found
                    .into_iter()
                    .partition(|object| fits(object, workload, entry));
                own.extend(fit);
                others.extend(rest);
            }
            Err(missing) => {
                complete = false;
                holder.miss(&missing);
            }
        }
    }
    // What one description leaves open another one may settle, and two may find the same.
    let mut met = BTreeSet::new();
    own.retain(|object| met.insert(object.uid()));
    others.retain(|object| met.insert(object.uid()));
    for object in &own {
        match node {
            Some(node) if object.is("apps", "daemonsets") => node::state(object, node, holder, view),
            _ => standing::state(object, Strength::Strong, holder, view),
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
    if complete && met.is_empty() {
        let all: Vec<_> = named.iter().map(|workload| described(workload, target)).collect();
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
            format!("none is {}", all.join(" or ")),
        ));
    }
}

/// Where to look for it; an empty text is everywhere.
fn place<'a>(workload: &'a Workload, target: &'a Object) -> &'a str {
    match workload.namespace.as_deref() {
        Some(OF_OBJECT) => target.namespace(),
        Some(fixed) => fixed,
        None => "",
    }
}

/// The labels that the one of this object has; none if the object does not say which it is of.
fn of_instance<'a>(workload: &'a Workload, target: &'a Object) -> Option<Vec<(&'a str, &'a str)>> {
    let label = |same: &'a SameAs| {
        let value = target.text(&same.field);
        (!value.is_empty()).then_some((same.label.as_str(), value))
    };
    workload.instance.iter().map(label).collect()
}

/// Whether each instance of the product has a holder of its own: then who may change the objects of all of them is none.
pub fn is_of_each_instance(entry: &Entry) -> bool {
    entry.holder.workloads.iter().any(Workload::is_of_instance)
}

/// A container's name alone, or a name for each driver, is nothing to look for in a whole cluster.
fn is_findable(workload: &Workload) -> bool {
    let fixed = workload.name.as_deref().is_some_and(|name| !name.contains('{'));
    fixed || workload.selector.is_some()
}

/// Whether it is known by no more than that it is one of many, as the providers of one product are.
fn is_one_of_many(workload: &Workload) -> bool {
    let selector = workload.selector.as_deref();
    workload.name.is_none() && selector.is_some_and(|selector| !selector.contains('='))
}

/// Of many of one kind, whoever may not change the object is there for others: neither its life nor its lack of rights says
/// anything about this one.
pub(super) fn leave_out_others(entry: &Entry, object: &Object, holder: &mut Holder, view: &View<'_>) {
    for workload in entry.holder.workloads.iter().filter(|one| is_one_of_many(one)) {
        let (group, plural, _) = kind(workload.kind);
        let namespace = place(workload, object);
        let selector = By::Labels(workload.selector.clone().unwrap_or_default());
        let Ok(found) = view.search(group, plural, namespace, selector) else {
            return;
        };
        if found.is_empty() {
            continue;
        }
        let changers = Changers::of(object, view);
        if let Err(missing) = &changers {
            holder.miss(missing);
        }
        for other in found {
            let account = acts_as(other, "/spec/template/spec");
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

fn described(workload: &Workload, target: &Object) -> String {
    let kind = kind(workload.kind).2;
    let labels: Vec<_> = of_instance(workload, target)
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

/// Group, plural, kind.
fn kind(kind: WorkloadKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        WorkloadKind::Deployment => ("apps", "deployments", "Deployment"),
        WorkloadKind::StatefulSet => ("apps", "statefulsets", "StatefulSet"),
        WorkloadKind::DaemonSet => ("apps", "daemonsets", "DaemonSet"),
        WorkloadKind::Job => ("batch", "jobs", "Job"),
        WorkloadKind::Pod => ("", "pods", "Pod"),
    }
}

/// What has this name, or these labels.
fn one<'a>(
    workload: &Workload,
    instance: &[(&str, &str)],
    target: &Object,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    let (group, plural, _) = kind(workload.kind);
    let namespace = place(workload, target);
    let mut found: BTreeMap<&str, &Object> = BTreeMap::new();
    // Both questions are asked before the first answer is used: they go out together.
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
        // Where the name is open the labels alone say too little.
        Some(selector) if !is_general => view.search(group, plural, namespace, By::Labels(selector.clone())),
        _ => Ok(&[][..]),
    };
    let by_name: Vec<&Object> = by_name?;
    for object in by_name.into_iter().chain(by_labels?) {
        found.insert(object.uid(), object);
    }
    Ok(found
        .into_values()
        .filter(|object| has(object, instance))
        .collect())
}

/// The search in the other direction: whether the entry's holder may be this workload.
pub fn may_be(entry: &Entry, object: &Object) -> bool {
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

/// The container of this workload by which the entry's holder is known where its name is not fixed: a sidecar of any
/// driver. Whose objects it serves, the workload does not tell.
pub fn sidecar<'a>(entry: &'a Entry, object: &Object) -> Option<&'a str> {
    let open = entry.holder.workloads.iter().filter(|one| !is_findable(one));
    let containers = object.list("/spec/template/spec/containers");
    open.filter_map(|one| one.container.as_deref()).find(|name| {
        containers
            .iter()
            .any(|container| container.get("name").is_some_and(|other| other == name))
    })
}

/// Whether it has these labels, or its Pods have them.
fn has(object: &Object, wanted: &[(&str, &str)]) -> bool {
    own_labels(object).iter().any(|labels| {
        wanted
            .iter()
            .all(|(label, value)| labels.get(*label).is_some_and(|one| one == value))
    })
}

/// The labels of its Pods, where it has any, and its own: charts give both, and some only one of them.
fn own_labels(object: &Object) -> [BTreeMap<String, String>; 2] {
    ["/spec/template/metadata/labels", "/metadata/labels"].map(|place| labels(object, place))
}

/// Whether it is the holder's and not something of the same name.
fn fits(object: &Object, workload: &Workload, entry: &Entry) -> bool {
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
    match labels {
        Some(fit) => fit,
        None => name && (at_home || workload.namespace.is_some()),
    }
}

/// The labels that stand there.
pub fn labels(object: &Object, pointer: &str) -> BTreeMap<String, String> {
    let labels = object
        .value
        .pointer(pointer)
        .and_then(serde_json::Value::as_object);
    let text = |(key, value): (&String, &serde_json::Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}

/// `Deployment cert-manager/cert-manager`.
pub(super) fn name_of(object: &Object) -> String {
    format!("{} {}/{}", object.kind, object.namespace(), object.name())
}
