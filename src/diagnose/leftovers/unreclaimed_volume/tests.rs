use serde_json::{Value, json};

use super::*;
use crate::{
    diagnose::{
        leftovers,
        testing::world::{NOW, World, bare as object},
    },
    knowledge::Knowledge,
    snapshot::{
        Why,
        facts::{Answer, Query},
    },
};

fn volume(phase: &str, since: &str) -> Object {
    object(
        "",
        "persistentvolumes",
        "PersistentVolume",
        json!({
            "metadata": {"name": "pv-1", "uid": "u", "annotations": {"pv.kubernetes.io/provisioned-by": "csi.example.com"}},
            "spec": {
                "persistentVolumeReclaimPolicy": "Delete",
                "csi": {"driver": "csi.example.com", "volumeHandle": "disk-1"},
            },
            "status": {"phase": phase, "lastPhaseTransitionTime": since},
        }),
    )
}

fn with(mut volume: Object, pointer: &str, value: Value) -> Object {
    *volume.value.pointer_mut(pointer).expect("the field exists") = value;
    volume
}

const LONG_AGO: &str = "2025-12-01T00:00:00Z";

#[test]
fn only_a_released_or_failed_volume_is_due() {
    let now: Timestamp = NOW.parse().expect("a time");
    let due = |volume: &Object| is_due(volume, now);
    assert!(due(&volume("Released", LONG_AGO)));
    assert!(due(&volume("Failed", LONG_AGO)));
    assert!(!due(&volume("Bound", LONG_AGO)));
    assert!(!due(&volume("Released", "2026-01-01T11:59:30Z")));
    let kept = with(
        volume("Released", LONG_AGO),
        "/spec/persistentVolumeReclaimPolicy",
        json!("Retain"),
    );
    assert!(!due(&kept));
    // A server before 1.28 only reports when the status was written.
    let old = with(volume("Released", ""), "/metadata/uid", json!("u"));
    let fields = json!([{"subresource": "status", "time": "2026-01-01T11:59:30Z"}]);
    let mut old = old;
    old.value["metadata"]["managedFields"] = fields;
    assert!(!due(&old));
}

/// The verdict and its words if the driver's events are these and nothing else can be read.
fn said(volume: &Object, attached: Option<&[Object]>, events: Result<Vec<Object>, Why>) -> (Verdict, String) {
    let about = Query::Events {
        kind: "PersistentVolume".into(),
        namespace: None,
        name: "pv-1".into(),
    };
    let mut world = World::closed().answer(about, events.map(Answer::List));
    loop {
        let inspection = leftovers::unreclaimed(volume, attached, &world.facts(), &Knowledge::builtin());
        if inspection.wanted.is_empty() {
            let leftover = inspection.leftover.expect("there is always a reason");
            return (leftover.verdict, leftover.says.concat());
        }
        for query in inspection.wanted {
            world = world.answer(query, Err(Why::Forbidden("no".into())));
        }
    }
}

#[test]
fn quotes_the_event_of_the_driver_first() {
    let event = object(
        "",
        "events",
        "Event",
        json!({
            "reason": "VolumeFailedDelete", "message": "rpc error: quota", "lastTimestamp": "2026-01-01T11:30:00Z",
            "involvedObject": {"uid": "u"},
        }),
    );
    let (verdict, says) = said(&volume("Released", LONG_AGO), Some(&[]), Ok(vec![event]));
    assert_eq!(verdict, Verdict::Failing);
    assert!(
        says.contains("its disk disk-1") && says.ends_with("it failed 30m ago: rpc error: quota"),
        "{says}"
    );
}

#[test]
fn waits_for_an_attachment() {
    let attachment = object(
        "storage.k8s.io",
        "volumeattachments",
        "VolumeAttachment",
        json!({"metadata": {"name": "csi-1"}, "spec": {"nodeName": "node-1"}}),
    );
    let (verdict, says) = said(&volume("Released", LONG_AGO), Some(&[attachment]), Ok(Vec::new()));
    assert_eq!(verdict, Verdict::Waiting);
    assert!(says.contains("still attached to node node-1"), "{says}");
}

#[test]
fn a_volume_that_no_provisioner_deletes_is_stalled() {
    let (verdict, says) = said(&volume("Failed", LONG_AGO), Some(&[]), Ok(Vec::new()));
    assert!(
        verdict == Verdict::Stalled && says.contains("never tries again"),
        "{says}"
    );
    let by_hand = with(volume("Released", LONG_AGO), "/metadata/annotations", json!({}));
    let (verdict, says) = said(&by_hand, Some(&[]), Ok(Vec::new()));
    assert!(
        verdict == Verdict::Stalled && says.contains("releases of csi-provisioner before v3.5"),
        "{says}"
    );
}

#[test]
fn nothing_deletes_an_export_that_a_person_made_a_volume_of() {
    let mut export = volume("Failed", LONG_AGO);
    export.value["metadata"]["annotations"] = json!({});
    export.value["spec"]["csi"] = Value::Null;
    export.value["spec"]["nfs"] = json!({"server": "files.example.com", "path": "/a"});
    let (verdict, says) = said(&export, Some(&[]), Ok(Vec::new()));
    assert!(
        verdict == Verdict::Stalled && says.ends_with("nothing deletes disks of type nfs"),
        "{says}"
    );
}

#[test]
fn unread_attachments_or_events_make_the_verdict_unknown() {
    for (attached, events) in [
        (None, Ok(Vec::new())),
        (Some(&[][..]), Err(Why::Forbidden("no".into()))),
    ] {
        let (verdict, says) = said(&volume("Released", LONG_AGO), attached, events);
        assert!(
            verdict == Verdict::Unknown && says.contains("not known"),
            "{says}"
        );
    }
}
