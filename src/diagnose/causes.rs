//! Why a deletion is stuck. Each cause is one file, in folders named after Kubernetes. This file asks the causes and
//! collects their findings.

pub(crate) mod advice;
pub(crate) mod api_machinery;
pub(crate) mod cause;
pub(crate) mod controller;
pub(crate) mod garbage_collector;
pub(crate) mod in_use;
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

pub(crate) use self::registry::{knows_by_name as has_own_cause, reads_whole as needs_whole_object};
use self::{
    cause::{Stage, Subject},
    operators::known_finalizer,
};
use super::{
    model::{Finding, Known, StepKind},
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
    let subject = subject(object, view);
    registry::add_more(Stage::Cluster, &subject, &mut findings, view);
    for finding in &mut findings {
        // A removal that `remove` refuses is not advised.
        if finding.can_be_repaired() || !finding.wait.vetoes.is_empty() {
            finding
                .steps
                .retain(|step| step.kind() != StepKind::RemoveFinalizer);
        }
    }
    registry::add_more(Stage::FirstSteps, &subject, &mut findings, view);
    findings
}

/// The findings about the object itself, one for each of its finalizers, without what a diagnosis says once.
pub(crate) fn own_findings(object: &Object, view: &View<'_>) -> Vec<Finding> {
    let subject = subject(object, view);
    let finalizers = object.finalizers();
    let mut findings: Vec<_> = finalizers
        .iter()
        .filter_map(|finalizer| {
            let (explain, page) = registry::of_finalizer(object, finalizer)?;
            let mut finding = explain(object, finalizer, view);
            finding.wait.page.get_or_insert(page);
            finding.wait.known = known(object, finalizer, view);
            Some(finding)
        })
        .collect();
    if object.deletion().is_some() {
        findings.extend(registry::of_object(object, view));
        for stage in OF_A_DELETION {
            registry::add_more(stage, &subject, &mut findings, view);
        }
    }
    registry::add_more(Stage::Fate, &subject, &mut findings, view);
    registry::add_more(Stage::Authors, &subject, &mut findings, view);
    release::add_ends(object, &mut findings, view);
    findings
}

/// What is added only to the findings about an object that is being deleted, in this order.
const OF_A_DELETION: [Stage; 5] = [
    Stage::Vetoes,
    Stage::Refusals,
    Stage::Belongings,
    Stage::References,
    Stage::Surroundings,
];

/// The object, before it is looked at.
fn subject<'a>(object: &'a Object, view: &View<'_>) -> Subject<'a> {
    let is_of_operator =
        |finalizer: &Finalizer| finalizer.list == List::Metadata && !has_own_cause(object, finalizer);
    let mut of_operators = object.finalizers();
    of_operators.retain(is_of_operator);
    Subject {
        object,
        of_operators,
        missed_before: view.missed(),
    }
}

/// What the catalogue says of a finalizer of this object; none if nobody described that very finalizer.
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
