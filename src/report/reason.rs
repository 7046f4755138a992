//! Why an object still exists, in one line, from what the scan saw of it.
//!
//! A line states only what the object itself proves. `explain` finds out what its finalizers wait for.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    command::Command,
    knowledge::{GroupKind, Knowledge},
    object::{Age, List},
    snapshot::{Condition, Seen},
};

/// The objects in a Namespace that a scan counted, by type.
#[derive(Default)]
pub(super) struct Content {
    /// All objects.
    pub(super) remaining: BTreeMap<String, u64>,
    /// The terminating objects.
    pub(super) terminating: BTreeMap<String, u64>,
}

/// How much of a namespace's content the scan covered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// All of the content.
    Full,
    /// Some of the content could not be read.
    Gaps,
    /// The scan was limited to some types or labels.
    Chosen,
}

/// The reason line. `content` is what this scan found in the object, if it is a Namespace.
pub(super) fn one_line(
    seen: &Seen,
    content: &Content,
    knowledge: &Knowledge,
    coverage: Coverage,
    now: Timestamp,
) -> String {
    if let Some(deletion) = seen.deletion.filter(|deletion| deletion.in_grace(now)) {
        let rest = Age::between(now, deletion.timestamp);
        return format!("its grace period runs for another {rest}; slow, not stuck");
    }
    if seen.in_list(List::Spec).next().is_some() {
        return namespace(seen, content, coverage);
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
    if let Some(protects) = described.next() {
        return format!("held to protect {protects}");
    }
    let names: Vec<_> = seen.in_list(List::Metadata).map(str::to_owned).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    format!(
        "waits until {} {are} removed; not in the catalogue",
        super::gaps::first_names(&names, 2)
    )
}

/// After the grace period, an object with empty lists has no finalizer that blocks it
/// (`kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete and
/// `pkg/registry/generic/registry/store.go`).
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

/// An unavailable API group blocks the deletion of every namespace, even of an empty one, so it comes first.
/// The counted objects come second, because the conditions can contradict them
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`).
fn namespace(seen: &Seen, content: &Content, coverage: Coverage) -> String {
    let raised = |kind: &str| {
        seen.conditions
            .iter()
            .find(|condition| condition.kind == kind && condition.status == "True")
    };
    let quoted = |condition: &Condition| format!("{}: {}", condition.kind, condition.message);
    if let Some(condition) = raised("NamespaceDeletionDiscoveryFailure") {
        // The original text names the groups so late that a table would cut them off.
        return match silent_groups(&condition.message).as_slice() {
            [] => quoted(condition),
            groups => format!(
                "{} {} not answer, and until then no namespace goes: {}",
                groups.join(", "),
                if groups.len() == 1 { "does" } else { "do" },
                quoted(condition)
            ),
        };
    }
    if !content.terminating.is_empty() {
        let all: u64 = content.remaining.values().sum();
        let terminating: u64 = content.terminating.values().sum();
        let others = if all > terminating {
            format!("; {all} objects left in all")
        } else {
            String::new()
        };
        return format!(
            "waits for what is being deleted in it: {}{others}",
            counts(&content.terminating)
        );
    }
    if !content.remaining.is_empty() {
        return format!("left in it: {}", counts(&content.remaining));
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
    match coverage {
        Coverage::Full => "nothing is left in it; the namespace controller has not finished".into(),
        Coverage::Gaps => "nothing was found in it, but not everything could be read".into(),
        // Its conditions can claim that nothing is left. Only a complete scan shows it.
        Coverage::Chosen => format!(
            "what is left in it was not asked for; {} shows it",
            Command::of("kubectl finalizers scan -n {}", [&seen.object.name])
        ),
    }
}

/// The groups in `…: unable to retrieve the complete list of server APIs: g/v: why, h/v: why`
/// (`kubernetes/client-go:discovery/discovery_client.go` ErrGroupDiscoveryFailed).
fn silent_groups(message: &str) -> Vec<&str> {
    let Some((_, groups)) = message.split_once("complete list of server APIs: ") else {
        return Vec::new();
    };
    let is_group = |text: &&str| text.contains('/') && !text.contains(' ');
    groups
        .split(", ")
        .filter_map(|entry| entry.split_once(": "))
        .map(|(group, _)| group)
        .filter(is_group)
        .collect()
}

/// `2 pods, 1 persistentvolumeclaims`, the highest count first.
fn counts(types: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = types.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let counts: Vec<_> = counts
        .into_iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    super::gaps::first_names(&counts, 4)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::object::{Deletion, Finalizer, ObjectRef};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    /// An object whose deletion was requested an hour ago.
    fn terminating(type_name: &str, kind: &str, finalizers: &[(List, &str)]) -> Seen {
        let finalizer = |&(list, name): &(List, &str)| Finalizer {
            list,
            name: name.into(),
        };
        Seen {
            object: ObjectRef {
                type_name: type_name.into(),
                kind: kind.into(),
                api_version: "v1".into(),
                namespace: None,
                name: "pay".into(),
                uid: String::new(),
            },
            created: None,
            deletion: Some(Deletion {
                timestamp: NOW - SignedDuration::from_hours(1),
                grace_seconds: 0,
            }),
            finalizers: finalizers.iter().map(finalizer).collect(),
            conditions: Vec::new(),
            driver: None,
        }
    }

    fn line(seen: &Seen, content: &Content, coverage: Coverage) -> String {
        one_line(seen, content, &Knowledge::builtin(), coverage, NOW)
    }

    fn simple(seen: &Seen) -> String {
        line(seen, &Content::default(), Coverage::Full)
    }

    fn condition(kind: &str, message: &str) -> Condition {
        Condition {
            kind: kind.into(),
            status: "True".into(),
            reason: String::new(),
            message: message.into(),
            since: None,
        }
    }

    fn content(remaining: &[(&str, u64)], terminating: &[(&str, u64)]) -> Content {
        let counts = |counts: &[(&str, u64)]| {
            counts
                .iter()
                .map(|&(name, count)| (name.to_owned(), count))
                .collect()
        };
        Content {
            remaining: counts(remaining),
            terminating: counts(terminating),
        }
    }

    #[test]
    fn does_not_call_a_running_grace_period_stuck() {
        let mut pod = terminating("pods", "Pod", &[(List::Metadata, "a/b")]);
        pod.deletion = Some(Deletion {
            timestamp: NOW + SignedDuration::from_secs(90),
            grace_seconds: 600,
        });
        assert_eq!(
            simple(&pod),
            "its grace period runs for another 90s; slow, not stuck"
        );
    }

    #[test]
    fn explains_an_object_without_finalizers_by_its_type() {
        assert!(
            simple(&terminating("widgets.example.com", "Widget", &[])).contains("any update, finishes it")
        );
        let mut pod = terminating("pods", "Pod", &[]);
        pod.deletion = pod.deletion.map(|deletion| Deletion {
            grace_seconds: 30,
            ..deletion
        });
        assert!(simple(&pod).contains("the kubelet of its node has not confirmed"));
    }

    #[test]
    fn names_a_finalizer_that_is_not_in_the_catalogue() {
        let one = terminating(
            "widgets.example.com",
            "Widget",
            &[(List::Metadata, "nobody.example/knows")],
        );
        assert_eq!(
            simple(&one),
            "waits until nobody.example/knows is removed; not in the catalogue"
        );
    }

    #[test]
    fn prefers_counted_objects_over_the_conditions_of_a_namespace() {
        let mut pay = terminating("namespaces", "Namespace", &[(List::Spec, "kubernetes")]);
        pay.conditions = vec![condition(
            "NamespaceContentRemaining",
            "Some resources are remaining: x has 9 resource instances",
        )];
        let remaining = content(&[("pods", 2), ("challenges.acme.cert-manager.io", 1)], &[]);
        assert_eq!(
            line(&pay, &remaining, Coverage::Full),
            "left in it: 2 pods, 1 challenges.acme.cert-manager.io"
        );
        let both = content(&[("pods", 2), ("secrets", 3)], &[("pods", 2)]);
        assert_eq!(
            line(&pay, &both, Coverage::Full),
            "waits for what is being deleted in it: 2 pods; 5 objects left in all"
        );
        assert!(simple(&pay).starts_with("NamespaceContentRemaining: Some resources are remaining"));
    }

    #[test]
    fn names_an_unavailable_api_group_first() {
        let mut pay = terminating("namespaces", "Namespace", &[(List::Spec, "kubernetes")]);
        pay.conditions = vec![condition(
            "NamespaceDeletionDiscoveryFailure",
            "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale",
        )];
        let said = line(&pay, &content(&[("pods", 1)], &[]), Coverage::Full);
        assert!(
            said.starts_with("metrics.k8s.io/v1beta1 does not answer, and until then no namespace goes"),
            "{said}"
        );
    }

    #[test]
    fn calls_a_namespace_empty_only_after_a_complete_scan() {
        let pay = terminating("namespaces", "Namespace", &[(List::Spec, "kubernetes")]);
        let nothing = |coverage| line(&pay, &Content::default(), coverage);
        assert_eq!(
            nothing(Coverage::Full),
            "nothing is left in it; the namespace controller has not finished"
        );
        assert_eq!(
            nothing(Coverage::Gaps),
            "nothing was found in it, but not everything could be read"
        );
        assert_eq!(
            nothing(Coverage::Chosen),
            "what is left in it was not asked for; kubectl finalizers scan -n pay shows it"
        );
        let other = terminating(
            "namespaces",
            "Namespace",
            &[(List::Spec, "kubernetes"), (List::Spec, "example.com/x")],
        );
        assert_eq!(
            simple(&other),
            "waits until example.com/x is removed through /finalize"
        );
    }

    #[test]
    fn finds_the_unavailable_groups_in_the_condition() {
        let prefix = "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: ";
        let groups = |rest: &str| {
            silent_groups(&format!("{prefix}{rest}"))
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            groups(
                "a.io/v1: stale GroupVersion discovery: a.io/v1, b.io/v1: the server is currently unable to handle the request"
            ),
            ["a.io/v1", "b.io/v1"]
        );
        // A reason can contain a comma itself.
        assert_eq!(groups("a.io/v1: Get \"https://x\": x, y: z"), ["a.io/v1"]);
        assert!(silent_groups("something else: a/b: c").is_empty());
    }
}
