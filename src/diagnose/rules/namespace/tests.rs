use serde_json::json;

use super::super::sample::{World, commands, object, said, verdict};
use super::*;
use crate::{
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
                    timestamp: super::super::sample::NOW.parse().expect("a time"),
                    grace_seconds: 0,
                }),
                finalizers: vec![Finalizer {
                    list: List::Metadata,
                    name: format!("x.test/{group}"),
                }],
                conditions: Vec::new(),
            });
        }
    }
    content.counts.insert("as.x.test".into(), (groups * each) as u64);
    content
}

#[test]
fn many_objects_are_summed_up() {
    let told = World::new()
        .content("n", full(12, 100))
        .explain(&namespace(&json!([])));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
    assert_eq!(told.waits[0].on.len(), SHOWN + 1);
    let said = said(&told);
    assert!(said.contains("(and 99 more like it)"), "{said}");
    assert!(said.contains("and 400 more objects in 4 more groups"), "{said}");
    assert_eq!(commands(&told).lines().count(), SHOWN);
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
    let told = World::new().content("n", content).explain(&namespace(&json!([])));
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
        let told = World::new()
            .content("n", Content::default())
            .explain(&namespace(&at(time)));
        assert_eq!(verdict(&told, "kubernetes"), Some(expected), "{time}");
    }
}

#[test]
fn pods_that_their_kubelet_has_not_confirmed_are_no_failure() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods"}]);
    let told = World::new()
        .content("n", full(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
}

#[test]
fn a_denial_is_quoted_and_its_webhook_is_left_alone() {
    let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
        "message": "Failed to delete all resource types, 1 remaining: admission webhook \"keep.x.test\" denied the request: no"}]);
    let told = World::new()
        .content("n", full(1, 1))
        .explain(&namespace(&condition));
    assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Failing));
    assert!(said(&told).contains("denied the request: no"));
    assert!(!commands(&told).contains("delete"), "{}", commands(&told));
}
