//! A finalizer has a name that its product no longer uses.
//!
//! # Symptom
//!
//! After an upgrade, objects stay in deletion with an older finalizer of the product, such as `chains.tekton.dev`. The
//! controller runs and does not touch it.
//!
//! ```text
//! $ kubectl finalizers explain taskruns.tekton.dev/build -n ci --from tests/causes/operators.yaml
//! ```
//!
//! # Why
//!
//! An upgraded controller removes its finalizer under the current name. The older name stays if the new release does
//! not know it or does not own it. A name that a merge patch added has no owner in server-side apply
//! (tektoncd/chains#1755). Many releases know both names.
//!
//! # Before you act
//!
//! Read the release notes of the product for both names. See which release runs.
//!
//! # If it was a mistake
//!
//! The work that the older name stood for was probably done under the new one. Check it.
//!
//! # If it was intended
//!
//! Run a release that removes both names. As a last resort, remove this one name.
//!
//! # Do not
//!
//! Do not remove all finalizers together. The current name stands for work that is still to be done.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stalled | the controller runs, three minutes have passed, the newer name is not on the object, and another program has taken over |
//! | (of the finalizer) | otherwise the rename is only mentioned |
//!
//! # What it reads
//!
//! The signs of the controller, and `managedFields`.
//!
//! # Sources
//!
//! - tektoncd/chains#1755
//! - the entry's own: the `sources` of the finalizer in knowledge/

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice::remove_finalizer,
            cause::{Cause, Described, On, Reads, Tells, Turn},
        },
        holder::{Liveness, author_and_successor},
        model::{Finding, Page, Safety, Step, Verdict, When},
        timing,
        view::View,
    },
    knowledge::{Consequence, Entry},
    object::{Age, Finalizer},
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Name, add_rename),
};

fn add_rename(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described {
        object,
        finalizer,
        entry,
        holder,
        ..
    } = *described;
    let Some(current) = current_name(finalizer, entry) else {
        return;
    };
    finding.say(format!("{} is an older name of {current}", finalizer.name));
    if object.has_finalizer(current) {
        finding.say("That is on this object too, and goes first");
        return;
    }
    let is_late = object.deletion().is_some_and(|deletion| {
        Age::between(deletion.requested_at(), view.now()).0.as_secs() > timing::WORKING_CONTROLLER
    });
    let Some((older, newer)) = author_and_successor(object, finalizer) else {
        return;
    };
    if holder.liveness() != Liveness::Running || !is_late || finding.wait.verdict != Verdict::Waiting {
        return;
    }
    finding.tell_of(Page::of(module_path!()));
    finding.wait.verdict = Verdict::Stalled;
    finding.say(format!(
        "That is not on this object. {older} put the older one on and has not been heard of since, and {newer}, which \
         works on it now, leaves it"
    ));
    finding.steps.insert(
        0,
        Step {
            when: When::Now,
            text: format!(
                "see which release runs, and whether a later one removes {} too: with that it goes by itself",
                finalizer.name
            ),
            command: Some(Command::of("kubectl finalizers explain {}", [&finalizer.name])),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
    );
    let costs = match entry.if_removed.consequence {
        Consequence::None => "LEFT-OVER: nothing is lost".to_owned(),
        other => format!(
            "{}: {}",
            other.word().to_uppercase(),
            entry.if_removed.text.trim_end_matches('.')
        ),
    };
    finding.steps.push(remove_finalizer(
        object,
        finalizer,
        When::NoReleaseRemoves,
        &format!("{costs}. Then remove this one older name, and no other"),
    ));
    finding.do_not.push(format!(
        "remove {} from objects that are not being deleted, or all finalizers together: work that is still to be done is \
         then never done",
        finalizer.name
    ));
}

/// The current name of the finalizer, if it has an older one.
fn current_name<'a>(finalizer: &Finalizer, entry: &'a Entry) -> Option<&'a str> {
    let is_older = entry.renamed_from.contains(&finalizer.name);
    match &entry.renamed_to {
        Some(current) => Some(current),
        None => is_older.then_some(entry.name.as_str()),
    }
}
