use serde_json::json;

use super::*;
use crate::{
    diagnose::testing::{
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

fn full(groups: usize, each: usize) -> Content {
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
                    timestamp: world::NOW.parse().expect("a time"),
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
fn many_objects_are_summed_up() {
    let told = World::closed()
        .content("n", full(12, 100))
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
    assert_eq!(told.waits[0].on.len(), limits::CONTENT_GROUPS + 1);
    let said = said(&told);
    assert!(said.contains("(and 99 more like it)"), "{said}");
    assert!(said.contains("and 400 more objects in 4 more groups"), "{said}");
    assert_eq!(commands(&told).lines().count(), limits::CONTENT_GROUPS);
}

#[test]
fn nothing_found_is_not_nothing_left() {
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
    let told = World::closed()
        .content("n", content)
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Unknown));
    assert!(said(&told).contains("not everything could be read (secrets)"));
    assert!(told.gaps.contains(&gap));
}

#[test]
fn a_controller_that_was_just_at_work_is_not_late() {
    let at = |time: &str| json!([{"type": "NamespaceContentRemaining", "status": "False", "message": "", "lastTransitionTime": time}]);
    for (time, expected) in [
        ("2026-01-01T11:59:40Z", Verdict::Waiting),
        ("2026-01-01T11:30:00Z", Verdict::Stalled),
    ] {
        let told = World::closed()
            .content("n", Content::default())
            .explain(&namespace(&at(time)));
        assert_eq!(verdict(&told, "kubernetes"), Some(expected), "{time}");
    }
}

#[test]
fn pods_that_their_kubelet_has_not_confirmed_are_no_failure() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods"}]);
    let told = World::closed()
        .content("n", full(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
}

#[test]
fn a_denial_is_quoted_and_its_webhook_is_left_alone() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: admission webhook \"keep.x.test\" denied the request: no"}]);
    let told = World::closed()
        .content("n", full(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Failing));
    assert!(said(&told).contains("denied the request: no"));
    assert!(!commands(&told).contains("delete"), "{}", commands(&told));
}

fn one(created: Option<&str>) -> Content {
    let mut content = full(1, 1);
    content.kept[0].created = created.map(|time| time.parse().expect("a time"));
    content
}

#[test]
fn what_was_created_after_the_deletion_is_made_by_somebody() {
    for (created, expected) in [
        (None, false),
        (Some("2026-01-01T11:00:00Z"), false),
        (Some("2026-01-01T11:30:00Z"), true),
    ] {
        let told = World::closed()
            .content("n", one(created))
            .explain(&namespace(&json!([])));
        let said = said(&told);
        assert_eq!(
            said.contains("created after the deletion was asked for"),
            expected,
            "{said}"
        );
    }
}

#[test]
fn very_many_objects_are_slow_and_few_are_not_called_so() {
    for (count, slow) in [(20, false), (70_000, true)] {
        let mut content = Content::default();
        content.counts.insert("as.x.test".into(), count);
        let told = World::closed()
            .serving("x.test", "as", "A")
            .content("n", content)
            .explain(&namespace(&json!([])));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
        assert_eq!(said(&told).contains("slow, not stuck"), slow, "{}", said(&told));
        let pages =
            "seq 140); do kubectl delete --raw '/apis/x.test/v1/namespaces/n/as?limit=500' > /dev/null; done";
        assert_eq!(commands(&told).contains(pages), slow, "{}", commands(&told));
    }
}

#[test]
fn a_controller_that_never_reported_is_said_so_unless_the_whole_process_is_silent() {
    let without = || {
        let mut content = Content::default();
        content.counts.insert("configmaps".into(), 1);
        World::closed().content("n", content)
    };
    let renewed = |time: &str| {
        let lease = object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": "kube-controller-manager", "namespace": "kube-system"},
                "spec": {"renewTime": time, "leaseDurationSeconds": 15}}),
        );
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        without()
            .object(group, "leases", "kube-system", name, Some(lease))
            .explain(&namespace(&json!([])))
    };
    let told = renewed("2026-01-01T11:59:58.000000Z");
    assert!(said(&told).contains("has not written a single condition"));
    assert!(commands(&told).contains("--controllers"));
    // Where that cannot be seen, it may be the whole process.
    let told = without().explain(&namespace(&json!([])));
    assert!(!said(&told).contains("a single condition"));

    let told = renewed("2026-01-01T11:50:00.000000Z");
    assert_eq!(said(&told).matches("last renewed 10m ago: ").count(), 1);
    assert!(!said(&told).contains("a single condition"));
}

#[test]
fn a_list_that_fails_for_a_reason_of_its_own_is_quoted_and_no_cause_is_made_up() {
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
    let told = World::closed()
        .content("n", content)
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Unknown));
    assert!(said(&told).contains("fails to list secrets (etcdserver: request timed out)"));
    assert!(!commands(&told).contains("ignoreStoreRead"));
}

#[test]
fn a_key_of_etcd_that_is_no_name_never_reaches_a_command() {
    for key in [
        "/registry/as/n/x; rm -rf ~",
        "/registry/as/n/$(id)",
        "/registry/as/n/cut...",
    ] {
        let message = format!("Failed: unable to transform key \"{key}\": invalid padding on input");
        let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed", "message": message}]);
        let told = World::closed()
            .with_type("", "as")
            .content("n", Content::default())
            .explain(&namespace(&condition));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Failing));
        assert!(
            !commands(&told).contains("ignoreStoreRead"),
            "{}",
            commands(&told)
        );
    }
}
