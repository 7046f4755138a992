//! `remove`: removes one entry from `metadata.finalizers`, as the last resort.
//!
//! A finalizer is work that a controller still has to do. So it is removed only from an object in deletion. The
//! diagnosis must say that no controller will do the work, and the user must accept the cost by its name. What
//! the diagnosis does not know counts against the removal, never for it. A controller that runs and fails is
//! repaired, unless it says itself that what it needs does not exist any more.

use std::collections::BTreeSet;

use super::{
    Action, Cost, Plan, Refusal, Request, Seen,
    model::{in_metadata, names_of_blockers},
};
use crate::{
    command::Command,
    diagnose::{COMPLAINT, UNSEEN_CONTROLLER, Verdict, Wait},
    object::{Age, Finalizer, List},
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

/// Checks that the verdict on a finalizer allows its removal, that all evidence for that verdict was read, and that
/// nothing else speaks against it.
pub(super) fn check_verdict(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let why = |verdict: &str| {
        let on = match names_of_blockers(&wait.on).as_str() {
            "" => String::new(),
            blockers => format!(" ({blockers})"),
        };
        format!("{verdict}: {}{on}", wait.says())
    };
    match wait.verdict {
        Verdict::InUse => {
            return Err(seen.refuse(
                why("in-use"),
                "nothing uses it any more; then it is let go by itself",
            ));
        }
        Verdict::Waiting => {
            return Err(seen.refuse(
                why("waiting"),
                "its holder is proved gone, or cannot run, or has nothing left to wait for and still does not act",
            ));
        }
        Verdict::Rejected => {
            return Err(seen.refuse(
                why("rejected, and so would this be"),
                "what refuses it is repaired; then its own holder can take it out, too",
            ));
        }
        Verdict::Failing if wait.unable.is_none() => {
            return Err(seen.refuse(
                why("failing"),
                format!(
                    "what it complains of is repaired; its controller tries again, and then removes the finalizer. How: \
                     kubectl finalizers explain. Only if its own complaint of the last {} minutes says that its backend or \
                     its credentials do not exist any more, it may be removed by hand",
                    COMPLAINT.as_mins()
                ),
            ));
        }
        Verdict::Unknown | Verdict::Failing | Verdict::Stalled | Verdict::Orphaned => {}
    }
    check_sight(seen, wait)?;
    if wait.verdict == Verdict::Unknown {
        check_patience(seen, wait)?;
    }
    seen.check_vetoes(wait)
}

/// Checks that a controller that nobody sees had the time to act. It may be starting, waiting to become the leader, or
/// between two attempts, and then it removes the finalizer in the regular way.
fn check_patience(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let Some(deletion) = seen.object.deletion() else {
        return Ok(());
    };
    let since = Age::between(deletion.requested_at(), seen.diagnosis.observed_at);
    if since.0 >= UNSEEN_CONTROLLER {
        return Ok(());
    }
    Err(seen.refuse(
        format!(
            "unknown: {}. It was deleted only {since} ago",
            wait.says()
        ),
        format!(
            "it is still there in {}. A controller that is not seen here may start, become the leader or try again \
             until then; the kubelet starts a container that crashed after at most {} minutes",
            Age(UNSEEN_CONTROLLER.saturating_sub(since.0)),
            UNSEEN_CONTROLLER.as_mins()
        ),
    ))
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

/// Checks that everything was read that the diagnosis wanted. A gap may hide a running controller, something that still
/// uses the object, or a reason not to remove the finalizer, whatever the verdict is without it.
fn check_sight(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    let gaps = seen.diagnosis.gaps.iter();
    let unread: BTreeSet<_> = gaps.filter(|gap| !dry_run_shows(gap)).map(name).collect();
    if unread.is_empty() {
        return Ok(());
    }
    let unread: Vec<_> = unread.into_iter().collect();
    Err(seen.refuse(
        format!(
            "{}: {}. Not read, or not in full: {}",
            wait.verdict.word(),
            wait.says(),
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
