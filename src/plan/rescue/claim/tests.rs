//! Tests of the rescue of a claim in every state in which it can find volume and claim.

use serde_json::{Value, json};

use super::{Next, Rescue, Users};
use crate::{
    diagnose::testing::world::bare,
    knowledge::Knowledge,
    plan::{Claim, rescue::tests::sent},
    snapshot::facts::Object,
};

type Change<'a> = &'a dyn Fn(&mut Value);

fn volume(changes: &[Change<'_>]) -> Object {
    let mut value = json!({
        "metadata": {"name": "pv", "uid": "u1", "resourceVersion": "7"},
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "u2", "resourceVersion": "3"},
            "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"}},
        "status": {"phase": "Bound"},
    });
    for change in changes {
        change(&mut value);
    }
    bare("", "persistentvolumes", "PersistentVolume", value)
}

fn claim(changes: &[Change<'_>]) -> Object {
    let mut value = json!({
        "metadata": {"name": "data", "namespace": "ns", "uid": "u2", "deletionTimestamp": "2026-01-01T11:00:00Z",
            "labels": {"team": "data"}, "finalizers": ["kubernetes.io/pvc-protection"],
            "annotations": {"pv.kubernetes.io/bind-completed": "yes", "note": "mine"}},
        "spec": {"volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    });
    for change in changes {
        change(&mut value);
    }
    bare("", "persistentvolumeclaims", "PersistentVolumeClaim", value)
}

fn retained(value: &mut Value) {
    value["spec"]["persistentVolumeReclaimPolicy"] = "Retain".into();
}

fn released(value: &mut Value) {
    value["status"]["phase"] = "Released".into();
}

/// The volume names the new claim.
fn named(value: &mut Value) {
    value["spec"]["claimRef"]["uid"] = "u3".into();
}

/// The claim is a new one.
fn new(value: &mut Value) {
    value["metadata"]["uid"] = "u3".into();
    value["metadata"]["deletionTimestamp"] = Value::Null;
}

fn pending(value: &mut Value) {
    value["status"]["phase"] = "Pending".into();
}

fn rescue(restore_policy: bool) -> Rescue {
    let claim = Claim::Found(claim(&[]).into());
    Rescue::new(&volume(&[]), claim, restore_policy).expect("it can be rescued")
}

/// A rescue that has seen the volume with policy Retain.
fn kept(restore_policy: bool) -> Rescue {
    let mut rescue = rescue(restore_policy);
    let wait = rescue.next(Some(&volume(&[&retained])), Some(&claim(&[])));
    assert!(matches!(wait, Next::Wait(_)), "{wait:?}");
    rescue
}

#[track_caller]
fn stopped(next: Next) -> String {
    match next {
        Next::Stop(why) => why,
        other => panic!("it goes on: {other:?}"),
    }
}

#[test]
fn the_steps_follow_from_the_present_state() {
    let first = sent(rescue(false).next(Some(&volume(&[])), Some(&claim(&[]))));
    assert_eq!(
        first.body[3],
        json!({"op": "replace", "path": "/spec/persistentVolumeReclaimPolicy", "value": "Retain"})
    );
    let mut rescue = kept(false);
    let second = sent(rescue.next(Some(&volume(&[&retained, &released])), None));
    assert_eq!(
        (second.method, &*second.path),
        ("POST", "/api/v1/namespaces/ns/persistentvolumeclaims")
    );
    let free = volume(&[&retained, &released]);
    let third = sent(rescue.next(Some(&free), Some(&claim(&[&new, &pending]))));
    assert_eq!(
        third.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u1"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/spec/claimRef/uid", "value": "u2"},
            {"op": "replace", "path": "/spec/claimRef/uid", "value": "u3"},
        ])
    );
    let named = volume(&[&retained, &released, &named]);
    let wait = rescue.next(Some(&named), Some(&claim(&[&new, &pending])));
    assert!(matches!(wait, Next::Wait(_)), "{wait:?}");
}

#[test]
fn a_claim_that_is_bound_again_is_compared_with_its_copy() {
    let bound = volume(&[&retained, &named]);
    let same = kept(false).next(Some(&bound), Some(&claim(&[&new])));
    assert_eq!(same, Next::Done(Vec::new()));
    let other = claim(&[&new, &|value| value["metadata"]["labels"]["team"] = "ops".into()]);
    let Next::Done(found) = kept(false).next(Some(&bound), Some(&other)) else {
        panic!("it is not done");
    };
    assert_eq!(found, [r#"claim: /metadata/labels/team was "data" and is "ops""#]);
}

#[test]
fn the_new_claim_is_the_old_one_without_what_binding_sets() {
    let creation = rescue(false).plan(&Ok(Vec::new()), &Knowledge::builtin()).request;
    assert_eq!(
        creation.body,
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "ns", "labels": {"team": "data"}, "annotations": {"note": "mine"}},
            "spec": {"volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}}})
    );
}

#[test]
fn a_claim_that_somebody_else_made_gets_the_volume_unless_it_has_another() {
    let free = volume(&[&retained, &released]);
    let of_set = |volume: &str| {
        let volume = volume.to_owned();
        claim(&[&new, &pending, &move |value| {
            value["spec"]["volumeName"] = volume.clone().into();
        }])
    };
    let request = sent(kept(false).next(Some(&free), Some(&of_set(""))));
    assert_eq!(request.body[3]["value"], "u3");
    let why = stopped(kept(false).next(Some(&free), Some(&of_set("another"))));
    assert!(why.ends_with("and has volume another"), "{why}");
}

#[test]
fn no_claim_is_made_for_a_disk_that_may_be_gone() {
    let why = stopped(rescue(false).next(Some(&volume(&[&released])), None));
    assert!(why.contains("the disk may be deleted"), "{why}");
    // Nor if somebody has set Retain since: the provisioner may have been faster.
    let why = stopped(rescue(false).next(Some(&volume(&[&retained, &released])), None));
    assert!(why.contains("the disk may be deleted"), "{why}");
}

/// The answer to the request that set Retain was lost, and the claim went at once.
#[test]
fn a_policy_that_this_program_set_before_the_volume_was_released_keeps_the_disk() {
    let set = |manager: &str, time: &str, released_at: Option<&str>| {
        let (manager, time, at) = (
            manager.to_owned(),
            time.to_owned(),
            released_at.map(str::to_owned),
        );
        volume(&[&retained, &released, &move |value| {
            value["metadata"]["managedFields"] = json!([{"manager": manager, "time": time,
                "fieldsV1": {"f:spec": {"f:persistentVolumeReclaimPolicy": {}}}}]);
            value["status"]["lastPhaseTransitionTime"] = at.clone().into();
        }])
    };
    let (before, after) = ("2026-01-01T11:00:00Z", "2026-01-01T11:00:01Z");
    for (time, released_at) in [(before, after), (before, before)] {
        let volume = set("kubectl-finalizers", time, Some(released_at));
        let mut resumed = rescue(false);
        assert_eq!(sent(resumed.next(Some(&volume), None)).method, "POST");
        assert!(resumed.is_kept());
    }
    for volume in [
        set("kubectl-finalizers", after, Some(before)),
        set("kubectl-finalizers", before, None),
        set("kubectl-edit", before, Some(after)),
    ] {
        let why = stopped(rescue(false).next(Some(&volume), None));
        assert!(why.contains("the disk may be deleted"), "{why}");
    }
}

#[test]
fn what_is_no_longer_as_it_was_stops_the_rescue() {
    let free = [&retained as Change<'_>, &released];
    let gone = |value: &mut Value| value["metadata"]["deletionTimestamp"] = "2026-01-01T11:30:00Z".into();
    let other = |value: &mut Value| value["metadata"]["uid"] = "u9".into();
    let taken = |value: &mut Value| value["spec"]["claimRef"]["uid"] = "u9".into();
    for (volume, claim, why) in [
        (None, None, "the volume of the claim is gone"),
        (
            Some(volume(&[&retained, &other])),
            None,
            "the volume of the claim is gone",
        ),
        (
            Some(volume(&[&retained, &gone])),
            None,
            "the volume is being deleted now",
        ),
        (
            Some(volume(&[&retained, &taken])),
            None,
            "the volume is for another claim now",
        ),
        (
            Some(volume(&[&retained, &taken])),
            Some(claim(&[&new, &pending])),
            "the volume is for another claim now",
        ),
        (
            Some(volume(&free)),
            Some(claim(&[&new, &gone])),
            "the new claim is being deleted",
        ),
    ] {
        let said = stopped(kept(false).next(volume.as_ref(), claim.as_ref()));
        assert!(said.starts_with(why), "{said}");
    }
}

#[test]
fn the_old_policy_comes_back_only_once_both_are_bound() {
    let bound = volume(&[&retained, &named]);
    let request = sent(kept(true).next(Some(&bound), Some(&claim(&[&new]))));
    assert_eq!(request.body[3]["value"], "Delete");
    let wait = kept(true).next(Some(&bound), Some(&claim(&[&new, &pending])));
    assert!(matches!(wait, Next::Wait(_)), "{wait:?}");
    let restored = kept(true).next(Some(&volume(&[&named])), Some(&claim(&[&new])));
    assert_eq!(restored, Next::Done(Vec::new()));
}

#[test]
fn the_plan_says_which_pods_have_to_end() {
    let now = |users: &Users| {
        let plan = rescue(false).plan(users, &Knowledge::builtin());
        plan.retention.expect("it keeps a disk").now.join(" ")
    };
    let pod = bare(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "db-0", "namespace": "ns"}}),
    );
    let said = now(&Ok(vec![pod.reference()]));
    assert!(said.contains("pod/db-0 -n ns uses the claim"), "{said}");
    let said = now(&Err("no right".into()));
    assert!(said.contains("could not be read: no right"), "{said}");
    assert!(!now(&Ok(Vec::new())).contains("uses"));
}

#[test]
fn a_claim_with_an_owner_or_a_resize_is_refused() {
    let owned = |value: &mut Value| {
        value["metadata"]["ownerReferences"] = json!([{"kind": "StatefulSet", "name": "db"}]);
    };
    let resized = |value: &mut Value| {
        value["status"]["conditions"] = json!([{"type": "FileSystemResizePending", "status": "True"}]);
    };
    for (change, why) in [
        (&owned as Change<'_>, "StatefulSet db"),
        (&resized, "being resized"),
    ] {
        let claim = Claim::Found(claim(&[change]).into());
        let refusal = Rescue::new(&volume(&[]), claim, false).expect_err("it is refused");
        assert!(refusal.why.contains(why), "{}", refusal.why);
    }
}
