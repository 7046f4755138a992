//! Tests of a rescue in every state in which it can find volume and claim.

use serde_json::{Value, json};

use super::{Next, Rescue};
use crate::{
    diagnose::testing::world::bare,
    knowledge::Knowledge,
    plan::{Claim, Plan, Request},
    snapshot::facts::Object,
};

const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";
const ATTACHER: &str = "external-attacher/d-example-com";

type Change<'a> = &'a dyn Fn(&mut Value);

fn volume(change: impl Fn(&mut Value)) -> Object {
    let mut value = json!({
        "metadata": {"name": "pv", "uid": "u1", "resourceVersion": "7", "deletionTimestamp": "2026-01-01T11:00:00Z",
            "creationTimestamp": "2025-01-01T11:00:00Z", "labels": {"team": "data"},
            "annotations": {"pv.kubernetes.io/provisioned-by": "d.example.com"},
            "finalizers": ["kubernetes.io/pv-protection", PROVISIONER, ATTACHER]},
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "u2", "resourceVersion": "3"},
            "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"}},
        "status": {"phase": "Bound"},
    });
    change(&mut value);
    bare("", "persistentvolumes", "PersistentVolume", value)
}

fn claim(change: impl Fn(&mut Value)) -> Object {
    let mut value = json!({
        "metadata": {"name": "data", "namespace": "ns", "uid": "u2"},
        "spec": {"volumeName": "pv"}, "status": {"phase": "Bound"},
    });
    change(&mut value);
    bare("", "persistentvolumeclaims", "PersistentVolumeClaim", value)
}

fn unchanged(_: &mut Value) {}

fn retained(value: &mut Value) {
    value["spec"]["persistentVolumeReclaimPolicy"] = "Retain".into();
}

/// The volume that a rescue made.
fn made(change: impl Fn(&mut Value)) -> Object {
    volume(|value| {
        retained(value);
        value["metadata"]["uid"] = "u3".into();
        value["metadata"]["resourceVersion"] = "9".into();
        value["metadata"]["deletionTimestamp"] = Value::Null;
        value["metadata"]["finalizers"] = json!([ATTACHER, "kubernetes.io/pv-protection"]);
        value["spec"]["claimRef"]["resourceVersion"] = "8".into();
        change(value);
    })
}

fn found(claim: Object) -> Claim {
    Claim::Found(claim.into())
}

fn rescue(restore_policy: bool) -> Rescue {
    Rescue::new(&volume(unchanged), found(claim(unchanged)), restore_policy).expect("it can be rescued")
}

fn planned(rescue: &Rescue) -> Plan {
    rescue.plan(&Ok(Vec::new()), &Knowledge::builtin())
}

/// What the plan says, as one text.
fn said(plan: &Plan) -> String {
    let retention = plan.retention.as_ref().expect("it keeps a disk");
    [&retention.now[..], &retention.then[..]].concat().join(" ")
}

#[track_caller]
pub(super) fn sent(next: Next) -> Request {
    match next {
        Next::Send(_, request) => request,
        other => panic!("nothing is sent: {other:?}"),
    }
}

#[test]
fn the_steps_follow_from_the_present_state() {
    let mut rescue = rescue(false);
    let bound = claim(unchanged);
    let first = sent(rescue.next(Some(&volume(unchanged)), Some(&bound)));
    assert_eq!(
        first.body[3],
        json!({"op": "replace", "path": "/spec/persistentVolumeReclaimPolicy", "value": "Retain"})
    );
    let second = sent(rescue.next(Some(&volume(retained)), Some(&bound)));
    assert_eq!(
        second.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u1"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/spec/persistentVolumeReclaimPolicy", "value": "Retain"},
            {"op": "test", "path": "/metadata/finalizers", "value": ["kubernetes.io/pv-protection", PROVISIONER, ATTACHER]},
            {"op": "remove", "path": "/metadata/finalizers"},
        ])
    );
    let third = sent(rescue.next(None, Some(&bound)));
    assert_eq!(
        (third.method, &*third.path),
        ("POST", "/api/v1/persistentvolumes")
    );
    let lost = claim(|value| value["status"]["phase"] = "Lost".into());
    let wait = rescue.next(Some(&made(unchanged)), Some(&lost));
    assert!(matches!(wait, Next::Wait(_)), "{wait:?}");
    assert_eq!(
        rescue.next(Some(&made(unchanged)), Some(&bound)),
        Next::Done(Vec::new())
    );
}

#[test]
fn the_new_volume_is_the_old_one_without_what_the_server_fills_in() {
    let creation = planned(&rescue(false)).request;
    assert_eq!(
        creation.body,
        json!({"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "pv", "labels": {"team": "data"}, "finalizers": [ATTACHER],
                "annotations": {"pv.kubernetes.io/provisioned-by": "d.example.com"}},
            "spec": {"persistentVolumeReclaimPolicy": "Retain", "capacity": {"storage": "1Gi"},
                "claimRef": {"namespace": "ns", "name": "data", "uid": "u2", "resourceVersion": "3"},
                "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"}}})
    );
    let detached = volume(|value| value["metadata"]["finalizers"] = json!(["kubernetes.io/pv-protection"]));
    let rescue = Rescue::new(&detached, found(claim(unchanged)), false).expect("it can be rescued");
    assert!(planned(&rescue).request.body["metadata"]["finalizers"].is_null());
}

#[test]
fn a_volume_that_went_before_it_was_seen_with_retain_is_not_made_again() {
    let mut rescue = rescue(false);
    let bound = claim(unchanged);
    assert!(matches!(rescue.next(None, Some(&bound)), Next::Stop(_)));
    rescue.next(Some(&volume(unchanged)), Some(&bound));
    assert!(
        matches!(rescue.next(None, Some(&bound)), Next::Stop(_)),
        "it was Delete"
    );
    rescue.next(Some(&volume(retained)), Some(&bound));
    sent(rescue.next(None, Some(&bound)));
    // Somebody set it back.
    rescue.next(Some(&volume(unchanged)), Some(&bound));
    assert!(matches!(rescue.next(None, Some(&bound)), Next::Stop(_)));
}

#[test]
fn a_volume_that_is_not_the_one_that_was_made_stops_it() {
    let bound = claim(unchanged);
    let cases: [(&str, Change<'_>); 3] = [
        ("another volume", &|value| {
            value["spec"]["csi"]["volumeHandle"] = "disk-2".into();
        }),
        ("another volume", &|value| {
            value["spec"]["claimRef"]["uid"] = "u9".into();
        }),
        ("is being deleted, too", &|value| {
            value["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:09Z".into();
        }),
    ];
    for (told, change) in cases {
        match rescue(true).next(Some(&made(change)), Some(&bound)) {
            Next::Stop(why) => assert!(why.contains(told), "{why}"),
            other => panic!("{told}: {other:?}"),
        }
    }
    let held = volume(|value| {
        retained(value);
        value["metadata"]["finalizers"] = json!(["example.com/hold"]);
    });
    assert!(matches!(
        rescue(false).next(Some(&held), Some(&bound)),
        Next::Stop(_)
    ));
}

#[test]
fn the_old_policy_comes_back_only_for_a_claim_that_stays() {
    let bound = claim(unchanged);
    let back = sent(rescue(true).next(Some(&made(unchanged)), Some(&bound)));
    assert_eq!(back.body[0]["value"], "u3");
    assert_eq!(back.body[3]["value"], "Delete");
    let restored = made(|value| value["spec"]["persistentVolumeReclaimPolicy"] = "Delete".into());
    assert_eq!(
        rescue(true).next(Some(&restored), Some(&bound)),
        Next::Done(Vec::new())
    );
    let going = claim(|value| value["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:00Z".into());
    let Next::Done(differences) = rescue(true).next(Some(&made(unchanged)), Some(&going)) else {
        panic!("it is done");
    };
    assert_eq!(
        differences,
        ["the policy stays Retain, because the claim is being deleted"]
    );
    let refused = Rescue::new(&volume(unchanged), found(going), true);
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn each_field_that_differs_is_named() {
    let changed = made(|value| {
        value["metadata"]["labels"]["team"] = "web".into();
        value["metadata"]["annotations"]["new"] = "x".into();
        value["metadata"]["finalizers"] = json!(["kubernetes.io/pv-protection"]);
        value["spec"]["capacity"]["storage"] = "2Gi".into();
    });
    let relabelled = claim(|value| value["metadata"]["labels"] = json!({"a": "b"}));
    let Next::Done(differences) = rescue(false).next(Some(&changed), Some(&relabelled)) else {
        panic!("it is done");
    };
    for told in [
        "/metadata/labels/team was \"data\" and is \"web\"",
        "/metadata/annotations/new was null and is \"x\"",
        "/metadata/finalizers was",
        "/spec/capacity/storage was \"1Gi\" and is \"2Gi\"",
        "claim: /metadata/labels was null and is {\"a\":\"b\"}",
    ] {
        assert!(
            differences.iter().any(|one| one.starts_with(told)),
            "{told}: {differences:#?}"
        );
    }
    assert_eq!(differences.len(), 5, "{differences:#?}");

    let other = claim(|value| value["metadata"]["uid"] = "u9".into());
    for gone in [None, Some(&other)] {
        let done = rescue(false).next(Some(&made(unchanged)), gone);
        assert_eq!(
            done,
            Next::Done(vec!["the claim is gone; the volume keeps the disk".into()])
        );
    }
}

#[test]
fn what_cannot_be_taken_back_is_refused() {
    let refused: [(&str, Change<'_>, Claim); 8] = [
        (
            "neither it nor its claim is being deleted",
            &|it| it["metadata"]["deletionTimestamp"] = Value::Null,
            found(claim(unchanged)),
        ),
        ("its claim is gone", &unchanged, Claim::Gone),
        ("could not be read", &unchanged, Claim::Unread("forbidden".into())),
        (
            "it is Released and not Bound",
            &|it| it["status"]["phase"] = "Released".into(),
            found(claim(unchanged)),
        ),
        (
            "it is Available and not Bound",
            &|it| it["status"]["phase"] = "Available".into(),
            Claim::None,
        ),
        (
            "does not name it",
            &unchanged,
            found(claim(|it| it["spec"]["volumeName"] = "other".into())),
        ),
        (
            "its owner, Cluster prod, may delete it again",
            &|it| it["metadata"]["ownerReferences"] = json!([{"kind": "Cluster", "name": "prod"}]),
            found(claim(unchanged)),
        ),
        (
            "example.com/hold also holds it",
            &|it| it["metadata"]["finalizers"] = json!(["example.com/hold"]),
            found(claim(unchanged)),
        ),
    ];
    for (told, change, claim) in refused {
        let refusal = Rescue::new(&volume(change), claim, false).expect_err(told);
        assert!(refusal.why.contains(told), "{told}: {}", refusal.why);
        assert!(refusal.instead.command.is_some(), "{told}");
    }
}

#[test]
fn who_may_delete_it_again_is_named() {
    for (change, told) in [
        (json!({"labels": {"argocd.argoproj.io/instance": "a"}}), "Argo CD"),
        (
            json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "a"}}),
            "Flux",
        ),
        (json!({"annotations": {"meta.helm.sh/release-name": "a"}}), "Helm"),
        (json!({"managedFields": [{"manager": "Terraform"}]}), "Terraform"),
    ] {
        let marked = volume(|value| {
            for (key, marks) in change.as_object().expect("metadata is an object") {
                value["metadata"][key] = marks.clone();
            }
        });
        let rescue = Rescue::new(&marked, found(claim(unchanged)), false).expect("it can be rescued");
        let said = said(&planned(&rescue));
        let sentence = format!("The volume may be deleted again by {told}: stop that first.");
        assert!(said.contains(&sentence), "{said}");
    }
    let owned = claim(|value| {
        value["metadata"]["ownerReferences"] = json!([{"kind": "StatefulSet", "name": "web"}]);
    });
    let rescue = Rescue::new(&volume(unchanged), found(owned), false).expect("it can be rescued");
    let said = said(&planned(&rescue));
    assert!(
        said.contains("The claim may be deleted again by its owner, StatefulSet web"),
        "{said}"
    );
    assert!(!said.contains("The volume may be deleted again"), "{said}");
}

#[test]
fn a_rescue_that_goes_on_says_where_it_is() {
    let knowledge = Knowledge::builtin();
    let bound = claim(unchanged);
    let mut rescue = rescue(false);
    for (volume, told) in [
        (Some(volume(unchanged)), "still being deleted, with policy Delete"),
        (Some(volume(retained)), "still being deleted, with policy Retain"),
        (
            None,
            "The volume object is gone. Its policy was Retain, so its disk disk-1 stays",
        ),
        (Some(made(unchanged)), "The volume exists again. It is Bound"),
    ] {
        let plan = rescue
            .resumed(volume.as_ref(), Some(&bound), &knowledge)
            .expect("it goes on");
        assert!(said(&plan).contains(told), "{told}: {}", said(&plan));
        // A trial is for what can still follow, and under another name while the volume may exist.
        let trials = rescue.trials(volume.as_ref());
        let names = trials
            .iter()
            .filter(|one| one.method == "POST")
            .map(|one| &one.body["metadata"]["name"]);
        assert!(names.clone().all(|name| name == "rescue-u1"), "{trials:#?}");
        assert_eq!(
            names.count(),
            usize::from(!told.contains("exists again")),
            "{trials:#?}"
        );
    }
    let other = made(|value| value["spec"]["csi"]["volumeHandle"] = "disk-2".into());
    assert!(rescue.resumed(Some(&other), Some(&bound), &knowledge).is_err());
}

/// It owns the claim only while its policy says so and its Pods run.
#[test]
fn a_stateful_set_that_deletes_claims_is_named_although_it_owns_none() {
    let set = |name: &str, when_scaled: &str| {
        let value = json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")}, "spec": {
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": when_scaled},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
        bare("apps", "statefulsets", "StatefulSet", value)
    };
    let its = || claim(|value| value["metadata"]["name"] = "data-db-0".into());
    let of_its = || volume(|value| value["spec"]["claimRef"]["name"] = "data-db-0".into());
    let said_with = |sets: Result<Vec<Object>, String>| {
        let mut rescue = Rescue::new(&of_its(), found(its()), false).expect("it can be rescued");
        rescue.consider(&sets);
        said(&planned(&rescue))
    };
    let named = "deleted again by StatefulSet db when it is scaled down";
    for (sets, expected) in [
        (vec![set("db", "Delete")], true),
        (vec![set("db", "Retain")], false),
        // The claim of another set.
        (vec![set("d", "Delete")], false),
        (vec![], false),
    ] {
        let said = said_with(Ok(sets));
        assert_eq!(said.contains(named), expected, "{said}");
        assert!(!said.contains("whenDeleted"), "{said}");
    }
    let said = said_with(Err("forbidden".into()));
    assert!(
        said.contains("Whether a StatefulSet deletes the claim again is not known: forbidden."),
        "{said}"
    );
}

/// The receipt has all that is needed to go on.
#[test]
fn a_rescue_is_the_same_after_it_was_written_to_a_file() {
    let mut rescue = rescue(true);
    rescue.next(Some(&volume(retained)), None);
    let text = serde_json::to_string(&rescue).expect("it can be written");
    assert_eq!(
        serde_json::from_str::<Rescue>(&text).expect("it can be read"),
        rescue
    );
}
