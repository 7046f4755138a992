use serde_json::json;

use super::*;
use crate::{
    diagnose::testing::{
        fixtures::controller_manager_lease,
        told::{commands, said, verdict},
        world,
        world::{World, bare as object},
    },
    object::{Deletion, List, ObjectRef},
    snapshot::{Gap, Seen, What, Why},
};

fn namespace(conditions: &serde_json::Value) -> Object {
    object(
        "",
        "namespaces",
        "Namespace",
        json!({
            "metadata": {"name": "n", "deletionTimestamp": "2026-01-01T11:00:00Z"},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"conditions": conditions},
        }),
    )
}

fn content_of_groups(groups: usize, each: usize) -> Content {
    let mut content = Content::default();
    for group in 0..groups {
        for n in 0..each {
            content.kept.push(Seen {
                object: ObjectRef {
                    type_name: "as.x.test".into(),
                    kind: "A".into(),
                    api_version: "x.test/v1".into(),
                    namespace: Some("n".into()),
                    name: format!("a-{group}-{n}"),
                    uid: String::new(),
                },
                created: None,
                deletion: Some(Deletion {
                    timestamp: world::NOW.parse().expect("the time is valid"),
                    grace_seconds: 0,
                }),
                finalizers: vec![Finalizer {
                    list: List::Metadata,
                    name: format!("x.test/{group}"),
                }],
                conditions: Vec::new(),
                driver: None,
            });
        }
    }
    content.counts.insert("as.x.test".into(), (groups * each) as u64);
    content
}

#[test]
fn summarizes_many_objects() {
    let diagnosis = World::closed()
        .content("n", content_of_groups(12, 100))
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Waiting));
    assert_eq!(diagnosis.waits[0].on.len(), limits::CONTENT_GROUPS + 1);
    let said = said(&diagnosis);
    assert!(said.contains("(and 99 more like it)"), "{said}");
    assert!(said.contains("and 400 more objects in 4 more groups"), "{said}");
    assert_eq!(commands(&diagnosis).lines().count(), limits::CONTENT_GROUPS);
}

#[test]
fn a_namespace_with_unlisted_types_is_not_empty() {
    let gap = Gap {
        what: What::TypeIn {
            name: "secrets".into(),
            namespace: "n".into(),
            read: 0,
        },
        why: Why::Forbidden("no".into()),
    };
    let content = Content {
        gaps: vec![gap.clone()],
        ..Content::default()
    };
    let diagnosis = World::closed()
        .content("n", content)
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Unknown));
    assert!(said(&diagnosis).contains("not everything could be read (secrets)"));
    assert!(diagnosis.gaps.contains(&gap));
}

#[test]
fn a_failed_discovery_is_told_where_nobody_knows_which_groups_answer() {
    let message = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: \
                   x.test/v1: stale GroupVersion discovery: x.test/v1";
    let failed = json!([{"type": "NamespaceDeletionDiscoveryFailure", "status": "True", "reason": "DiscoveryFailed",
        "message": message, "lastTransitionTime": "2026-01-01T11:00:05Z"}]);
    let lease = controller_manager_lease("2026-01-01T11:59:58.000000Z");
    let explained = |conditions: &serde_json::Value| {
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        World::closed()
            .content("n", Content::default())
            .without_discovery()
            .object(group, "leases", "kube-system", name, Some(lease.clone()))
            .explain(&namespace(conditions))
    };
    let diagnosis = explained(&failed);
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Waiting));
    let said = said(&diagnosis);
    assert!(
        said.contains(&format!("whether it does now is not known: {message}")),
        "{said}"
    );
    assert_eq!(
        verdict(&explained(&json!([])), "kubernetes"),
        Some(Verdict::Unknown)
    );
}

#[test]
fn a_controller_that_just_wrote_a_condition_is_not_late() {
    let at = |time: &str| json!([{"type": "NamespaceContentRemaining", "status": "False", "message": "", "lastTransitionTime": time}]);
    for (time, expected) in [
        ("2026-01-01T11:59:40Z", Verdict::Waiting),
        ("2026-01-01T11:30:00Z", Verdict::Stalled),
    ] {
        let diagnosis = World::closed()
            .content("n", Content::default())
            .explain(&namespace(&at(time)));
        assert_eq!(verdict(&diagnosis, "kubernetes"), Some(expected), "{time}");
    }
}

#[test]
fn pods_without_confirmation_of_their_kubelet_are_no_failure() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods"}]);
    let diagnosis = World::closed()
        .content("n", content_of_groups(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Waiting));
}

#[test]
fn quotes_a_denial_and_does_not_advise_to_delete_its_webhook() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: admission webhook \"keep.x.test\" denied the request: no"}]);
    let diagnosis = World::closed()
        .content("n", content_of_groups(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Failing));
    assert!(said(&diagnosis).contains("denied the request: no"));
    assert!(
        !commands(&diagnosis).contains("delete"),
        "{}",
        commands(&diagnosis)
    );
}

fn one(created: Option<&str>) -> Content {
    let mut content = content_of_groups(1, 1);
    content.kept[0].created = created.map(|time| time.parse().expect("the time is valid"));
    content
}

#[test]
fn names_objects_created_after_the_deletion() {
    for (created, expected) in [
        (None, false),
        (Some("2026-01-01T11:00:00Z"), false),
        (Some("2026-01-01T11:30:00Z"), true),
    ] {
        let diagnosis = World::closed()
            .content("n", one(created))
            .explain(&namespace(&json!([])));
        let said = said(&diagnosis);
        assert_eq!(
            said.contains("created after the deletion was asked for"),
            expected,
            "{said}"
        );
    }
}

#[test]
fn only_very_many_objects_are_called_slow() {
    for (count, slow) in [(20, false), (70_000, true)] {
        let mut content = Content::default();
        content.counts.insert("as.x.test".into(), count);
        let diagnosis = World::closed()
            .serving("x.test", "as", "A")
            .content("n", content)
            .explain(&namespace(&json!([])));
        assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Waiting));
        assert_eq!(
            said(&diagnosis).contains("slow, not stuck"),
            slow,
            "{}",
            said(&diagnosis)
        );
        let pages = "kubectl delete --raw '/apis/x.test/v1/namespaces/n/as?limit=500' > deleted.json";
        assert_eq!(
            commands(&diagnosis).contains(pages),
            slow,
            "{}",
            commands(&diagnosis)
        );
    }
}

#[test]
fn names_a_controller_without_conditions_unless_the_whole_process_is_stopped() {
    let without = || {
        let mut content = Content::default();
        content.counts.insert("configmaps".into(), 1);
        World::closed().content("n", content)
    };
    let renewed = |time: &str| {
        let lease = controller_manager_lease(time);
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        without()
            .object(group, "leases", "kube-system", name, Some(lease))
            .explain(&namespace(&json!([])))
    };
    let diagnosis = renewed("2026-01-01T11:59:58.000000Z");
    assert!(said(&diagnosis).contains("has not written a single condition"));
    assert!(commands(&diagnosis).contains("--controllers"));
    // Without the Lease, the whole process may be stopped.
    let diagnosis = without().explain(&namespace(&json!([])));
    assert!(!said(&diagnosis).contains("a single condition"));

    let diagnosis = renewed("2026-01-01T11:50:00.000000Z");
    assert_eq!(said(&diagnosis).matches("last renewed 10m ago: ").count(), 1);
    assert!(!said(&diagnosis).contains("a single condition"));
}

#[test]
fn quotes_an_unknown_error_of_a_list_without_a_cause() {
    let content = Content {
        gaps: vec![Gap {
            what: What::TypeIn {
                name: "secrets".into(),
                namespace: "n".into(),
                read: 0,
            },
            why: Why::ServerError("etcdserver: request timed out".into()),
        }],
        ..Content::default()
    };
    let diagnosis = World::closed()
        .content("n", content)
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Unknown));
    assert!(said(&diagnosis).contains("fails to list secrets (etcdserver: request timed out)"));
    assert!(!commands(&diagnosis).contains("ignoreStoreRead"));
}

#[test]
fn an_etcd_key_that_is_no_name_never_reaches_a_command() {
    for key in [
        "/registry/as/n/x; rm -rf ~",
        "/registry/as/n/$(id)",
        "/registry/as/n/cut...",
    ] {
        let message = format!("Failed: unable to transform key \"{key}\": invalid padding on input");
        let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed", "message": message}]);
        let diagnosis = World::closed()
            .with_type("", "as")
            .content("n", Content::default())
            .explain(&namespace(&condition));
        assert_eq!(verdict(&diagnosis, "kubernetes"), Some(Verdict::Failing));
        assert!(
            !commands(&diagnosis).contains("ignoreStoreRead"),
            "{}",
            commands(&diagnosis)
        );
    }
}
