//! Snapshots, their contents, and the sources of snapshots, clones and restores.

use serde_json::json;

use crate::{
    diagnose::{
        Diagnosis, Safety, Verdict,
        causes::storage::tests::{
            assert_destructive_steps_warn, claim, driver, lease, metadata, snapshot_object, text, verdict,
            volume,
        },
        model::Step,
        testing::{fixtures::LONG_AGO, told::command_line, world::World},
    },
    snapshot::facts::Object,
};

#[test]
fn an_interrupted_restore_leaves_a_finalizer_that_protects_nothing() {
    let name = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection";
    let bound = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
    let value = json!({"metadata": metadata("snap", "ns", &[name], true), "spec": {}});
    let snapshot = snapshot_object("volumesnapshots", "VolumeSnapshot", value);
    let diagnosis = World::of([snapshot.clone()]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    let step = diagnosis
        .steps
        .iter()
        .find(|s| s.text.contains("interrupted restore"))
        .expect("a step");
    let command = command_line(step);
    assert!(command.contains(name) && !command.contains(bound), "{command}");
    let mut restored = claim(&[], false);
    restored.value["spec"]["dataSource"] = json!({"kind": "VolumeSnapshot", "name": "snap"});
    restored.value["status"]["phase"] = json!("Pending");
    let diagnosis = World::of([snapshot.clone(), restored]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    assert_destructive_steps_warn(&diagnosis);
    let hidden = World::of([snapshot]).hiding("persistentvolumeclaims");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);
}

#[test]
fn a_claim_waits_while_a_snapshot_or_clone_of_it_is_made() {
    let snapshotted = "snapshot.storage.kubernetes.io/pvc-as-source-protection";
    let source = claim(&[snapshotted], true);
    let taken = |ready: bool| {
        let value = json!({"metadata": {"name": "s", "namespace": "ns"},
            "spec": {"source": {"persistentVolumeClaimName": "data"}}, "status": {"readyToUse": ready}});
        snapshot_object("volumesnapshots", "VolumeSnapshot", value)
    };
    let diagnosis = World::of([source.clone(), taken(false)]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    assert_eq!(
        diagnosis.waits[0].on[0].says,
        "not started: it has no VolumeSnapshotContent"
    );
    assert_destructive_steps_warn(&diagnosis);
    let mut started = taken(false);
    started.value["status"]["boundVolumeSnapshotContentName"] = json!("snapcontent-1");
    let diagnosis = World::of([source.clone(), started]).explain_first();
    assert_eq!(
        diagnosis.waits[0].on[0].says,
        "is being taken, and not ready to use"
    );
    // The snapshot is ready, and the claim is still there: the controller checks only when a snapshot changes.
    let diagnosis = World::of([source.clone(), taken(true)]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    let first = command_line(&diagnosis.steps[0]);
    assert!(
        first.contains("nudge volumesnapshots.snapshot.storage.k8s.io/s"),
        "{first}"
    );
    let hidden = World::of([source]).hiding("volumesnapshots");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);

    let cloned = claim(&["provisioner.storage.kubernetes.io/cloning-protection"], true);
    let mut copy = claim(&[], false);
    copy.value["metadata"]["name"] = json!("copy");
    copy.value["spec"]["dataSource"] = json!({"kind": "PersistentVolumeClaim", "name": "data"});
    copy.value["status"]["phase"] = json!("Pending");
    assert_eq!(
        verdict(&World::of([cloned.clone(), copy.clone()]).explain_first()),
        Verdict::Waiting
    );
    copy.value["status"]["phase"] = json!("Bound");
    assert_eq!(
        verdict(&World::of([cloned, copy]).explain_first()),
        Verdict::Stalled
    );
}

#[test]
fn a_claim_that_was_restored_from_a_snapshot_may_keep_it() {
    let bound = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
    let value = json!({"metadata": metadata("s", "ns", &[bound], true), "spec": {},
        "status": {"boundVolumeSnapshotContentName": "c"}});
    let snapshot = snapshot_object("volumesnapshots", "VolumeSnapshot", value);
    let protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
    let uid = snapshot.uid().to_owned();
    let value = json!({"metadata": metadata("c", "", &[protection], true),
        "spec": {"driver": "d.example.com", "deletionPolicy": "Delete", "source": {"volumeHandle": "disk-1"},
            "volumeSnapshotRef": {"namespace": "ns", "name": "s", "uid": uid}},
        "status": {"snapshotHandle": "snap-1"}});
    let content = snapshot_object("volumesnapshotcontents", "VolumeSnapshotContent", value);
    let told = |source: &str, phase: &str| {
        let mut restored = claim(&[], false);
        restored.value["spec"]["dataSource"] = json!({"kind": "VolumeSnapshot", "name": source});
        restored.value["status"]["phase"] = json!(phase);
        text(&World::of([snapshot.clone(), content.clone(), driver(), restored]).explain_first())
    };
    let words = "made from it: claim data. If its driver made a clone";
    assert!(told("s", "Bound").contains(words), "{}", told("s", "Bound"));
    assert!(!told("another", "Bound").contains(words));
    assert!(
        !told("s", "Pending").contains(words),
        "it is still being restored"
    );
}

#[test]
fn a_content_is_stuck_without_the_annotation_of_the_snapshot_controller() {
    let protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
    let made = |annotation: &str, policy: &str| {
        let mut value = json!({"metadata": metadata("c", "", &[protection], true),
            "spec": {"driver": "d.example.com", "deletionPolicy": policy, "source": {"volumeHandle": "disk-1"},
                "volumeSnapshotRef": {"namespace": "ns", "name": "s", "uid": "uid-s"}},
            "status": {"snapshotHandle": "snap-1"}});
        if !annotation.is_empty() {
            value["metadata"]["annotations"] = json!({annotation: "yes"});
        }
        snapshot_object("volumesnapshotcontents", "VolumeSnapshotContent", value)
    };
    let diagnosis = World::of([made("", "Delete"), driver()]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(text(&diagnosis).contains("it stays for ever") && text(&diagnosis).contains("DATA LOSS"));
    assert_destructive_steps_warn(&diagnosis);
    let diagnosis = World::of([made("", "Retain"), driver()]).explain_first();
    assert!(!text(&diagnosis).contains("DATA LOSS"));
    let annotation = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted";
    let diagnosis = World::of([made(annotation, "Delete"), driver()]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(!text(&diagnosis).contains("for ever"));
    let stale = lease("external-snapshotter-leader-d-example-com", LONG_AGO);
    let diagnosis = World::of([made(annotation, "Delete"), stale]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
    let hidden = World::of([made("", "Delete"), driver()]).hiding("volumesnapshots");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);
}

#[test]
fn a_missing_class_is_named_only_if_the_error_is_about_the_class() {
    let failing = |message: &str, others: Vec<Object>| {
        let protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
        let mut value = json!({"metadata": metadata("c", "", &[protection], true),
            "spec": {"driver": "d.example.com", "deletionPolicy": "Delete", "source": {"volumeHandle": "disk-1"},
                "volumeSnapshotClassName": "nightly",
                "volumeSnapshotRef": {"namespace": "ns", "name": "s", "uid": "uid-s"}},
            "status": {"snapshotHandle": "snap-1", "error": {"message": message, "time": "2026-01-01T00:00:00Z"}}});
        value["metadata"]["annotations"] =
            json!({"snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "yes"});
        let content = snapshot_object("volumesnapshotcontents", "VolumeSnapshotContent", value);
        let world =
            World::of([content, driver()]).with_type("snapshot.storage.k8s.io", "volumesnapshotclasses");
        let diagnosis = others.into_iter().fold(world, World::with).explain_first();
        assert_eq!(verdict(&diagnosis), Verdict::Failing);
        diagnosis
    };
    let about_class = "Failed to get snapshot class or credentials";
    let says = |diagnosis: &Diagnosis| text(diagnosis).contains("VolumeSnapshotClass nightly");
    let named = failing(about_class, vec![]);
    assert!(says(&named));
    assert_destructive_steps_warn(&named);
    assert!(!says(&failing("the backend is busy", vec![])));
    let class = json!({"metadata": metadata("nightly", "", &[], false), "driver": "d.example.com"});
    let class = snapshot_object("volumesnapshotclasses", "VolumeSnapshotClass", class);
    assert!(!says(&failing(about_class, vec![class])));
}

#[test]
fn a_step_that_deletes_a_claim_reports_the_fate_of_its_disk() {
    let source = claim(&["provisioner.storage.kubernetes.io/cloning-protection"], true);
    let diagnosis = World::of([source, volume(&[], "Delete", "Bound", false)]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    let ends_it = |step: &&Step| {
        let command = step.command.as_ref();
        command.is_some_and(|command| command.is_nudge() || command.is_remove())
    };
    let steps: Vec<_> = diagnosis.steps.iter().filter(ends_it).collect();
    assert_eq!(steps.len(), 2, "{:#?}", diagnosis.steps);
    for step in steps {
        assert_eq!(step.safety, Safety::Destructive, "{step:?}");
        assert!(step.text.contains("The disk disk-1 is DESTROYED"), "{step:?}");
    }
    assert_destructive_steps_warn(&diagnosis);
}
