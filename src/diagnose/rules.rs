//! One cause, one file. This is the table: which rule speaks for which finalizer of which type.

mod address_range;
mod attached;
mod attachment;
mod awaited;
mod backend;
mod before;
mod catalogued;
mod claim;
mod complaint;
mod content_failure;
mod controller_manager;
mod conversion;
mod corrupt;
mod crd;
mod dead_api;
mod dependents;
mod deployed;
mod detach;
mod device;
mod disk;
mod drained;
mod held;
mod holder;
mod job_tracking;
mod kubelet;
pub(super) mod leftbehind;
pub(super) mod lost_attachment;
mod named;
mod namespace;
mod namespace_conditions;
mod namespace_content;
mod namespace_lists;
mod node;
mod orphaning;
mod outside;
mod owners;
mod pod;
mod pod_collector;
mod put_back;
mod reclaim;
mod references;
mod refused;
mod release;
mod release_of;
mod released;
mod renamed;
#[cfg(test)]
mod sample;
mod service_range;
mod shared_balancer;
mod snapshot;
mod snapshot_content;
mod sources;
mod steps;
mod storage;
#[cfg(test)]
mod storage_tests;
mod store;
mod subscribed;
mod table;
#[cfg(test)]
pub(super) mod taken_away;
mod uncatalogued;
mod unconfirmed;
pub(super) mod unreclaimed;
mod unserved;
mod vac;
#[cfg(test)]
mod vendor_tests;
mod volume;
#[cfg(test)]
#[path = "../../tests/suite/explain/weaker.rs"]
mod weaker;
mod zombie;

pub(super) use before::{Before, before};
pub use catalogued::filled;
pub use steps::{NUDGED, word};

use steps::{is_nudge, is_take_out, nudge, place_of, quoted, see, take_out};
use table::rule;

use super::{
    complaint::complaints,
    holder::Holder,
    model::{Blocker, Finding, Verdict},
    view::{Unfollowed, View},
};
use crate::{
    object::{Age, Finalizer, List},
    snapshot::facts::Object,
};

/// When the deletion itself was the mistake.
const MISTAKE: &str = "deleted by mistake?";
/// When the object really is to go.
const INTENDED: &str = "deletion intended?";

/// When its controller was made to look again, and did nothing.
const STILL_THERE: &str = "still there?";

/// How long a controller may take before its silence means something. The protection controllers act within
/// seconds; the namespace controller waits five before it begins.
const SOON: i64 = 60;

/// What every rule has to say about an object, one finding for each of its finalizers. For an object that is not
/// being deleted: what would hold it.
pub(super) fn findings(object: &Object, view: &View<'_>) -> Vec<Finding> {
    // At the target nothing has been followed yet; where a rule asks for more, the circle was named before.
    let mut findings = view.follow(object, || each(object, view)).unwrap_or_default();
    controller_manager::mention(object, &mut findings, view);
    owners::look(object, &mut findings, view);
    findings
}

/// The same without what is said once for the whole diagnosis.
fn each(object: &Object, view: &View<'_>) -> Vec<Finding> {
    let finalizers = object.finalizers();
    let missed = view.missed();
    let mut findings: Vec<_> = finalizers
        .iter()
        .map(|finalizer| finding(object, finalizer, view))
        .collect();
    if object.deletion().is_some() {
        if object.is("", "pods") {
            findings.extend(pod::look(object, view));
        } else if finalizers.is_empty() {
            findings.push(zombie::look(object, view));
        }
        let blind = view.missed() > missed;
        refused::look(object, &mut findings, blind, view);
        leftbehind::look(object, &mut findings, view);
        release_of::look(object, &mut findings, view);
        let certain = view.missed() == missed;
        without_a_rule(object, &mut findings, certain, view);
    }
    put_back::look(object, &mut findings, view);
    outside::look(object, &mut findings);
    findings
}

/// What the object itself adds where no rule knows its finalizers. Where there are several of them, nobody knows which
/// one a complaint is about, and nothing is concluded from it.
fn without_a_rule(object: &Object, findings: &mut [Finding], certain: bool, view: &View<'_>) {
    let mut open: Vec<_> = findings
        .iter_mut()
        .filter(|finding| {
            finding
                .wait
                .finalizer
                .as_ref()
                .is_some_and(|name| !object.is("", "namespaces") && !is_known(object, name))
        })
        .collect();
    let alone = open.len() == 1;
    let Some(first) = open.first_mut() else {
        return;
    };
    let said = complaints(object, view);
    references::look(object, first, &said, certain && alone, view);
}

/// Whether a rule reads more of objects of this type (`plural.group`) than their metadata.
pub(super) fn look_into(type_name: &str) -> bool {
    let by_kind = ["pods", "namespaces"];
    by_kind.contains(&type_name) || table::is_for(type_name)
}

/// Whether the server's words say that the definition of a type keeps its objects from being read.
pub fn is_of_definition(text: &str) -> bool {
    conversion::failed(text) || unserved::is_told(text)
}

/// The garbage collector's own, on objects of any type.
const OF_OWNERS: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Whether a rule knows who holds this one by its name. What holds a Namespace has rules of its own, whatever it is called.
fn is_known(object: &Object, finalizer: &Finalizer) -> bool {
    OF_OWNERS.contains(&finalizer.name.as_str()) || rule(object, finalizer).is_some()
}

fn finding(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    // Two lists, and any name in either of them.
    if object.is("", "namespaces") {
        return namespace_lists::look(object, finalizer, view);
    }
    match finalizer.name.as_str() {
        "foregroundDeletion" => return dependents::foreground(object, finalizer, view),
        "orphan" => return orphaning::look(object, finalizer, view),
        _ => {}
    }
    match rule(object, finalizer) {
        Some(rule) => (rule.look)(object, finalizer, view),
        None => catalogued::look(object, finalizer, view),
    }
}

/// Whether a finding is about a holder that no rule knows by name, and not about what that waits for.
fn is_held(object: &Object, finding: &Finding) -> bool {
    finding
        .wait
        .finalizer
        .as_ref()
        .is_some_and(|finalizer| finalizer.list == List::Metadata && !is_known(object, finalizer))
}

/// How an object stands, as a blocker of another one: with its own waits if it is being deleted itself.
fn as_blocker(object: &Object, says: String, view: &View<'_>) -> Blocker {
    let mut blocker = Blocker::new(Some(object.reference()), says);
    if object.deletion().is_some() {
        match view.follow(object, || each(object, view)) {
            Ok(findings) => blocker.waits = findings.into_iter().map(|finding| finding.wait).collect(),
            Err(Unfollowed::Circle) => blocker.says.push_str(
                "; it stands above already: they wait for each other, and none of them goes by itself",
            ),
            Err(Unfollowed::TooDeep) => blocker
                .says
                .push_str("; what it waits for in turn is not followed any further"),
        }
    }
    blocker
}

/// Whether deletion was asked for so recently that nobody can be called late.
fn is_recent(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_none_or(|deletion| Age::between(deletion.requested_at(), view.now()).0.as_secs() < SOON)
}

/// The verdict where nothing blocks any more: the holder has a moment, then it is late.
fn nothing_blocks(object: &Object, view: &View<'_>) -> Verdict {
    if is_recent(object, view) {
        Verdict::Waiting
    } else {
        Verdict::Stalled
    }
}

/// A holder that has something left to wait for is not to blame. One that could not be looked at may be gone, and then
/// that keeps nothing.
fn waits(finding: &mut Finding, holder: &Holder, verdict: Verdict) {
    let excused = match finding.wait.verdict {
        Verdict::Unknown => holder.unseen.is_empty(),
        Verdict::Stalled | Verdict::Waiting => true,
        _ => false,
    };
    if excused {
        finding.wait.verdict = verdict;
    }
}
