//! Checks the label of each step against its command. The diagnoses of all tests of causes are checked here.

use crate::{
    command::{Command, Effect},
    diagnose::{
        Diagnosis, Safety,
        model::{Fate, StepKind},
    },
    knowledge::Consequence,
};

/// Words that order a change. A step that only looks may say what happens after a change, and does not order it.
const ORDERS: [&str; 12] = [
    "bring", "correct", "create", "delete", "give", "install", "make", "remove", "repair", "restore",
    "serve", "set",
];

/// A step is labelled read-only if and only if its command reads. No label is weaker than the effect of the command. A
/// step that lets something go that is lost is destructive.
#[track_caller]
pub(crate) fn labels_are_true(diagnosis: &Diagnosis) {
    for step in &diagnosis.steps {
        let first_word = step.text.split(' ').next().unwrap_or_default().to_lowercase();
        assert!(
            step.safety != Safety::ReadOnly || !ORDERS.contains(&&*first_word),
            "a step that only reads orders a change: {step:?}"
        );
        if let Some(command) = &step.command {
            let is_kubectl = command.argv().first().is_some_and(|program| program == "kubectl");
            let label = step.safety == Safety::ReadOnly;
            assert!(
                !is_kubectl
                    || label == (command.effect() == Effect::Reads)
                    || step.safety == Safety::Destructive,
                "{:?}: {command}",
                step.safety
            );
            let weakest = weakest(command, diagnosis);
            assert!(
                step.safety >= weakest,
                "{:?} and not {weakest:?}: {step:?}",
                step.safety
            );
        }
        let is_lost = |fate| matches!(fate, Fate::Destroyed | Fate::Leaked | Fate::Unknown);
        assert!(
            step.safety == Safety::Destructive || !step.lets_go.iter().any(|one| is_lost(one.fate)),
            "{step:?}"
        );
    }
}

/// Of the steps of one moment the first destroys nothing and wakes nobody, if any only looks, and no safe step follows the first that destroys, unless
/// another that destroys or a copy stands between them.
#[track_caller]
pub(crate) fn harmless_stands_first(diagnosis: &Diagnosis) {
    let all: Vec<_> = diagnosis.steps.iter().zip(&diagnosis.steps_for).collect();
    for steps in all.chunk_by(|(one, its), (next, next_its)| (one.when, its) == (next.when, next_its)) {
        let first = steps[0].0;
        let is_weighed = first.safety == Safety::Destructive || first.kind() == StepKind::Nudge;
        assert!(
            !is_weighed || !steps.iter().any(|(step, _)| step.looks()),
            "{first:?} stands before one that looks: {steps:?}"
        );
        let mut from_first = steps.iter().map(|(step, _)| step);
        let destroys = from_first
            .by_ref()
            .find(|step| step.safety == Safety::Destructive);
        let mut after = from_first.take_while(|step| step.safety != Safety::Destructive && !step.saves());
        assert!(
            !after.any(|step| step.safety == Safety::Safe),
            "{destroys:?} stands before a safe one: {steps:?}"
        );
    }
}

/// The weakest label that a step with this command can have. What it releases in this very case can ask for a stronger
/// one.
fn weakest(command: &Command, diagnosis: &Diagnosis) -> Safety {
    if command.effect() == Effect::Reads {
        return Safety::ReadOnly;
    }
    let argv = command.argv();
    let has = |word: &str| argv.iter().any(|one| one == word);
    if argv.first().is_none_or(|program| program != "kubectl") {
        // What another program does, only the text of the step says.
        return Safety::ReadOnly;
    }
    if has("finalizers") && (has("remove") || has("finalize")) {
        return removal(&argv, diagnosis);
    }
    // What runs stops, and what ran is moved.
    if ["scale", "drain", "rollout", "cordon"].into_iter().any(has) {
        return Safety::Reversible;
    }
    Safety::Safe
}

/// The label of a removal by hand: whatever its finalizer protects is lost with it.
fn removal(argv: &[String], diagnosis: &Diagnosis) -> Safety {
    let costs = diagnosis.waits.iter().filter_map(|wait| {
        let name = &wait.finalizer.as_ref()?.name;
        let cost = wait.known.as_ref().map(|known| known.consequence);
        argv.contains(name)
            .then_some(cost.unwrap_or(Consequence::DataLoss))
    });
    match costs.max() {
        Some(Consequence::None | Consequence::Metadata) => Safety::Safe,
        _ => Safety::Destructive,
    }
}
