//! Checks the label of each step against its command. The diagnoses of all tests of causes are checked here.

use crate::{
    command::Effect,
    diagnose::{Diagnosis, Safety, model::Fate},
};

/// Only what reads is labelled so, and all that reads; what lets something go that is lost is destructive.
#[track_caller]
pub(crate) fn labels_are_true(diagnosis: &Diagnosis) {
    for step in &diagnosis.steps {
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
        }
        let is_lost = |fate| matches!(fate, Fate::Destroyed | Fate::Leaked | Fate::Unknown);
        assert!(
            step.safety == Safety::Destructive || !step.lets_go.iter().any(|one| is_lost(one.fate)),
            "{step:?}"
        );
    }
}
