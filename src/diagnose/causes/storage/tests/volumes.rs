//! Volumes, their disks, and drivers that are or are not there.

use serde_json::{Value, json};

use crate::diagnose::{
    Verdict,
    causes::storage::tests::{
        PROVISIONER, attachment, claim, csi_node, driver, failed_delete, lease, text, verdict, volume, warned,
    },
    testing::{fixtures::LONG_AGO, world::World},
};

#[test]
fn a_volume_deleted_first_is_destroyed_or_leaked_with_its_claim() {
    let both = ["kubernetes.io/pv-protection", PROVISIONER];
    let diagnosis = World::of([volume(&both, "Delete", "Bound", true), claim(&[], false)]).explain_first();
    assert!(text(&diagnosis).contains("IS DESTROYED") && !text(&diagnosis).contains("IS LEAKED"));
    let diagnosis =
        World::of([volume(&both[..1], "Delete", "Bound", true), claim(&[], false)]).explain_first();
    assert!(text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("IS DESTROYED"));
    warned(&diagnosis);
    let diagnosis =
        World::of([volume(&both[..1], "Retain", "Bound", true), claim(&[], false)]).explain_first();
    assert!(!text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("DATA LOSS"));
    let hidden = World::of([volume(&both, "Delete", "Bound", true)]).hiding("persistentvolumeclaims");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);
}

#[test]
fn a_driver_that_refuses_is_quoted_and_without_events_it_is_unknown() {
    let objects = || {
        [
            volume(&[PROVISIONER], "Delete", "Released", true),
            driver(),
            failed_delete("rpc error: disk is on fire"),
        ]
    };
    let diagnosis = World::of(objects()).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert!(
        diagnosis.waits[0]
            .says
            .contains("it failed 60s ago: rpc error: disk is on fire"),
        "{diagnosis:?}"
    );
    warned(&diagnosis);
    for hidden in ["events", "volumeattachments"] {
        let diagnosis = World::of(objects()).hiding(hidden).explain_first();
        let expected = if hidden == "events" {
            Verdict::Unknown
        } else {
            Verdict::Failing
        };
        assert_eq!(verdict(&diagnosis), expected);
        assert!(!diagnosis.gaps.is_empty());
    }
}

#[test]
fn retain_lets_go_and_the_phases_that_are_never_reclaimed_do_not() {
    for phase in ["Bound", "Released", "Available", "Failed"] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Retain", phase, true), driver()]).explain_first();
        assert_eq!(verdict(&diagnosis), Verdict::Stalled);
        assert!(text(&diagnosis).contains("the disk stays"));
    }
    for phase in ["Available", "Failed", ""] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Delete", phase, true), driver()]).explain_first();
        assert!(text(&diagnosis).contains("it stays for ever"), "{phase}");
    }
    // In-tree, Failed is tried again.
    let mut failed = volume(&["kubernetes.io/pv-controller"], "Delete", "Failed", true);
    failed.value["status"]["message"] = json!("no volume plugin matched");
    let diagnosis = World::of([failed]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert!(!text(&diagnosis).contains("for ever"));
}

#[test]
fn the_driver_is_gone_only_by_two_signs_that_agree() {
    let released = || volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let verdict_of = |world: World| verdict(&world.explain_first());
    // One sign, or one that it is there.
    assert_eq!(verdict_of(World::of([released()])), Verdict::Stalled);
    assert_eq!(
        verdict_of(World::of([released(), stale(), driver()])),
        Verdict::Stalled
    );
    let renewed = lease("d-example-com", "2026-01-01T11:59:58Z");
    assert_eq!(
        verdict_of(World::of([released(), renewed, csi_node("other")])),
        Verdict::Stalled
    );
    // It may be starting again: ten minutes are as long as that can take.
    let late = lease("d-example-com", "2026-01-01T11:51:00Z");
    assert_eq!(verdict_of(World::of([released(), late])), Verdict::Stalled);
    // Two against one that it is there.
    let world = World::of([released(), stale(), driver(), csi_node("other.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    let world = World::of([released(), stale(), csi_node("d.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    // Two.
    assert_eq!(verdict_of(World::of([released(), stale()])), Verdict::Orphaned);
    let diagnosis = World::of([released(), csi_node("other.example.com")]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
    assert!(text(&diagnosis).contains("LEAKED INFRASTRUCTURE: take this one finalizer off"));
    warned(&diagnosis);
    // What cannot be read is no sign.
    for hidden in ["csidrivers", "csinodes", "leases"] {
        let world = World::of([released(), stale()]).hiding(hidden);
        assert_eq!(verdict_of(world), Verdict::Stalled, "{hidden}");
    }
}

#[test]
fn who_was_heard_of_lately_and_who_is_no_csi_driver_is_not_gone() {
    let released = volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let heard = World::of([released.clone(), stale(), failed_delete("denied")]).explain_first();
    assert_eq!(verdict(&heard), Verdict::Failing);
    let mut nfs = released;
    nfs.value["spec"]["csi"] = Value::Null;
    nfs.value["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "example.com/nfs"});
    let other = World::of([nfs, csi_node("d.example.com")]).explain_first();
    assert_eq!(verdict(&other), Verdict::Stalled);
    assert!(!text(&other).contains("not installed"));
}

#[test]
fn without_the_controller_manager_nothing_is_nudged() {
    let stopped = || lease("kube-controller-manager", LONG_AGO);
    let protected = || volume(&["kubernetes.io/pv-protection"], "Retain", "Bound", true);
    let going = || claim(&["kubernetes.io/pvc-protection"], true);
    let attached = || {
        let mut attached = attachment("pv", false, "");
        attached.value["metadata"]["finalizers"] = json!(["external-attacher/d-example-com"]);
        attached
    };
    let released = || volume(&["external-attacher/d-example-com"], "Retain", "Released", true);
    for world in [
        World::of([protected(), stopped()]),
        World::of([protected(), going(), stopped()]),
        World::of([going(), stopped()]),
        World::of([attached(), released(), stopped(), driver()]),
        World::of([released(), attached(), stopped(), driver()]),
    ] {
        let diagnosis = world.explain_first();
        assert!(
            text(&diagnosis).contains("kube-controller-manager does not run"),
            "{diagnosis:?}"
        );
        assert!(!text(&diagnosis).contains("nudged"), "{diagnosis:?}");
        assert!(!text(&diagnosis).contains("six minutes"), "{diagnosis:?}");
        assert_ne!(verdict(&diagnosis), Verdict::InUse);
    }
}

#[test]
fn a_leak_says_which_release_would_have_held_this_volume() {
    let leaking = |change: fn(&mut Value)| {
        let mut leaking = volume(&["kubernetes.io/pv-protection"], "Delete", "Bound", true);
        change(&mut leaking.value);
        text(&World::of([leaking, claim(&[], false)]).explain_first())
    };
    assert!(leaking(|_| ()).contains("The csi-provisioner of d.example.com adds"));
    let in_tree = leaking(|volume| {
        volume["spec"]["csi"] = Value::Null;
        volume["metadata"]["annotations"] =
            json!({"pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path"});
    });
    assert!(in_tree.contains("volumes of kubernetes.io/host-path from 1.31 on"));
    assert!(leaking(|volume| volume["spec"]["csi"] = Value::Null).contains("nobody adds one"));
}
