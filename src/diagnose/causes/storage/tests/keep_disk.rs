//! The step that keeps a disk, wherever a deletion may destroy one.

use serde_json::json;

use crate::{
    diagnose::{
        Diagnosis, Safety,
        causes::storage::tests::{PROVISIONER, claim, pod, text, volume},
        testing::world::{World, bare as object},
    },
    snapshot::facts::{Content, Object},
};

/// The first command that changes something.
fn first(diagnosis: &Diagnosis) -> String {
    let mut steps = diagnosis
        .steps
        .iter()
        .filter(|step| step.safety != Safety::ReadOnly);
    let command = steps.find_map(|step| step.command.as_ref());
    command.map(ToString::to_string).unwrap_or_default()
}

fn namespace() -> Object {
    let value = json!({"metadata": {"name": "ns", "deletionTimestamp": "2026-01-01T11:00:00Z"},
        "spec": {"finalizers": ["kubernetes"]}});
    object("", "namespaces", "Namespace", value)
}

fn with_claims(world: World, claims: u64) -> World {
    let mut content = Content::default();
    content.counts.insert("persistentvolumeclaims".into(), claims);
    world.content("ns", content)
}

#[test]
fn keep_disk_is_the_first_step_for_claims_and_volumes_with_policy_delete() {
    let protected = ["kubernetes.io/pvc-protection"];
    for finalizers in [&protected[..], &["x.test/hold"], &[]] {
        for users in [vec![], vec![pod("p", "Running")]] {
            let mut world = World::of([claim(finalizers, true), volume(&[], "Delete", "Bound", false)]);
            world.objects.extend(users);
            let diagnosis = world.explain_first();
            assert_eq!(
                first(&diagnosis),
                "kubectl finalizers rescue pvc/data -n ns --only-retain",
                "{diagnosis:?}"
            );
        }
    }
    for phase in ["Bound", "Released", "Available", "Failed"] {
        for finalizers in [
            &["kubernetes.io/pv-protection", PROVISIONER][..],
            &["x.test/hold"],
            &[],
        ] {
            let world = World::of([volume(finalizers, "Delete", phase, true), claim(&[], true)]);
            let diagnosis = world.explain_first();
            assert_eq!(
                first(&diagnosis),
                "kubectl finalizers rescue pv/pv --only-retain",
                "{diagnosis:?}"
            );
        }
    }
}

#[test]
fn keep_disk_is_not_advised_without_a_deletion_or_with_policy_retain() {
    for world in [
        World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            volume(&[], "Retain", "Bound", false),
        ]),
        World::of([volume(&[PROVISIONER], "Retain", "Released", true)]),
        World::of([claim(&["kubernetes.io/pvc-protection"], true)]),
        with_claims(
            World::of([
                namespace(),
                claim(&[], false),
                volume(&[], "Retain", "Bound", false),
            ]),
            1,
        ),
        World::of([
            namespace(),
            claim(&[], false),
            volume(&[], "Delete", "Bound", false),
        ]),
    ] {
        let diagnosis = world.explain_first();
        assert!(!text(&diagnosis).contains("--only-retain"), "{diagnosis:?}");
    }
}

#[test]
fn a_namespace_in_deletion_names_the_volumes_of_its_claims() {
    let objects = || {
        [
            namespace(),
            claim(&[], true),
            volume(&[], "Delete", "Bound", false),
        ]
    };
    let diagnosis = with_claims(World::of(objects()), 1).explain_first();
    assert_eq!(first(&diagnosis), "kubectl finalizers rescue pv/pv --only-retain");
    assert!(
        text(&diagnosis).contains("1 disk IS DESTROYED (reclaim policy Delete): pv/pv"),
        "{diagnosis:?}"
    );
    for hidden in ["persistentvolumes", "persistentvolumeclaims"] {
        let diagnosis = with_claims(World::of(objects()), 1)
            .hiding(hidden)
            .explain_first();
        assert!(
            text(&diagnosis).contains("what becomes of their disks is not known"),
            "{diagnosis:?}"
        );
    }
}

#[test]
fn keep_disk_is_the_first_step_for_the_owner_of_claims() {
    let owner = |group: &str, plural: &str, kind: &str, finalizer: &str| {
        let value = json!({"metadata": {"name": "db", "namespace": "ns", "uid": "owner", "finalizers": [finalizer],
            "deletionTimestamp": "2026-01-01T11:00:00Z"}});
        object(group, plural, kind, value)
    };
    let set = |finalizer| owner("apps", "statefulsets", "StatefulSet", finalizer);
    let dataset = owner(
        "datashim.io",
        "datasetinternals",
        "DatasetInternal",
        "dataset-finalizer",
    );
    let other = owner("x.test", "widgets", "Widget", "x.test/hold");
    let keeps = "kubectl finalizers rescue pv/pv --only-retain";
    for (owner, uid, policy, expected) in [
        (set("foregroundDeletion"), "owner", "Delete", true),
        (dataset.clone(), "owner", "Delete", true),
        (dataset, "another", "Delete", false),
        (set("foregroundDeletion"), "owner", "Retain", false),
        (set("orphan"), "owner", "Delete", false),
        (other, "owner", "Delete", false),
    ] {
        let mut its = claim(&[], false);
        its.value["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "x.test/v1", "kind": "Db", "name": "db", "uid": uid}]);
        let world = World::of([owner.clone(), its, volume(&[], policy, "Bound", false)]);
        let diagnosis = world.explain_first();
        assert_eq!(
            first(&diagnosis) == keeps,
            expected,
            "{}: {diagnosis:?}",
            owner.kind
        );
        assert_eq!(text(&diagnosis).contains("1 disk IS DESTROYED"), expected);
    }
    let unread = World::of([set("foregroundDeletion")]).hiding("persistentvolumeclaims");
    assert!(text(&unread.explain_first()).contains("what becomes of their disks is not known"));
}
