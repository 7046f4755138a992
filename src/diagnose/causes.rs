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
    model::{Blocker, Finding, Known, StepKind},
    view::View,
};
use crate::{
    command::Command,
    knowledge::Consequence,
    object::{Finalizer, List, ObjectRef},
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
            take_removal_back(finding);
        }
    }
    registry::add_more(Stage::FirstSteps, &subject, &mut findings, view);
    findings.iter_mut().for_each(lead_to_the_end);
    findings
}

/// Leads each step that explains a blocker to the last object of its chain that is held itself. The steps that help stand on
/// its page. The pages between tell only the next object.
fn lead_to_the_end(finding: &mut Finding) {
    for blocker in &finding.wait.on {
        let (Some(first), Some(last)) = (&blocker.object, last_held(blocker)) else {
            continue;
        };
        let looks_at_first = explain_of(first);
        for step in &mut finding.steps {
            if first != last && step.command.as_ref() == Some(&looks_at_first) {
                step.text = format!(
                    "see what holds {} {}. {} {} waits for it in the end",
                    last.kind, last.name, first.kind, first.name
                );
                step.command = Some(explain_of(last));
            }
        }
    }
}

fn explain_of(object: &ObjectRef) -> Command {
    Command::explain(&object.type_name, &object.name, object.place())
}

/// The last object of this chain that waits for something itself. Where the chain forks, its first branch counts.
fn last_held(blocker: &Blocker) -> Option<&ObjectRef> {
    let of_waits = blocker.waits.iter().flat_map(|wait| &wait.on);
    let mut below = of_waits.clone().chain(&blocker.on).filter(|below| !below.rest);
    if of_waits.clone().all(|below| below.rest) {
        return None;
    }
    below.find_map(last_held).or(blocker.object.as_ref())
}

/// Drops the step that removes the finalizer. That step said what the removal costs, so a warning says it now.
fn take_removal_back(finding: &mut Finding) {
    let offered = finding.steps.len();
    finding
        .steps
        .retain(|step| step.kind() != StepKind::RemoveFinalizer);
    let (finalizer, known) = (&finding.wait.finalizer, &finding.wait.known);
    if let (Some(finalizer), Some(known)) = (finalizer, known)
        && finding.steps.len() < offered
        && known.consequence != Consequence::None
    {
        let warning = known_finalizer::not_by_hand(finalizer, &known.cost);
        if !finding.do_not.contains(&warning) {
            finding.do_not.push(warning);
        }
    }
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
            finding.wait.known = known(object, finalizer, &finding, view);
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
fn known(object: &Object, finalizer: &Finalizer, finding: &Finding, view: &View<'_>) -> Option<Known> {
    let kind = object.reference();
    let (consequence, entry) = view.knowledge.removal_cost(finalizer, Some((&kind).into()));
    let entry = entry?;
    Some(Known {
        protects: entry.protects.clone(),
        is_only_told: entry.is_only_told(),
        is_doubted: known_finalizer::is_doubted(finding),
        consequence,
        cost: known_finalizer::filled(&entry.if_removed.text, object, finalizer, &entry),
    })
}
