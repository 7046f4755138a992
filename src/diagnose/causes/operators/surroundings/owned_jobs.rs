//! The Jobs that were made for an object after it was deleted: its clean-up.

use crate::{
    diagnose::{
        causes::{advice::explain_step, operators::referenced_by::is_child},
        complaint::join,
        kinds::Job,
        limits,
        model::Finding,
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the Jobs that failed or have not ended. A Job from before the deletion is no part of it.
pub(super) fn add_jobs(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    let Some(deletion) = object.deletion() else { return };
    if object.namespace().is_empty() {
        return;
    }
    // Jobs that could not be listed are a gap of the diagnosis.
    let Ok(all) = view.list("batch", "jobs", object.namespace()) else {
        return;
    };
    let is_newer = |job: &Object| {
        job.created()
            .is_some_and(|created| created >= deletion.requested_at())
    };
    let found: Vec<_> = all
        .iter()
        .filter(|job| is_newer(job) && is_child(job, object))
        .filter_map(|job| Some((job, trouble(job)?)))
        .take(limits::BLOCKERS)
        .collect();
    for (at, (job, trouble)) in found.iter().enumerate() {
        let warning = (at < limits::STEPS_FOR_EACH)
            .then(|| super::last_warning(job, view))
            .flatten();
        let says = match warning.filter(|warning| !trouble.contains(warning.as_str())) {
            Some(warning) => format!("was made for it, and {trouble}; {warning}"),
            None => format!("was made for it, and {trouble}"),
        };
        super::add_blocker(finding, view.blocker(job, says), runs);
    }
    let steps = found
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|(job, _)| explain_step(job, format!("see why Job {} does not end", job.name())));
    finding.steps.splice(0..0, steps);
}

fn trouble(job: &Object) -> Option<String> {
    if let Some(("True", reason, message)) = job.condition("Failed") {
        return Some(match &*join(reason.trim(), message.trim()) {
            "" => "failed".to_owned(),
            why => format!("failed: {why}"),
        });
    }
    let is_done = job
        .condition("Complete")
        .is_some_and(|(status, _, _)| status == "True");
    let state = if Job(job).is_suspended() {
        "is suspended (spec.suspend), so it does not run"
    } else {
        "has not ended"
    };
    (!is_done).then(|| state.to_owned())
}
