//! The budget that forbids to evict a Pod. An eviction asks it, and a deletion does not
//! (`kubernetes/kubernetes:pkg/registry/core/pod/storage/eviction.go`).

use crate::{
    diagnose::{
        complaint::shortened,
        kinds::{Pod, PodDisruptionBudget},
        view::{Missing, View},
    },
    snapshot::{facts::Object, selector::Selector},
};

/// The budget that allows no disruption of this Pod.
pub(in crate::diagnose) fn blocking_budget<'a>(
    pod: &Object,
    view: &View<'a>,
) -> Result<Option<&'a Object>, Missing> {
    let budgets = view.list("policy", "poddisruptionbudgets", pod.namespace())?;
    let allows_none = |budget: &Object| PodDisruptionBudget(budget).allowed_disruptions() == 0;
    Ok(budgets
        .iter()
        .find(|budget| allows_none(budget) && counts(budget, pod)))
}

/// Whether the budget counts this Pod.
fn counts(budget: &Object, pod: &Object) -> bool {
    let selector = PodDisruptionBudget(budget)
        .selector()
        .and_then(Selector::of_object);
    selector.is_some_and(|selector| selector.matches(&pod.labels()))
}

/// That a budget allows no disruption, and the first reason why a Pod that it counts is not ready. While that Pod is not, nobody
/// is evicted.
pub(in crate::diagnose) fn allows_none(budget: &Object, view: &View<'_>) -> String {
    let counted = PodDisruptionBudget(budget);
    let says = format!(
        "PodDisruptionBudget {} allows no disruption ({} of {} healthy, {} must be)",
        budget.name(),
        counted.healthy(),
        counted.expected().max(counted.healthy()),
        counted.wanted()
    );
    match why_not_healthy(budget, view) {
        Some(why) => format!("{says}. {why}"),
        None => says,
    }
}

fn why_not_healthy(budget: &Object, view: &View<'_>) -> Option<String> {
    let pods = view.list("", "pods", budget.namespace()).ok()?;
    let mut counted = pods.iter().filter(|pod| counts(budget, pod));
    counted.find_map(|pod| {
        let unscheduled = match pod.condition("PodScheduled") {
            Some(("False", reason, message)) => Some(format!("{reason}: {message}")),
            _ => None,
        };
        let why = unscheduled.or_else(|| Some(Pod(pod).why_not_ready()?.says))?;
        Some(format!("Pod {}: {}", pod.name(), shortened(&why)))
    })
}
