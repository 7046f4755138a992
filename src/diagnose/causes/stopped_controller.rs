//! The controller of a finalizer is switched off or cannot do its work: what blocks it, and the step that starts or
//! repairs it.

use crate::{
    command::Command,
    diagnose::{
        holder,
        holder::{Holder, Liveness, Sign, Tells, Trace},
        model::{Finding, Safety, Step, StepKind, When},
        view::View,
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// Adds the controller of a finalizer with its own cause as a blocker, if the controller is switched off or fails. A
/// controller fails if it cannot run or may not do its work. Keeps the verdict of that cause, so that a user with
/// fewer rights gets the same verdict.
pub(crate) fn add_stopped_controller(finding: &mut Finding, object: &Object, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    let entry = view.entry(object, &finalizer);
    let Some(entry) = entry else { return };
    let holder = holder::described(object, &finalizer, &entry, view);
    finding.evidence.extend(holder.signs.iter().map(Sign::evidence));
    let tells = match holder.liveness() {
        Liveness::Off => Tells::Off,
        Liveness::Failing => Tells::Failing,
        _ => return,
    };
    // Touching the object has no effect while its controller does not run, or cannot act.
    finding.steps.retain(|step| step.kind() != StepKind::Nudge);
    add_blockers(finding, &holder, tells);
}

/// Adds what tells this of the controller as blockers, each with the step that starts or repairs it.
pub(crate) fn add_blockers(finding: &mut Finding, holder: &Holder, tells: Tells) {
    // A sign without an object, such as an event, is not a blocker.
    for sign in holder.with(tells).filter(|sign| sign.object.is_some()) {
        finding.wait.on.push(sign.blocker());
        if let Some(object) = &sign.object {
            finding.steps.push(match tells {
                Tells::Off if sign.trace == Trace::Home => Step {
                    when: When::Now,
                    text: format!(
                        "see whether {} comes back under this name. If its machine and disks are gone for good, nothing is left there to clean up",
                        sign.source
                    ),
                    command: Some(Command::of("kubectl get nodes -o wide", [])),
                    safety: Safety::ReadOnly,
                    lets_go: Vec::new(),
                },
                Tells::Off => scale_up_step(object, sign.before),
                _ if sign.trace == Trace::Home => Step {
                    when: When::Now,
                    text: format!(
                        "see what keeps {} first: nothing in it can be started any more. Install the controller again after that",
                        object.name
                    ),
                    command: Some(Command::explain(&object.type_name, &object.name, "")),
                    safety: Safety::ReadOnly,
                    lets_go: Vec::new(),
                },
                _ => repair_step(object, sign),
            });
        }
    }
}

fn repair_step(workload: &ObjectRef, sign: &Sign) -> Step {
    let (text, command) = match &sign.lacks {
        Some((right, check)) => (
            format!(
                "{} lacks the right to {right}. Once a role grants it, this says yes, and the controller goes on",
                sign.source
            ),
            check.clone(),
        ),
        None => (
            format!(
                "see what stops {} ({}). Once it works again, it goes on",
                workload.name, sign.value
            ),
            match &sign.shown_by {
                Some(command) => command.clone(),
                None => Command::describe(&workload.type_name, &workload.name, workload.place()),
            },
        ),
    };
    Step {
        when: When::Now,
        text,
        command: Some(command),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

fn scale_up_step(workload: &ObjectRef, before: Option<(i64, &str)>) -> Step {
    let scalable = matches!(
        workload.type_name.as_str(),
        "deployments.apps" | "statefulsets.apps"
    );
    Step {
        when: When::Now,
        text: match before {
            Some((count, why)) if scalable => {
                format!("let {} run again, with {count} replicas, {why}", workload.name)
            }
            None if scalable => format!(
                "let {} run again, with as many replicas as it had before; one is enough to clean up",
                workload.name
            ),
            _ => format!(
                "see why no Pod of {} is wanted. Once it runs again, it goes on",
                workload.name
            ),
        },
        command: Some(if scalable {
            Command::scale(
                &workload.type_name,
                &workload.name,
                workload.place(),
                before.map_or(1, |(count, _)| count),
            )
        } else {
            Command::get_yaml(&workload.type_name, &workload.name, workload.place())
        }),
        safety: if scalable {
            Safety::Reversible
        } else {
            Safety::ReadOnly
        },
        lets_go: Vec::new(),
    }
}
