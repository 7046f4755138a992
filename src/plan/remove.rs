//! `remove`: one string out of `metadata.finalizers`, as the last line and never the first.
//!
//! A finalizer is a promise that somebody still has to keep. So it is taken out only of an object that is being
//! deleted, only where the diagnosis says that nobody will keep it, and only at a cost that was accepted by its name.
//! What the diagnosis does not know counts against removing, never for it.

use std::collections::BTreeSet;

use super::{
    Action, Cost, Plan, Refusal, Request, Seen,
    model::{in_metadata, named},
};
use crate::{
    diagnose::{Safety, Step, Verdict, Wait},
    object::{Finalizer, List},
    snapshot::{Gap, What},
};

/// The plan to take `name` out of the object, or why not.
pub fn remove(seen: &Seen<'_>, name: &str) -> Result<Plan, Refusal> {
    let object = seen.object;
    seen.in_deletion()?;
    let finalizer = in_metadata(name);
    let index = object
        .list("/metadata/finalizers")
        .iter()
        .position(|one| one.as_str() == Some(name));
    let (Some(index), Some(wait)) = (index, seen.wait(&finalizer)) else {
        return Err(not_on_it(seen, &finalizer));
    };
    may_be_removed(seen, wait)?;
    let cost = Cost::of(seen, &finalizer);
    let request = Request::without(object, index, name);
    Ok(seen.without(Action::Remove, finalizer, wait, cost, request))
}

/// The steps of the diagnosis that destroy nothing.
pub(super) fn safer(seen: &Seen<'_>) -> Vec<Step> {
    let steps = seen.diagnosis.steps.iter();
    steps
        .filter(|step| step.safety != Safety::Destructive)
        .cloned()
        .collect()
}

fn not_on_it(seen: &Seen<'_>, finalizer: &Finalizer) -> Refusal {
    let all = seen.object.finalizers();
    let name = &finalizer.name;
    if all.iter().any(|one| one.list == List::Spec && one.name == *name) {
        return seen.refuse(
            format!("{name} stands in spec.finalizers, which an update of the object does not change"),
            format!(
                "it is done with: kubectl finalizers finalize {} --finalizer {name}",
                seen.object.name()
            ),
        );
    }
    let has = seen.has("it has none");
    seen.refuse(
        format!("finalizer {name} is not on it: {has}"),
        "the name is spelt as it stands there",
    )
}

/// Whether the verdict on a finalizer lets it be taken out.
pub(super) fn may_be_removed(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let why = |verdict: &str| {
        let on = match named(&wait.on).as_str() {
            "" => String::new(),
            blockers => format!(" ({blockers})"),
        };
        format!("{verdict}: {}{on}", wait.says)
    };
    match wait.verdict {
        Verdict::InUse => Err(seen.refuse(
            why("in-use"),
            "nothing uses it any more; then it is let go by itself",
        )),
        Verdict::Waiting => Err(seen.refuse(
            why("waiting"),
            "its holder is proved gone, or fails, or has nothing left to wait for and still does not act",
        )),
        Verdict::Rejected => Err(seen.refuse(
            why("rejected, and so would this be"),
            "what refuses it is repaired; then its own holder can take it out, too",
        )),
        Verdict::Unknown => unknown(seen, wait),
        Verdict::Failing | Verdict::Stalled | Verdict::Orphaned => Ok(()),
    }
}

/// Whether the server itself says what could not be read: whom it asks before it stores an update shows in the dry run.
fn is_told_by_the_dry_run(gap: &Gap) -> bool {
    match &gap.what {
        What::Type { name, .. } | What::TypeIn { name, .. } => {
            name.ends_with(".admissionregistration.k8s.io")
        }
        _ => false,
    }
}

/// Without enough evidence for a verdict it counts whether all of it was seen: a gap may hide whoever is at work.
fn unknown(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let gaps = seen.diagnosis.gaps.iter();
    let unread: BTreeSet<_> = gaps
        .filter(|gap| !is_told_by_the_dry_run(gap))
        .map(name)
        .collect();
    if unread.is_empty() {
        return Ok(());
    }
    let unread: Vec<_> = unread.into_iter().collect();
    Err(seen.refuse(
        format!(
            "unknown: {}. Not read, or not in full: {}",
            wait.says,
            unread.join(", ")
        ),
        "what the verdict depends on can be read; kubectl finalizers explain says why it was not",
    ))
}

/// What was not read, without why.
fn name(gap: &Gap) -> String {
    match &gap.what {
        What::Type { name, .. } | What::TypeIn { name, .. } => name.clone(),
        _ => gap.in_words(),
    }
}
