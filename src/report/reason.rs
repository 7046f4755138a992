//! Why an object has not gone, in one line, from what a scan has seen of it.
//!
//! Only what the object itself proves is said. What its finalizers wait for is the business of `explain`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    knowledge::{GroupKind, Knowledge},
    object::{Age, List},
    snapshot::{Condition, Seen},
};

/// What a reading found in a Namespace: objects by type.
#[derive(Default)]
pub(super) struct Content {
    /// All of them.
    pub(super) left: BTreeMap<String, u64>,
    /// Those that are being deleted themselves.
    pub(super) going: BTreeMap<String, u64>,
}

/// The line. `content` is what this reading found in the object, if it is a Namespace, and `complete` whether
/// the reading missed nothing.
pub(super) fn one_line(
    seen: &Seen,
    content: &Content,
    knowledge: &Knowledge,
    complete: bool,
    now: Timestamp,
) -> String {
    if let Some(deletion) = seen.deletion.filter(|deletion| deletion.in_grace(now)) {
        let rest = Age::between(now, deletion.timestamp);
        return format!("its grace period runs for another {rest}; slow, not stuck");
    }
    if seen.in_list(List::Spec).next().is_some() {
        return namespace(seen, content, complete);
    }
    if seen.finalizers.is_empty() {
        return without_finalizers(seen);
    }
    let kind = GroupKind {
        group: seen.object.group(),
        kind: &seen.object.kind,
    };
    let mut described = seen.in_list(List::Metadata).filter_map(|name| {
        knowledge
            .lookup(name, List::Metadata, Some(kind))
            .map(|entry| entry.protects)
    });
    match described.next() {
        Some(protects) => format!("held to protect {protects}"),
        None => "held by a finalizer that the catalogue does not know".into(),
    }
}

/// With its grace period over and nothing in its lists, an object is held by no finalizer
/// (`kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete and `pkg/registry/generic/registry/store.go`).
fn without_finalizers(seen: &Seen) -> String {
    let graceful = seen.deletion.is_some_and(|deletion| deletion.grace_seconds > 0);
    if graceful && seen.object.type_name == "pods" {
        "no finalizer; its grace period is over and the kubelet of its node has not confirmed that it stopped"
            .into()
    } else if graceful {
        "no finalizer; its grace period is over and nobody has finished the deletion".into()
    } else {
        "no finalizer; the last step of its deletion failed once: deleting it again, or any update, finishes it".into()
    }
}

/// A dead API group stops the deletion of every namespace, even of an empty one, so it comes first. Then what
/// is really left, which the conditions may deny
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`).
fn namespace(seen: &Seen, content: &Content, complete: bool) -> String {
    let raised = |kind: &str| {
        seen.conditions
            .iter()
            .find(|condition| condition.kind == kind && condition.status == "True")
    };
    let quoted = |condition: &Condition| format!("{}: {}", condition.kind, condition.message);
    if let Some(condition) = raised("NamespaceDeletionDiscoveryFailure") {
        return quoted(condition);
    }
    if !content.going.is_empty() {
        let all: u64 = content.left.values().sum();
        let going: u64 = content.going.values().sum();
        let others = if all > going {
            format!("; {all} objects left in all")
        } else {
            String::new()
        };
        return format!(
            "waits for what is being deleted in it: {}{others}",
            counts(&content.going)
        );
    }
    if !content.left.is_empty() {
        return format!("left in it: {}", counts(&content.left));
    }
    let content = [
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ];
    if let Some(condition) = content.iter().find_map(|kind| raised(kind)) {
        return quoted(condition);
    }
    let mut others = seen
        .in_list(List::Spec)
        .filter(|name| *name != "kubernetes")
        .peekable();
    if others.peek().is_some() {
        return format!(
            "waits until {} is removed through /finalize",
            others.collect::<Vec<_>>().join(", ")
        );
    }
    if complete {
        "nothing is left in it; the namespace controller has not finished".into()
    } else {
        "nothing was found in it, but not everything could be read".into()
    }
}

/// `2 pods, 1 persistentvolumeclaims`, the most first.
fn counts(types: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = types.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let counts: Vec<_> = counts
        .into_iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    super::gaps::some(&counts, 4)
}
