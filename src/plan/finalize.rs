//! `finalize`: removes one entry from a Namespace's `spec.finalizers`, once the namespace is empty.
//!
//! When the last entry is removed, everything that is still in the namespace stays in etcd, in a namespace that no
//! longer exists. So every type must have been listed to its end, without a gap, and no object may be left.
//! Only then the namespace controller has nothing more to do. Nothing can be created in a Terminating namespace
//! (`kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go`), so a list from that time is
//! complete.
//!
//! An entry that is not Kubernetes' own belongs to another controller, and is judged as
//! [`remove`](super::remove()) judges it.

use super::{
    Action, Cost, Instead, Plan, Refusal, Request, Seen,
    model::{names_of_blockers, why},
    remove::check_verdict,
};
use crate::{
    command::Command,
    diagnose::{Verdict, Wait},
    object::{Finalizer, List},
    snapshot::facts::{Answer, Query},
};

/// The entry that Kubernetes' own namespace controller removes.
pub(super) const KUBERNETES: &str = "kubernetes";
const EVERY_TYPE: &str = "every type can be listed in it";
const WHAT_IS_LEFT: &str = "See what is left in it, and why:";
/// The maximum number of types that a refusal names.
const MAX_NAMED: usize = 8;

/// The plan to remove the entry `name`, or the refusal.
pub fn finalize(seen: &Seen<'_>, name: &str) -> Result<Plan, Refusal> {
    let namespace = seen.object;
    if !namespace.is("", "namespaces") {
        return Err(seen.refuse(
            "only a Namespace has spec.finalizers",
            "the target is a Namespace",
            "See what its metadata.finalizers wait for:",
        ));
    }
    seen.check_in_deletion()?;
    let finalizer = Finalizer {
        list: List::Spec,
        name: name.to_owned(),
    };
    let Some(wait) = seen.wait(&finalizer) else {
        return Err(not_on_object(seen, name));
    };
    seen.check_vetoes(wait)?;
    check_empty(seen, &wait.on)?;
    let cost = if name == KUBERNETES {
        check_controller_is_late(seen, wait)?;
        Cost::nothing("every type was listed in full, and the namespace is empty")
    } else {
        check_verdict(seen, wait)?;
        Cost::of(namespace, &finalizer, seen.knowledge)
    };
    let request = Request::finalize(namespace, &finalizer);
    Ok(seen.removal_plan(Action::Finalize, finalizer, wait, cost, request))
}

/// Checks that the namespace controller had its time, and that its update would not be refused.
fn check_controller_is_late(seen: &Seen<'_>, wait: &Wait) -> Result<(), Refusal> {
    if wait.verdict == Verdict::Rejected {
        return Err(seen.refuse(
            format!("{}. This removal would be refused, too", why(wait)),
            "what refuses the update is repaired",
            "See what refuses it, and how to repair it:",
        ));
    }
    if wait.verdict == Verdict::Waiting {
        return Err(seen.refuse(
            why(wait),
            "its controller had the time to do it and has not",
            "Wait a minute. See what the namespace waits for:",
        ));
    }
    Ok(())
}

fn not_on_object(seen: &Seen<'_>, name: &str) -> Refusal {
    if seen.has(List::Metadata, name) {
        let remove = Command::of(
            "kubectl finalizers remove ns/{} --finalizer {} --plan",
            [seen.object.name(), name],
        );
        return seen.refuse_for(
            format!("{name} is in metadata.finalizers, which only remove changes"),
            "the entry is in spec.finalizers",
            Instead::run("See the plan of remove:", remove),
        );
    }
    let has = match (seen.names_in(List::Spec), seen.names_in(List::Metadata)) {
        (Some(names), _) => format!("spec.finalizers has no entry {name}: it has {names}"),
        (None, Some(others)) => {
            format!("spec.finalizers is empty; metadata.finalizers still has {others}")
        }
        (None, None) => "spec.finalizers is empty".into(),
    };
    seen.refuse(
        has,
        "the entry is in spec.finalizers",
        "See what the namespace waits for:",
    )
}

/// Checks that the list of the namespace's content has no gap and no object.
fn check_empty(seen: &Seen<'_>, blockers: &[crate::diagnose::Blocker]) -> Result<(), Refusal> {
    let name = seen.object.name();
    let silent: Vec<_> = seen
        .facts
        .gaps
        .iter()
        .map(|gap| gap.what.silent_group().unwrap_or_else(|| gap.in_words()))
        .collect();
    if !silent.is_empty() {
        return Err(seen.refuse(
            format!(
                "these API groups do not answer and may hide objects: {}",
                silent.join(", ")
            ),
            "they answer again; or their product is gone and their APIService is deleted",
            "See why they do not answer, and what helps:",
        ));
    }
    let query = Query::Content {
        namespace: name.to_owned(),
    };
    let content = match seen.facts.answers.get(&query) {
        Some(Ok(Answer::Content(content))) => content,
        Some(Err(why)) => {
            return Err(seen.refuse(
                format!("what is left in it could not be listed: {}", why.message()),
                EVERY_TYPE,
                WHAT_IS_LEFT,
            ));
        }
        _ => {
            return Err(seen.refuse("what is left in it was not listed", EVERY_TYPE, WHAT_IS_LEFT));
        }
    };
    if !content.gaps.is_empty() {
        let texts: Vec<_> = content
            .gaps
            .iter()
            .take(MAX_NAMED)
            .map(crate::snapshot::Gap::in_words)
            .collect();
        return Err(seen.refuse(
            format!("not every type could be listed in it: {}", texts.join("; ")),
            EVERY_TYPE,
            WHAT_IS_LEFT,
        ));
    }
    let left: Vec<_> = content
        .counts
        .iter()
        .take(MAX_NAMED)
        .map(|(ty, count)| format!("{ty} ({count})"))
        .collect();
    if !left.is_empty() {
        let why = match names_of_blockers(blockers).as_str() {
            "" => String::new(),
            blockers => format!(" ({blockers})"),
        };
        return Err(seen.refuse(
            format!("this is left in it: {}{why}", left.join(", ")),
            "the namespace is empty",
            WHAT_IS_LEFT,
        ));
    }
    Ok(())
}
