//! Volumes, their disks, and drivers that are installed or gone.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Lost, Unable, Verdict,
        causes::storage::tests::{
            PROVISIONER, assert_destructive_steps_warn, attachment, claim, csi_node, driver, failed_delete,
            lease, text, verdict, volume,
        },
        testing::{
            fixtures::LONG_AGO,
            world::{World, bare},
        },
    },
    snapshot::facts::Object,
};

#[test]
fn the_disk_of_a_volume_deleted_before_its_claim_is_destroyed_or_leaked() {
    let both = ["kubernetes.io/pv-protection", PROVISIONER];
    let diagnosis = World::of([volume(&both, "Delete", "Bound", true), claim(&[], false)]).explain_first();
    assert!(text(&diagnosis).contains("IS DESTROYED") && !text(&diagnosis).contains("IS LEAKED"));
    let diagnosis =
        World::of([volume(&both[..1], "Delete", "Bound", true), claim(&[], false)]).explain_first();
    assert!(text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("IS DESTROYED"));
    assert_destructive_steps_warn(&diagnosis);
    let diagnosis =
        World::of([volume(&both[..1], "Retain", "Bound", true), claim(&[], false)]).explain_first();
    assert!(!text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("DATA LOSS"));
    let hidden = World::of([volume(&both, "Delete", "Bound", true)]).hiding("persistentvolumeclaims");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);
}

#[test]
fn a_failure_quotes_the_driver_and_is_unknown_without_events() {
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
            .says()
            .contains("it failed 60s ago: rpc error: disk is on fire"),
        "{diagnosis:?}"
    );
    assert_destructive_steps_warn(&diagnosis);
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
fn an_error_that_the_provisioner_did_not_report_itself_is_only_quoted() {
    let with = |pointer: &str, value: &str| {
        let mut event = failed_delete("rpc error: disk is on fire");
        *event.value.pointer_mut(pointer).expect("a field") = value.into();
        let released = volume(&[PROVISIONER], "Delete", "Released", true);
        World::of([released, driver(), event]).explain_first()
    };
    for (pointer, value) in [
        ("/source/component", "stranger"),
        ("/source/component", "d.example.community_pod_id"),
        ("/involvedObject/uid", ""),
        ("/lastTimestamp", "2026-01-01T11:24:00Z"),
    ] {
        let diagnosis = with(pointer, value);
        assert_eq!(verdict(&diagnosis), Verdict::Stalled, "{pointer} {value}");
        assert!(text(&diagnosis).contains("disk is on fire"), "{pointer} {value}");
    }
    assert_eq!(
        verdict(&with("/source/component", "persistentvolume-controller")),
        Verdict::Failing
    );
}

#[test]
fn a_provisioner_whose_credentials_were_deleted_cannot_succeed() {
    let unable = |message: &str| {
        let released = volume(&[PROVISIONER], "Delete", "Released", true);
        let diagnosis = World::of([released, driver(), failed_delete(message)]).explain_first();
        assert_eq!(verdict(&diagnosis), Verdict::Failing);
        diagnosis.waits[0].unable
    };
    assert_eq!(unable("rpc error: AccessDenied"), None);
    assert_eq!(
        unable("InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records."),
        Some(Unable::Without(Lost::Credentials))
    );
}

#[test]
fn a_volume_with_policy_delete_stays_for_ever_in_a_phase_that_is_never_reclaimed() {
    for phase in ["Bound", "Released", "Available", "Failed"] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Retain", phase, true), driver()]).explain_first();
        assert_eq!(verdict(&diagnosis), Verdict::Stalled);
        assert!(text(&diagnosis).contains("the disk stays"));
    }
    for phase in ["Available", "Failed", ""] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Delete", phase, true), driver()]).explain_first();
        assert!(text(&diagnosis).contains("it stays for ever"), "{phase}");
    }
    // The in-tree controller retries a volume that is Failed.
    let mut failed = volume(&["kubernetes.io/pv-controller"], "Delete", "Failed", true);
    failed.value["status"]["message"] = json!("no volume plugin matched");
    let diagnosis = World::of([failed]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert!(!text(&diagnosis).contains("for ever"));
}

#[test]
fn a_driver_is_gone_only_if_two_signs_agree() {
    let released = || volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let verdict_of = |world: World| verdict(&world.explain_first());
    // One sign that the driver is gone, or a sign that it is there.
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
    // The driver may be starting again, which takes ten minutes at most.
    let late = lease("d-example-com", "2026-01-01T11:51:00Z");
    assert_eq!(verdict_of(World::of([released(), late])), Verdict::Stalled);
    // Two signs that the driver is gone, and one that it is there.
    let world = World::of([released(), stale(), driver(), csi_node("other.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    let world = World::of([released(), stale(), csi_node("d.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    // Two signs that the driver is gone.
    assert_eq!(verdict_of(World::of([released(), stale()])), Verdict::Orphaned);
    let diagnosis = World::of([released(), csi_node("other.example.com")]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
    assert!(text(&diagnosis).contains("LEAKED INFRASTRUCTURE: take this one finalizer off"));
    assert_destructive_steps_warn(&diagnosis);
    // An object that could not be read is no sign.
    for hidden in ["csidrivers", "csinodes", "leases", "deployments", "daemonsets"] {
        let world = World::of([released(), stale()]).hiding(hidden);
        assert_eq!(verdict_of(world), Verdict::Stalled, "{hidden}");
    }
}

/// A Deployment whose Pods have this container.
fn deployment(name: &str, container: &str) -> Object {
    bare(
        "apps",
        "deployments",
        "Deployment",
        json!({"metadata": {"name": name, "namespace": "ops"},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": container, "image": "i"}]}}},
            "status": {"readyReplicas": 1}}),
    )
}

#[test]
fn a_driver_that_no_node_has_is_not_gone_while_something_may_be_its_provisioner() {
    let with = |workload: Object| {
        let volume = volume(&[PROVISIONER], "Delete", "Released", true);
        World::of([volume, csi_node("nfs.csi.k8s.io"), workload]).explain_first()
    };
    // Nothing in its name says whose volumes it serves.
    for name in ["d-example-controller", "storage"] {
        let diagnosis = with(deployment(name, "csi-provisioner"));
        assert_eq!(verdict(&diagnosis), Verdict::Stalled, "{name}");
        assert!(
            text(&diagnosis).contains(&format!("Deployment ops/{name}")),
            "{}",
            text(&diagnosis)
        );
        assert!(!text(&diagnosis).contains("take this one finalizer off"));
    }
    // That of a driver which nodes have registered, and what provisions nothing.
    for (name, container) in [("csi-nfs-controller", "csi-provisioner"), ("shop", "web")] {
        let diagnosis = with(deployment(name, container));
        assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{name}");
    }
}

#[test]
fn a_driver_that_the_platform_hides_is_not_gone() {
    let node = |labels: Value| {
        bare(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n", "labels": labels}}),
        )
    };
    let with = |node: Object| {
        let volume = volume(&[PROVISIONER], "Delete", "Released", true);
        verdict(&World::of([volume, csi_node("other.example.com"), node]).explain_first())
    };
    assert_eq!(with(node(json!({}))), Verdict::Orphaned);
    assert_eq!(
        with(node(json!({"cloud.google.com/gke-nodepool": "a"}))),
        Verdict::Stalled
    );
}

#[test]
fn a_driver_with_a_recent_event_and_a_provisioner_without_csi_are_not_gone() {
    let released = volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let recent_event = World::of([released.clone(), stale(), failed_delete("denied")]).explain_first();
    assert_eq!(verdict(&recent_event), Verdict::Failing);
    let mut nfs = released;
    nfs.value["spec"]["csi"] = Value::Null;
    nfs.value["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "example.com/nfs"});
    let other = World::of([nfs, csi_node("d.example.com")]).explain_first();
    assert_eq!(verdict(&other), Verdict::Stalled);
    assert!(!text(&other).contains("not installed"));
}

#[test]
fn no_step_triggers_a_controller_while_kube_controller_manager_is_down() {
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
        assert!(!text(&diagnosis).contains("finalizers nudge"), "{diagnosis:?}");
        assert!(!text(&diagnosis).contains("six minutes"), "{diagnosis:?}");
        assert_ne!(verdict(&diagnosis), Verdict::InUse);
    }
}

#[test]
fn a_leak_names_the_release_that_adds_the_missing_finalizer() {
    let leaking = |change: fn(&mut Value)| {
        let mut leaking = volume(&["kubernetes.io/pv-protection"], "Delete", "Bound", true);
        change(&mut leaking.value);
        text(&World::of([leaking, claim(&[], false)]).explain_first())
    };
    assert!(leaking(|_| ()).contains("The csi-provisioner of d.example.com is older than v5.0"));
    let in_tree = leaking(|volume| {
        volume["spec"]["csi"] = Value::Null;
        volume["metadata"]["annotations"] =
            json!({"pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path"});
    });
    assert!(in_tree.contains("volumes of kubernetes.io/host-path from 1.31 on"));
    assert!(leaking(|volume| volume["spec"]["csi"] = Value::Null).contains("nobody adds one"));
}

#[test]
fn a_disk_that_nothing_can_delete_stays_whatever_the_policy_says() {
    let bound = |source: Value| {
        let mut bound = volume(&["kubernetes.io/pv-protection"], "Delete", "Bound", true);
        bound.value["spec"]["csi"] = Value::Null;
        for (name, fields) in source.as_object().expect("a source") {
            bound.value["spec"][name] = fields.clone();
        }
        let world = World::of([bound, claim(&["kubernetes.io/pvc-protection"], true)]);
        text(&world.explain_first())
    };
    for (source, type_name) in [
        (
            json!({"nfs": {"server": "files.example.com", "path": "/a"}}),
            "nfs",
        ),
        (json!({"local": {"path": "/mnt/a"}}), "local"),
        (json!({"hostPath": {"path": "/srv/a"}}), "hostPath"),
    ] {
        let said = bound(source);
        assert!(
            said.contains(&format!("nothing deletes disks of type {type_name}")),
            "{said}"
        );
        assert!(!said.contains("LEAKED") && !said.contains("DESTROYED"), "{said}");
        assert!(!said.contains("only-retain"), "{said}");
    }
    let below_tmp = bound(json!({"hostPath": {"path": "/tmp/a"}}));
    assert!(!below_tmp.contains("nothing deletes"), "{below_tmp}");
}

#[test]
fn the_step_for_an_error_reads_the_log_of_the_pod_that_leads_the_sidecar() {
    let world = |leader: &str, message: &str| {
        let mut renewed = lease("d-example-com", "2026-01-01T11:59:55Z");
        renewed.value["spec"]["holderIdentity"] = json!(leader);
        let pod = json!({"metadata": {"name": "csi-0", "namespace": "kube-system", "uid": "p"}, "spec": {}});
        let released = volume(&[PROVISIONER], "Delete", "Released", true);
        let objects = [
            released,
            driver(),
            renewed,
            failed_delete(message),
            bare("", "pods", "Pod", pod),
        ];
        text(&World::of(objects).explain_first())
    };
    let log = "kubectl logs csi-0 --all-containers --prefix --since=10m -n kube-system";
    assert!(world("csi-0", "rpc error: disk is on fire").contains(log));
    assert!(world("csi-0", "rpc error: code = Unavailable desc = x").contains(log));
    // A Pod on the network of its node signs with the name of the node.
    assert!(!world("node-1", "rpc error: disk is on fire").contains(" logs "));
}
