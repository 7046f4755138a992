//! `remove`: removes one entry from `metadata.finalizers`, as the last resort.
//!
//! A finalizer is work that a controller still has to do. So it is removed only from an object in deletion. The
//! diagnosis must say that no controller will do the work, and the user must accept the cost by its name. What
//! the diagnosis does not know counts against the removal, never for it.

use std::collections::BTreeSet;

use super::{
    Action, Cost, Plan, Refusal, Request, Seen,
    model::{in_metadata, names_of_blockers},
};
use crate::{
    command::Command,
    diagnose::{Verdict, Wait},
    object::{Finalizer, List},
    snapshot::{Gap, What},
};

/// The plan to remove `name` from the object, or the refusal.
pub fn remove(seen: &Seen<'_>, name: &str) -> Result<Plan, Refusal> {
    let object = seen.object;
    seen.check_in_deletion()?;
    let finalizer = in_metadata(name);
    let index = object
        .list("/metadata/finalizers")
        .iter()
        .position(|one| one.as_str() == Some(name));
    let (Some(index), Some(wait)) = (index, seen.wait(&finalizer)) else {
        return Err(not_on_object(seen, &finalizer));
    };
    check_verdict(seen, wait)?;
    let cost = Cost::of(object, &finalizer, seen.knowledge);
    let request = Request::remove_entry(object, index, name);
    Ok(seen.removal_plan(Action::Remove, finalizer, wait, cost, request))
}

fn not_on_object(seen: &Seen<'_>, finalizer: &Finalizer) -> Refusal {
    let all = seen.object.finalizers();
    let name = &finalizer.name;
    if all.iter().any(|one| one.list == List::Spec && one.name == *name) {
        return seen.refuse(
            format!("{name} stands in spec.finalizers, which an update of the object does not change"),
            format!(
                "it is done with: {}",
                Command::of(
                    "kubectl finalizers finalize {} --finalizer {}",
                    [seen.object.name(), name]
                )
            ),
        );
    }
    let has = seen.finalizers_in_words("it has none");
    seen.refuse(
        format!("finalizer {name} is not on it: {has}"),
        "the name is spelt as it stands there",
    )
}

/// Checks that the verdict on a finalizer allows its removal.
pub(super) fn check_verdict(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let why = |verdict: &str| {
        let on = match names_of_blockers(&wait.on).as_str() {
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

/// Whether the dry run shows what this gap hides: the API server asks admission before it stores an update.
fn dry_run_shows(gap: &Gap) -> bool {
    match &gap.what {
        What::Type { name, .. } | What::TypeIn { name, .. } => {
            name.ends_with(".admissionregistration.k8s.io")
        }
        _ => false,
    }
}

/// Checks that all evidence was read if it was not enough for a verdict. A gap may hide a running controller.
fn unknown(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let gaps = seen.diagnosis.gaps.iter();
    let unread: BTreeSet<_> = gaps.filter(|gap| !dry_run_shows(gap)).map(name).collect();
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

/// What was not read, without the reason.
fn name(gap: &Gap) -> String {
    match &gap.what {
        What::Type { name, .. } | What::TypeIn { name, .. } => name.clone(),
        _ => gap.in_words(),
    }
}
