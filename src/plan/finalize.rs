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

use super::{Action, Cost, Plan, Refusal, Request, Seen, model::names_of_blockers, remove::check_verdict};
use crate::{
    command::Command,
    diagnose::{Verdict, Wait},
    object::{Finalizer, List},
    snapshot::facts::{Answer, Query},
};

/// The entry that Kubernetes' own namespace controller removes.
pub(super) const KUBERNETES: &str = "kubernetes";
/// The maximum number of types that a refusal names.
const MAX_NAMED: usize = 8;

/// The plan to remove the entry `name`, or the refusal.
pub fn finalize(seen: &Seen<'_>, name: &str) -> Result<Plan, Refusal> {
    let namespace = seen.object;
    if !namespace.is("", "namespaces") {
        return Err(seen.refuse(
            "only a Namespace has spec.finalizers",
            "it is a Namespace; for metadata.finalizers there is: kubectl finalizers remove",
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
        Cost::nothing("every type was listed to its end and nothing is left in it, so nothing stays behind")
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
            format!("rejected, and so would this be: {}", names_of_blockers(&wait.on)),
            "what refuses it is repaired",
        ));
    }
    if wait.verdict == Verdict::Waiting {
        return Err(seen.refuse(
            format!("waiting: {}", wait.says()),
            "its controller had the time to do it, and has not",
        ));
    }
    Ok(())
}

fn not_on_object(seen: &Seen<'_>, name: &str) -> Refusal {
    let has = seen.finalizers_in_words("it has no finalizers at all");
    seen.refuse(
        format!("spec.finalizers has no entry {name}: {has}"),
        "the entry is there: --finalizer names another one of spec.finalizers, and for what stands in metadata.finalizers \
         there is: kubectl finalizers remove",
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
                "these API groups do not answer, so what is left of their types is not known: {}",
                silent.join(", ")
            ),
            format!(
                "they answer again, or their APIService is deleted because its product is gone; then the namespace most \
                 often goes by itself. How: {}",
                Command::explain("ns", name, "")
            ),
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
                "every type can be listed in it",
            ));
        }
        _ => {
            return Err(seen.refuse(
                "what is left in it was not listed",
                "every type can be listed in it",
            ));
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
            "every type can be listed in it",
        ));
    }
    let left: Vec<_> = content
        .counts
        .iter()
        .take(MAX_NAMED)
        .map(|(ty, count)| format!("{count} {ty}"))
        .collect();
    if !left.is_empty() {
        let why = match names_of_blockers(blockers).as_str() {
            "" => String::new(),
            blockers => format!(" ({blockers})"),
        };
        return Err(seen.refuse(
            format!("this is left in it: {}{why}", left.join(", ")),
            format!(
                "nothing is; why it is there tells: {}",
                Command::explain("ns", name, "")
            ),
        ));
    }
    Ok(())
}
