//! `remove`: removes one entry from `metadata.finalizers`, as the last resort.
//!
//! A finalizer is work that a controller still has to do. So it is removed only from an object in deletion. The
//! diagnosis must say that no controller will do the work, and the user must accept the cost by its name. What
//! the diagnosis does not know counts against the removal, never for it. A controller that runs and fails is
//! repaired, unless it says itself that what it needs does not exist any more.

use std::collections::BTreeSet;

use super::{
    Action, Cost, Instead, Plan, Refusal, Request, Seen,
    model::{in_metadata, why},
};
use crate::{
    command::Command,
    diagnose::{COMPLAINT, UNSEEN_CONTROLLER, Unable, Verdict, Wait},
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
    let name = &finalizer.name;
    if seen.has(List::Spec, name) {
        let finalize = Command::of(
            "kubectl finalizers finalize {} --finalizer {} --plan",
            [seen.object.name(), name],
        );
        return seen.refuse_for(
            format!("{name} is in spec.finalizers, which only finalize changes"),
            "the finalizer is in metadata.finalizers",
            Instead::run("See the plan of finalize:", finalize),
        );
    }
    let has = match seen.names_in(List::Metadata) {
        Some(names) => format!("it has {names}"),
        None => "it has no finalizers".into(),
    };
    seen.refuse(
        format!("finalizer {name} is not on it: {has}"),
        "it has that finalizer, written exactly the same",
        "See what it waits for:",
    )
}

/// Checks that the verdict on a finalizer allows its removal, that all evidence for that verdict was read, and that
/// nothing else speaks against it.
pub(super) fn check_verdict(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    match wait.verdict {
        Verdict::InUse => {
            return Err(seen.refuse(
                why(wait),
                "nothing uses it any more; the finalizer is then removed automatically",
                "See what uses it, and what you can do:",
            ));
        }
        Verdict::Waiting => {
            return Err(seen.refuse(
                why(wait),
                "its controller is gone, cannot run, or waits for nothing and still does not act",
                "See what it waits for, and what helps:",
            ));
        }
        Verdict::Rejected => {
            return Err(seen.refuse(
                format!("{}. This removal would be refused, too", why(wait)),
                "what refuses the update is repaired; its controller can then remove the finalizer",
                "See what refuses it, and how to repair it:",
            ));
        }
        Verdict::Failing if wait.unable.is_none() => {
            return Err(seen.refuse(
                why(wait),
                format!(
                    "what it complains of is repaired; or its own complaint of the last {} minutes says that its backend \
                     or its credentials no longer exist",
                    COMPLAINT.as_mins()
                ),
                "See the complaint, and how to repair it:",
            ));
        }
        Verdict::Unknown | Verdict::Failing | Verdict::Stalled | Verdict::Orphaned => {}
    }
    check_sight(seen, wait)?;
    if wait.verdict == Verdict::Unknown || wait.unable == Some(Unable::CannotRun) {
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
        format!("{}. It was deleted only {since} ago", why(wait)),
        format!(
            "it is still there in {}: a controller may start, become the leader or try again until then",
            Age(UNSEEN_CONTROLLER.saturating_sub(since.0)),
        ),
        "Wait. See what is known of its controller:",
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
            "{}, but not read in full: {}",
            wait.verdict.word(),
            unread.join(", ")
        ),
        "all of these can be read; they may hide a controller that runs",
        "See why they were not read:",
    ))
}

/// What was not read, without the reason.
fn name(gap: &Gap) -> String {
    match &gap.what {
        What::Type { name, .. } | What::TypeIn { name, .. } => name.clone(),
        _ => gap.in_words(),
    }
}
