//! A right on other objects that a controller lacks, and without which it never lets go (`waits-for.rights` of the catalogue). A
//! controller comes to that only after all else that it waits for, so this is looked up where nothing else was found.

use crate::{
    diagnose::{
        causes::stopped_controller,
        holder,
        holder::{Sign, Tells},
        model::{Finding, StepKind, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the first right that the controller lacks. The step that shows it comes first.
pub(super) fn add_lacking(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    let entry = view.entry(object, &finalizer);
    let Some(entry) = entry.filter(|entry| !entry.waits_for.rights.is_empty()) else {
        return;
    };
    let holder = holder::described(object, &finalizer, &entry, view);
    let lacking = holder::lacking_for_work(object, &entry, &holder, view);
    if lacking.with(Tells::Failing).next().is_none() {
        if let (Some(missing), Verdict::Stalled) = (lacking.unseen.first(), finding.wait.verdict) {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "Whether it has the rights that it needs is not known: {missing}"
            ));
        }
        return;
    }
    finding.wait.verdict = Verdict::Failing;
    finding.evidence.extend(lacking.signs.iter().map(Sign::evidence));
    // Touching the object has no effect as long as the controller lacks the right.
    finding.steps.retain(|step| step.kind() != StepKind::Nudge);
    let known = finding.steps.len();
    stopped_controller::add_blockers(finding, &lacking, Tells::Failing);
    finding.steps.rotate_left(known);
}
