//! The label of a step that wakes the controller of a finalizer.
//!
//! Such a controller finishes its work and lets the object go. An operator that is scaled up deletes the bucket, the pool
//! or the claims of the object, so the step is as dangerous as that. It is destructive if the catalogue or a setting of the
//! object says that something is deleted. It is also destructive if nobody has described the finalizer.

use crate::{
    command::{Command, Effect},
    diagnose::{
        causes::{operators::external_resource, release, storage::keep_disk},
        model::{Finding, Safety, Step, StepKind},
        view::View,
    },
    knowledge::{self, Consequence, Entry, IfHolder, Label},
    object::Finalizer,
    snapshot::facts::Object,
};

/// Labels the steps that wake the controller. So far, every step of the finding that changes something is one. The steps of
/// the catalogue come later, and have labels of their own.
pub(crate) fn label_waking_steps(
    object: &Object,
    finalizer: &Finalizer,
    finding: &mut Finding,
    view: &View<'_>,
) {
    if object.deletion().is_none() {
        return;
    }
    let released = release::by_whole_end_of(object, view);
    let ending = ending(object, finalizer, view);
    for step in finding.steps.iter_mut().filter(|step| is_unlabelled(step)) {
        if !released.is_empty() {
            *step = release::letting_go(step.clone(), released.clone());
            continue;
        }
        let text = step.text.trim_end_matches('.');
        let (before, after) = match &ending {
            Ending::DeletesNothing => continue,
            Ending::Kept(because) => {
                step.text = format!("{text}. What it stands for stays ({because})");
                continue;
            }
            Ending::MayDelete => (
                "MAY DELETE WHAT IT STANDS FOR",
                "WHAT IT STANDS FOR MAY BE DELETED",
            ),
            Ending::Deletes => ("DELETES WHAT IT STANDS FOR", "WHAT IT STANDS FOR IS DELETED"),
        };
        // To wake a controller destroys nothing. What the controller then does may.
        step.text = if step.kind() == StepKind::Nudge {
            format!("{text}. If it then finishes, {after}")
        } else {
            format!("{before}: {}", step.text)
        };
        step.safety = Safety::Destructive;
    }
}

/// What the end of a deletion means for what the object stands for.
pub(crate) enum Ending {
    /// Nothing that is not made again is deleted.
    DeletesNothing,
    /// It stays, and why.
    Kept(String),
    /// Nobody knows.
    MayDelete,
    /// It is deleted.
    Deletes,
}

/// What the controller of the finalizer does once it goes on with the deletion.
pub(crate) fn ending(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Ending {
    let reference = object.reference();
    let (_, entry) = view.knowledge.removal_cost(finalizer, Some((&reference).into()));
    match (external_resource::is_kept(object, view.knowledge), &entry) {
        (Some((true, because)), _) => Ending::Kept(because),
        (None, Some(entry)) if !deletes(entry) => Ending::DeletesNothing,
        (None, None) => Ending::MayDelete,
        _ => Ending::Deletes,
    }
}

/// Whether the step changes something, and does not say yet what it lets go.
fn is_unlabelled(step: &Step) -> bool {
    let reads = |command: &Command| command.effect() == Effect::Reads;
    matches!(step.safety, Safety::Safe | Safety::Reversible)
        && step.lets_go.is_empty()
        && !step.command.as_ref().is_some_and(reads)
}

/// Whether the controller deletes something that is not made again. It deletes what would be left without it, and what
/// the steps of the entry say of its return.
fn deletes(entry: &Entry) -> bool {
    let is_destroyed_on_return = |step: &knowledge::FixStep| {
        step.if_holder == Some(IfHolder::Gone) && step.label == Label::Destructive
    };
    matches!(
        entry.if_removed.consequence,
        Consequence::LeakedInfrastructure | Consequence::DataLoss
    ) || entry.waits_for.children_of(keep_disk::CLAIM)
        || entry.fix.iter().any(is_destroyed_on_return)
}
