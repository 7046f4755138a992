//! Why a deletion is stuck. One cause, one file, in folders by family; this file only asks each of them.

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
pub(crate) mod storage;
pub(crate) mod verdicts;

use self::{
    api_machinery::{controller_manager, no_finalizers, update_rejected},
    garbage_collector::{absent_owners, foreground_deletion, orphan_dependents},
    namespaces::finalizer_lists,
    operators::{external_resource, finalizer_re_added, known_finalizer, missing_reference},
    products::helm_release,
};
use super::{complaint::complaints, leftovers::missing_namespace, model::Finding, view::View};
use crate::{
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// What every rule has to say about an object, one finding for each of its finalizers. For an object that is not
/// being deleted: what would hold it.
pub(crate) fn findings(object: &Object, view: &View<'_>) -> Vec<Finding> {
    // At the target nothing has been followed yet; where a rule asks for more, the circle was named before.
    let mut findings = view.follow(object, || each(object, view)).unwrap_or_default();
    controller_manager::mention(object, &mut findings, view);
    absent_owners::add_absent_owners(object, &mut findings, view);
    findings
}

/// The same without what is said once for the whole diagnosis.
pub(crate) fn each(object: &Object, view: &View<'_>) -> Vec<Finding> {
    let finalizers = object.finalizers();
    let missed = view.missed();
    let mut findings: Vec<_> = finalizers
        .iter()
        .map(|finalizer| finding(object, finalizer, view))
        .collect();
    if object.deletion().is_some() {
        if object.is("", "pods") {
            findings.extend(pods::not_gone(object, view));
        } else if finalizers.is_empty() {
            findings.push(no_finalizers::nothing_holds_it(object, view));
        }
        let blind = view.missed() > missed;
        update_rejected::add_rejections(object, &mut findings, blind, view);
        missing_namespace::add_missing_namespace(object, &mut findings, view);
        helm_release::add_release(object, &mut findings, view);
        let certain = view.missed() == missed;
        without_a_rule(object, &mut findings, certain, view);
    }
    finalizer_re_added::add_re_added(object, &mut findings, view);
    external_resource::add_external_resources(object, &mut findings);
    findings
}

/// What the object itself adds where no rule knows its finalizers. Where there are several of them, nobody knows which
/// one a complaint is about, and nothing is concluded from it.
fn without_a_rule(object: &Object, findings: &mut [Finding], certain: bool, view: &View<'_>) {
    let mut open: Vec<_> = findings
        .iter_mut()
        .filter(|finding| {
            finding
                .wait
                .finalizer
                .as_ref()
                .is_some_and(|name| !object.is("", "namespaces") && !is_known(object, name))
        })
        .collect();
    let alone = open.len() == 1;
    let Some(first) = open.first_mut() else {
        return;
    };
    let said = complaints(object, view);
    missing_reference::add_missing_references(object, first, &said, certain && alone, view);
}

/// Whether a rule reads more of objects of this type (`plural.group`) than their metadata.
pub(crate) fn look_into(type_name: &str) -> bool {
    let by_kind = ["pods", "namespaces"];
    by_kind.contains(&type_name) || registry::is_for(type_name)
}

/// The garbage collector's own, on objects of any type.
const OF_OWNERS: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Whether a rule knows who holds this one by its name. What holds a Namespace has rules of its own, whatever it is called.
pub(crate) fn is_known(object: &Object, finalizer: &Finalizer) -> bool {
    OF_OWNERS.contains(&finalizer.name.as_str()) || registry::cause(object, finalizer).is_some()
}

fn finding(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    // Two lists, and any name in either of them.
    if object.is("", "namespaces") {
        return finalizer_lists::entry_of_namespace(object, finalizer, view);
    }
    match finalizer.name.as_str() {
        "foregroundDeletion" => return foreground_deletion::foreground(object, finalizer, view),
        "orphan" => return orphan_dependents::dependents_not_orphaned(object, finalizer, view),
        _ => {}
    }
    match registry::cause(object, finalizer) {
        Some(cause) => (cause.explain)(object, finalizer, view),
        None => known_finalizer::by_its_entry(object, finalizer, view),
    }
}

/// Whether a finding is about a holder that no rule knows by name, and not about what that waits for.
fn is_held(object: &Object, finding: &Finding) -> bool {
    finding
        .wait
        .finalizer
        .as_ref()
        .is_some_and(|finalizer| finalizer.list == List::Metadata && !is_known(object, finalizer))
}
