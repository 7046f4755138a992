//! Why a deletion is stuck. Each cause is one file, in folders named after Kubernetes. This file asks the causes and
//! collects their findings.

pub(crate) mod advice;
pub(crate) mod api_machinery;
pub(crate) mod cause;
pub(crate) mod controller;
pub(crate) mod garbage_collector;
pub(crate) mod namespaces;
pub(crate) mod network;
pub(crate) mod operators;
pub(crate) mod pods;
pub(crate) mod products;
pub(crate) mod registry;
pub(crate) mod release;
pub(crate) mod stopped_controller;
pub(crate) mod storage;
#[cfg(test)]
mod tests;
pub(crate) mod verdicts;

use self::{
    api_machinery::{controller_manager, no_finalizers, update_rejected},
    garbage_collector::{absent_owners, foreground_deletion, orphan_dependents},
    namespaces::{finalizer_lists, missing_namespace},
    operators::{
        external_resource, finalizer_re_added, known_finalizer, missing_reference, never_by_hand,
        surroundings,
    },
    pods::grace_period,
    products::helm_release,
    storage::{keep_disk, take_back},
};
use super::{
    complaint::complaints,
    model::{Finding, Known, StepKind, Verdict},
    view::View,
};
use crate::{
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// All findings about an object: its own, and what a diagnosis says once. For an object that is not being deleted,
/// the findings say what would hold it.
pub(crate) fn findings(object: &Object, view: &View<'_>) -> Vec<Finding> {
    // The target is the first object of the chain, so following it cannot fail.
    let mut findings = view
        .follow(object, || own_findings(object, view))
        .unwrap_or_default();
    controller_manager::add_stopped_controller_manager(object, &mut findings, view);
    absent_owners::add_absent_owners(object, &mut findings, view);
    for finding in &mut findings {
        let can_be_repaired = finding.wait.verdict == Verdict::Failing && finding.wait.unable.is_none();
        // A removal that `remove` refuses is not advised.
        if can_be_repaired || !finding.wait.vetoes.is_empty() {
            finding
                .steps
                .retain(|step| step.kind() != StepKind::RemoveFinalizer);
        }
    }
    keep_disk::add_keep_disk_step(object, &mut findings, view);
    take_back::add_take_back_step(object, &mut findings, view);
    findings
}

/// The findings about the object itself, one for each of its finalizers, without what a diagnosis says once.
pub(crate) fn own_findings(object: &Object, view: &View<'_>) -> Vec<Finding> {
    let finalizers = object.finalizers();
    let missed_before = view.missed();
    let mut findings: Vec<_> = finalizers
        .iter()
        .map(|finalizer| {
            let mut finding = explain_finalizer(object, finalizer, view);
            finding.wait.known = known(object, finalizer, view);
            finding
        })
        .collect();
    let of_operators = operator_finalizers(object, &finalizers);
    if object.deletion().is_some() {
        for finding in &mut findings {
            never_by_hand::add_veto(object, finding, view);
        }
        if object.is("", "pods") {
            findings.extend(pods::not_terminated(object, view));
        } else if finalizers.is_empty() {
            findings.push(without_finalizers(object, view));
        }
        let is_incomplete = view.missed() > missed_before;
        update_rejected::add_rejections(object, &mut findings, &of_operators, is_incomplete, view);
        missing_namespace::add_missing_namespace(object, &mut findings, view);
        helm_release::add_release(object, &mut findings, view);
        if !object.is("", "namespaces") {
            add_missing_references(object, &mut findings, &of_operators, view);
        }
        surroundings::add_surroundings(object, &mut findings, &of_operators, view);
    }
    finalizer_re_added::add_re_added(object, &mut findings, &of_operators, view);
    external_resource::add_external_resources(object, &mut findings, view);
    release::add_ends(object, &mut findings, view);
    findings
}

/// The finding about an object that is being deleted and has no finalizer.
fn without_finalizers(object: &Object, view: &View<'_>) -> Finding {
    if object
        .deletion()
        .is_some_and(|deletion| deletion.in_grace(view.now()))
    {
        grace_period::in_grace_period(object, view)
    } else if object.is("", "namespaces") {
        finalizer_lists::no_entries(object, view)
    } else {
        no_finalizers::nothing_holds_it(object)
    }
}

/// The description of a finalizer of this object in the catalogue; none if the catalogue lacks that very finalizer.
fn known(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Option<Known> {
    let kind = object.reference();
    let (consequence, entry) = view.knowledge.removal_cost(finalizer, Some((&kind).into()));
    let entry = entry?;
    Some(Known {
        protects: entry.protects.clone(),
        consequence,
        cost: known_finalizer::filled(&entry.if_removed.text, object, finalizer, &entry),
    })
}

/// The entries of `metadata.finalizers` that no cause knows by name: operators remove these.
fn operator_finalizers(object: &Object, finalizers: &[Finalizer]) -> Vec<Finalizer> {
    finalizers
        .iter()
        .filter(|finalizer| finalizer.list == List::Metadata && !has_own_cause(object, finalizer))
        .cloned()
        .collect()
}

/// Adds the references of the object that lead nowhere, to the first finding about an operator's finalizer.
fn add_missing_references(
    object: &Object,
    findings: &mut [Finding],
    of_operators: &[Finalizer],
    view: &View<'_>,
) {
    let Some(first) = findings.iter_mut().find(|finding| finding.is_about(of_operators)) else {
        return;
    };
    let complaints = complaints(object, view);
    missing_reference::add_missing_references(object, first, &complaints, view);
}

/// Whether a cause needs more than the metadata of objects of this type (`plural.group`) to say anything.
pub(crate) fn needs_whole_object(type_name: &str) -> bool {
    let by_kind = ["pods", "namespaces"];
    by_kind.contains(&type_name) || registry::is_for(type_name)
}

/// The finalizers of the garbage collector, on objects of any type.
const GARBAGE_COLLECTOR: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Whether a cause explains this finalizer by its name. Namespaces have their own causes for any name, which do not
/// count here.
pub(crate) fn has_own_cause(object: &Object, finalizer: &Finalizer) -> bool {
    GARBAGE_COLLECTOR.contains(&finalizer.name.as_str()) || registry::cause(object, finalizer).is_some()
}

/// The finding about one finalizer.
fn explain_finalizer(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    // A Namespace has two lists of finalizers, and any name can be in either list.
    if object.is("", "namespaces") {
        return finalizer_lists::explain_entry(object, finalizer, view);
    }
    match finalizer.name.as_str() {
        "foregroundDeletion" => return foreground_deletion::dependents_remain(object, finalizer, view),
        "orphan" => return orphan_dependents::dependents_not_orphaned(object, finalizer, view),
        _ => {}
    }
    match registry::cause(object, finalizer) {
        Some(cause) => {
            let mut finding = (cause.explain)(object, finalizer, view);
            finding.wait.page.get_or_insert(cause.page);
            finding
        }
        None => known_finalizer::explain_by_entry(object, finalizer, view),
    }
}
