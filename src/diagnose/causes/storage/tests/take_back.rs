//! The step that takes a deletion back.

use serde_json::json;

use crate::{
    diagnose::{
        Diagnosis, Safety, Step,
        causes::storage::tests::{claim, volume},
        model::When,
        testing::world::{World, bare as object},
    },
    snapshot::facts::Object,
};

/// The commands of `rescue` that take the deletion back, and their labels.
fn offered(diagnosis: &Diagnosis) -> Vec<(String, Safety)> {
    let rescues = diagnosis.steps.iter().filter_map(|step| {
        let command = step.command.as_ref()?.to_string();
        let takes_back = command.contains("finalizers rescue") && !command.contains("--only-retain");
        takes_back.then_some((command, step.safety))
    });
    rescues.collect()
}

fn owned(mut object: Object) -> Object {
    object.value["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "x.test/v1", "kind": "Db", "name": "db", "uid": "uid-db"}]);
    object
}

fn resized(mut claim: Object) -> Object {
    claim.value["status"]["conditions"] = json!([{"type": "Resizing", "status": "True"}]);
    claim
}

fn for_another(mut volume: Object) -> Object {
    volume.value["spec"]["claimRef"]["uid"] = "uid-former".into();
    volume
}

#[test]
fn a_volume_is_made_again_whatever_its_policy_is() {
    for policy in ["Delete", "Retain"] {
        let world = World::of([
            volume(&["kubernetes.io/pv-protection"], policy, "Bound", true),
            claim(&[], false),
        ]);
        let expected = ("kubectl finalizers rescue pv/pv".to_owned(), Safety::Reversible);
        assert_eq!(offered(&world.explain_first()), [expected], "{policy}");
    }
}

#[test]
fn a_claim_is_made_again_whatever_the_policy_of_its_volume_is() {
    for policy in ["Delete", "Retain"] {
        let world = World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            volume(&["kubernetes.io/pv-protection"], policy, "Bound", false),
        ]);
        let told = world.explain_first();
        let expected = (
            "kubectl finalizers rescue pvc/data -n ns".to_owned(),
            Safety::Reversible,
        );
        assert_eq!(offered(&told), [expected], "{policy}: {told:#?}");
    }
}

#[test]
fn of_a_volume_and_its_claim_in_deletion_the_volume_comes_first() {
    let deleted = || {
        (
            volume(&["kubernetes.io/pv-protection"], "Delete", "Bound", true),
            claim(&["kubernetes.io/pvc-protection"], true),
        )
    };
    for (first, command, says) in [
        (0, "kubectl finalizers rescue pv/pv", "Its claim still goes"),
        (
            1,
            "kubectl finalizers rescue pvc/data -n ns",
            "Then run it again for the claim",
        ),
    ] {
        let (volume, claim) = deleted();
        let objects = if first == 0 {
            [volume, claim]
        } else {
            [claim, volume]
        };
        let told = World::of(objects).explain_first();
        assert_eq!(offered(&told), [(command.to_owned(), Safety::Reversible)]);
        assert!(
            told.steps.iter().any(|step| step.text.contains(says)),
            "{told:#?}"
        );
    }
    // The volume is not made again, so the claim cannot follow it.
    let (volume, claim) = deleted();
    let told = World::of([claim, owned(volume)]).explain_first();
    let etcd = "kubectl finalizers rescue persistentvolumeclaims/data -n ns --print-etcd-commands";
    assert_eq!(offered(&told), [(etcd.to_owned(), Safety::ReadOnly)]);
}

#[test]
fn what_rescue_refuses_can_only_be_taken_back_in_etcd() {
    let etcd = |target: &str| {
        let command = format!("kubectl finalizers rescue {target} --print-etcd-commands");
        [(command, Safety::ReadOnly)]
    };
    for volume in [
        owned(volume(&["kubernetes.io/pv-protection"], "Delete", "Bound", true)),
        volume(
            &["kubernetes.io/pv-protection", "x.test/hold"],
            "Delete",
            "Bound",
            true,
        ),
    ] {
        let world = World::of([volume, claim(&[], false)]);
        assert_eq!(offered(&world.explain_first()), etcd("persistentvolumes/pv"));
    }
    let protected = || claim(&["kubernetes.io/pvc-protection"], true);
    for claim in [owned(protected()), resized(protected())] {
        let world = World::of([claim, volume(&[], "Delete", "Bound", false)]);
        assert_eq!(
            offered(&world.explain_first()),
            etcd("persistentvolumeclaims/data -n ns")
        );
    }
    let set = json!({"metadata": {"name": "db", "namespace": "ns", "uid": "uid-db", "finalizers": ["foregroundDeletion"],
        "deletionTimestamp": "2026-01-01T11:00:00Z"}});
    let world = World::of([
        object("apps", "statefulsets", "StatefulSet", set),
        owned(claim(&[], false)),
        volume(&[], "Delete", "Bound", false),
    ]);
    assert_eq!(
        offered(&world.explain_first()),
        etcd("statefulsets.apps/db -n ns")
    );
}

#[test]
fn nothing_is_offered_where_it_would_be_refused() {
    let place = json!({"metadata": {"name": "ns", "deletionTimestamp": "2026-01-01T11:00:00Z"}});
    for world in [
        World::of([volume(
            &["kubernetes.io/pv-protection"],
            "Delete",
            "Released",
            true,
        )]),
        // The volume is for another claim of that name.
        World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            for_another(volume(&[], "Delete", "Bound", false)),
        ]),
        World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            volume(&[], "Delete", "Bound", false),
            object("", "namespaces", "Namespace", place),
        ]),
        World::of([
            claim(&["kubernetes.io/pvc-protection"], false),
            volume(&[], "Delete", "Bound", false),
        ]),
    ] {
        let diagnosis = world.explain_first();
        assert_eq!(offered(&diagnosis), [], "{diagnosis:?}");
    }
}

#[test]
fn etcd_is_not_offered_for_what_takes_no_disk_along() {
    let range = json!({"metadata": {"name": "extra", "uid": "uid-it", "deletionTimestamp": "2026-01-01T11:00:00Z",
        "finalizers": ["networking.k8s.io/service-cidr-finalizer"]}, "spec": {"cidrs": ["10.0.0.0/24"]}});
    let by_allocator = json!({"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"});
    let address = json!({"metadata": {"name": "10.0.0.7", "labels": by_allocator},
        "spec": {"parentRef": {"resource": "services", "namespace": "ns", "name": "web"}}});
    let diagnosis = World::of([
        object("networking.k8s.io", "servicecidrs", "ServiceCIDR", range),
        object("networking.k8s.io", "ipaddresses", "IPAddress", address),
    ])
    .explain_first();
    let mistake = |step: &Step| step.when == When::Mistake;
    assert!(diagnosis.steps.iter().any(mistake), "{diagnosis:#?}");
    assert_eq!(offered(&diagnosis), [], "{diagnosis:#?}");
}
