//! Tests of the plan that keeps a disk, in every phase of a volume.

use serde_json::{Value, json};

use super::retain;
use crate::{
    diagnose::testing::world::bare,
    knowledge::Consequence,
    plan::{Claim, Plan, digest},
    snapshot::facts::Object,
};

const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

fn volume(phase: &str, deleted: bool) -> Object {
    let mut value = json!({
        "metadata": {"name": "pv", "uid": "u1", "resourceVersion": "7",
            "annotations": {"pv.kubernetes.io/provisioned-by": "d.example.com"},
            "finalizers": ["kubernetes.io/pv-protection", PROVISIONER]},
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "u2"},
            "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"}},
        "status": {"phase": phase},
    });
    if deleted {
        value["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:00Z".into();
    }
    bare("", "persistentvolumes", "PersistentVolume", value)
}

fn with(phase: &str, deleted: bool, change: impl Fn(&mut Value)) -> Plan {
    let mut volume = volume(phase, deleted);
    change(&mut volume.value);
    retain(&volume, Claim::None)
}

fn planned(phase: &str, deleted: bool) -> Plan {
    with(phase, deleted, |_| ())
}

fn claim(deleted: bool) -> Claim {
    let mut value = json!({"metadata": {"name": "data", "namespace": "ns", "uid": "u2"}});
    if deleted {
        value["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:00Z".into();
    }
    let claim = bare("", "persistentvolumeclaims", "PersistentVolumeClaim", value);
    Claim::Found(claim.into())
}

fn digest_of(plan: &Plan) -> String {
    digest(std::slice::from_ref(plan), "server")
}

/// What the plan says, as one text.
fn said(plan: &Plan) -> String {
    let retention = plan.retention.as_ref().expect("it keeps a disk");
    [&retention.now[..], &retention.then[..]].concat().join(" ")
}

#[test]
fn the_request_sets_one_field_of_the_volume_that_was_shown() {
    let plan = planned("Bound", false);
    assert_eq!(plan.request.method, "PATCH");
    assert_eq!(plan.request.path, "/api/v1/persistentvolumes/pv");
    let policy = "/spec/persistentVolumeReclaimPolicy";
    assert_eq!(
        plan.request.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u1"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": policy, "value": "Delete"},
            {"op": "replace", "path": policy, "value": "Retain"},
        ])
    );
    assert_eq!(plan.action.word(), "rescue");
}

#[test]
fn only_a_bound_volume_that_is_not_being_deleted_can_be_set_back() {
    for phase in ["Bound", "Released", "Available", "Failed", ""] {
        for deleted in [false, true] {
            let said = said(&planned(phase, deleted));
            let back = said.contains("You can set the policy back to Delete");
            assert_eq!(back, phase == "Bound" && !deleted, "{phase}: {said}");
            assert_eq!(said.contains("This cannot be undone"), deleted, "{phase}: {said}");
        }
    }
}

#[test]
fn a_released_volume_may_have_lost_its_disk_and_may_go_with_the_change() {
    for (phase, maybe_gone) in [
        ("Bound", false),
        ("Available", false),
        ("Released", true),
        ("Failed", true),
    ] {
        for deleted in [false, true] {
            let plan = planned(phase, deleted);
            let said = said(&plan);
            assert_eq!(
                said.contains("The disk may already be gone"),
                maybe_gone,
                "{said}"
            );
            let goes = deleted && phase != "Bound";
            assert_eq!(
                said.contains("The volume object goes with this change"),
                goes,
                "{said}"
            );
            let costs = plan.cost.consequence == Consequence::Metadata;
            assert_eq!(costs, goes, "{phase} {deleted}: {:?}", plan.cost);
            assert!(!plan.cost.must_be_accepted());
        }
    }
    let attached = with("Released", true, |value| {
        value["metadata"]["finalizers"] = json!([PROVISIONER, "external-attacher/d-example-com"]);
    });
    let said = said(&attached);
    assert!(
        said.contains("stays until these finalizers are removed: external-attacher/d-example-com."),
        "{said}"
    );
}

#[test]
fn names_who_deletes_the_disk_and_what_names_it() {
    let handle = planned("Released", false);
    assert!(said(&handle).contains("the provisioner of d.example.com deletes it"));
    assert_eq!(handle.cost.outside[0].id, "disk-1");
    let local = with("Released", false, |value| {
        value["metadata"]["annotations"] = Value::Null;
        value["spec"]["csi"] = Value::Null;
        value["spec"]["local"] = json!({"path": "/mnt/a"});
        value["spec"]["nodeAffinity"] = json!({"required": {}});
    });
    assert_eq!(local.cost.outside[0].field, "spec.local");
    assert!(said(&local).contains("its provisioner deletes it"));
    let in_tree = with("Released", false, |value| {
        value["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] =
            "kubernetes.io/host-path".into();
    });
    assert!(said(&in_tree).contains("kube-controller-manager deletes it"));
}

#[test]
fn says_what_is_known_of_the_claim() {
    for (claim, told) in [
        (
            claim(false),
            "Claim pvc/data -n ns exists and is not being deleted.",
        ),
        (claim(true), "Claim pvc/data -n ns is being deleted, too."),
        (Claim::Gone, "does not exist any more, so there is no copy of it."),
        (
            Claim::Unread("forbidden".into()),
            "could not be read, so there is no copy of it: forbidden",
        ),
    ] {
        let said = said(&retain(&volume("Bound", false), claim));
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn a_plan_means_another_thing_once_the_volume_is_released_or_deleted() {
    let confirmed = planned("Bound", false);
    let newer = with("Bound", false, |value| {
        value["metadata"]["resourceVersion"] = "8".into();
    });
    assert_eq!(confirmed.worse(&newer), [""; 0]);
    assert_ne!(digest_of(&confirmed), digest_of(&newer));
    for changed in [planned("Released", false), planned("Bound", true)] {
        assert_ne!(confirmed.worse(&changed), [""; 0]);
        assert_ne!(digest_of(&confirmed), digest_of(&changed));
    }
}

/// The state of the claim is not in the version of the volume.
#[test]
fn a_claim_that_is_deleted_meanwhile_changes_plan_and_digest() {
    let plan = |deleted| retain(&volume("Bound", false), claim(deleted));
    let (confirmed, now) = (plan(false), plan(true));
    assert_eq!(
        confirmed.worse(&now),
        ["this is true now: Claim pvc/data -n ns is being deleted, too"]
    );
    assert_ne!(digest_of(&confirmed), digest_of(&now));
}
