//! A finalizer under a name that its product does not use any more.
//!
//! **Recognises** a name that the catalogue has as an older one (`renamed-from`, `renamed-to`). **Why:** a controller that
//! was upgraded takes off what it calls its finalizer now; the older string stays where the new release does not know it, or
//! does not own it: put on by a merge patch, it is nobody's in server-side apply (tektoncd/chains#1755). Many releases do know
//! both. **Wants** nothing more than the signs of the holder, and `managedFields`. **Concludes** `stalled` only where the holder
//! runs, three minutes have passed, the newer name is not on the object, and whoever put the older one on has not been heard
//! of since another program wrote to the object. Otherwise it mentions the rename. **Advises** the release that takes off
//! both; else this one string, last.

use crate::{
    diagnose::{
        causes::advice::remove_finalizer,
        holder::{Holder, State, succeeded},
        model::{Finding, Safety, Step, Verdict},
        timing,
        view::View,
    },
    knowledge::{Consequence, Entry},
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

pub(crate) fn add_rename(
    object: &Object,
    finalizer: &Finalizer,
    entry: &Entry,
    holder: &Holder,
    finding: &mut Finding,
    view: &View<'_>,
) {
    let Some(now) = newer(finalizer, entry) else {
        return;
    };
    finding.say(format!(". {} is an older name of {now}", finalizer.name));
    if object.finalizers().iter().any(|other| other.name == now) {
        finding.say(". That is on this object too, and goes first");
        return;
    }
    let late = object.deletion().is_some_and(|deletion| {
        Age::between(deletion.requested_at(), view.now()).0.as_secs() > timing::WORKING_CONTROLLER
    });
    let Some((older, newer)) = succeeded(object, finalizer) else {
        return;
    };
    if holder.state() != State::Running || !late || finding.wait.verdict != Verdict::Waiting {
        return;
    }
    finding.wait.verdict = Verdict::Stalled;
    finding.say(format!(
        ". That is not on this object. {older} put the older one on and has not been heard of since, and {newer}, which \
         works on it now, leaves it"
    ));
    finding.steps.insert(
        0,
        Step {
            when: "what to do",
            text: format!(
                "see which release runs, and whether a later one takes off {} too: with that it goes by itself",
                finalizer.name
            ),
            command: Some(format!("kubectl finalizers explain {}", finalizer.name)),
            safety: Safety::Safe,
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
        "no release takes it off?",
        &format!("{costs}. Then take off this one older name, and no other"),
    ));
    finding.do_not.push(format!(
        "take off {} from objects that are not being deleted, or all finalizers together: work that is still to be done is \
         then never done",
        finalizer.name
    ));
}

/// The name that it has now, if this is not it.
fn newer<'a>(finalizer: &Finalizer, entry: &'a Entry) -> Option<&'a str> {
    let is_older = entry.renamed_from.contains(&finalizer.name);
    match &entry.renamed_to {
        Some(now) => Some(now),
        None => is_older.then_some(entry.name.as_str()),
    }
}
