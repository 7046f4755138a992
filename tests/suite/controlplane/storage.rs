//! The real sidecars with our driver behave as in production, and the driver fails on demand.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Cluster, CsiDriver, Namespace, wait};

const SOON: Duration = Duration::from_secs(60);

/// Creates a bound claim of 1 Mi and returns the name of its volume.
fn bound_claim(ns: &Namespace, class: &str) -> String {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let claim = || ns.get(["pvc", "data"]).unwrap();
    wait("the claim is bound", SOON, || {
        claim()["status"]["phase"] == "Bound"
    });
    claim()["spec"]["volumeName"].as_str().unwrap().to_owned()
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = object["metadata"]["finalizers"].as_array();
    let mut names: Vec<_> = list.into_iter().flatten().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names
}

fn called(driver: &CsiDriver, call: &str) -> usize {
    driver
        .calls()
        .iter()
        .filter(|line| line.split(' ').next() == Some(call))
        .count()
}

/// Whether an Event with this reason has a message that contains this text.
fn recorded(reason: &str, text: &str) -> bool {
    let events = Cluster::shared().get(["events", "-A", &format!("--field-selector=reason={reason}")]);
    // kubectl prints nothing for an empty list.
    let Some(events) = events else { return false };
    let messages = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| event["message"].as_str());
    messages.into_iter().any(|message| message.contains(text))
}

#[test]
fn a_volume_that_is_deleted_before_its_claim_stays_until_its_disk_is_deleted() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("volumes");
    let driver = cluster.csi_driver("plain.example.test").start();
    let volume = bound_claim(&ns, "plain.example.test");
    let pv = || cluster.get(["pv", &volume]);

    cluster
        .kubectl(["delete", "pv", &volume, "--wait=false"])
        .success();
    let held = pv().unwrap();
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(held["status"]["phase"], "Bound");
    let both = [
        "external-provisioner.volume.kubernetes.io/finalizer",
        "kubernetes.io/pv-protection",
    ];
    assert_eq!(finalizers(&held), both);
    assert_eq!(called(&driver, "DeleteVolume"), 0);

    driver.fails("DeleteVolume", "disk is on fire");
    ns.kubectl(["delete", "pvc", "data", "--wait=false"]).success();
    wait("the failure is recorded", SOON, || {
        recorded("VolumeFailedDelete", "disk is on fire")
    });
    assert!(pv().is_some());
    driver.heals("DeleteVolume");
    wait("the volume is deleted", SOON, || pv().is_none());
    assert!(
        driver
            .calls()
            .iter()
            .any(|line| *line == format!("DeleteVolume {volume}"))
    );

    let lease = cluster
        .get(["lease", "plain-example-test", "-n", "kube-system"])
        .unwrap();
    assert!(lease["spec"]["holderIdentity"].is_string());
}

#[test]
fn a_stopped_provisioner_and_a_hanging_driver_keep_the_volume() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("gone");
    let driver = cluster.csi_driver("gone.example.test").start();
    let volume = bound_claim(&ns, "gone.example.test");
    let pv = || cluster.get(["pv", &volume]);

    driver.provisioner().stop();
    driver.hangs("DeleteVolume");
    ns.kubectl(["delete", "pvc", "data", "--wait=false"]).success();
    wait("the volume stays", SOON, || {
        pv().unwrap()["status"]["phase"] == "Released"
    });
    driver.provisioner().start();
    wait("the driver is called repeatedly", SOON, || {
        called(&driver, "DeleteVolume") > 1
    });
    assert!(pv().is_some());

    driver.process().kill();
    wait("a sidecar without its driver ends", SOON, || {
        !driver.provisioner().is_running()
    });
    driver.heals("DeleteVolume");
    driver.process().start();
    driver.provisioner().start();
    wait(
        "the volume is deleted after the lease of the killed sidecar expires",
        SOON,
        || pv().is_none(),
    );
}

#[test]
fn a_volume_is_attached_and_detached() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("attached");
    let driver = cluster.csi_driver("attach.example.test").with_attacher().start();
    let volume = bound_claim(&ns, "attach.example.test");
    cluster.apply(
        "{apiVersion: v1, kind: Node, metadata: {name: attach-node}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: attach-node}, spec: {drivers: [{name: attach.example.test, nodeID: n1}]}}",
    );
    cluster.apply(
        &json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "attach-one"},
            "spec": {"attacher": "attach.example.test", "nodeName": "attach-node", "source": {"persistentVolumeName": volume}},
        })
        .to_string(),
    );
    let attachment = || cluster.get(["volumeattachment", "attach-one"]);
    wait("the volume is attached", SOON, || {
        attachment().unwrap()["status"]["attached"] == true
    });
    assert_eq!(
        finalizers(&attachment().unwrap()),
        ["external-attacher/attach-example-test"]
    );
    assert!(
        finalizers(&cluster.get(["pv", &volume]).unwrap()).contains(&"external-attacher/attach-example-test")
    );

    driver.fails("ControllerUnpublishVolume", "device is busy");
    cluster
        .kubectl(["delete", "volumeattachment", "attach-one", "--wait=false"])
        .success();
    wait("the failure is recorded", SOON, || {
        let error = &attachment().unwrap()["status"]["detachError"]["message"];
        error
            .as_str()
            .is_some_and(|message| message.contains("device is busy"))
    });
    driver.attacher().pause();
    driver.heals("ControllerUnpublishVolume");
    let before = called(&driver, "ControllerUnpublishVolume");
    std::thread::sleep(Duration::from_secs(3));
    assert!(
        called(&driver, "ControllerUnpublishVolume") <= before + 1,
        "a paused attacher sends no request"
    );
    driver.attacher().resume();
    wait("the volume is detached", SOON, || attachment().is_none());
    cluster
        .kubectl(["delete", "node,csinode", "attach-node"])
        .success();
}

#[test]
fn a_snapshot_stays_while_its_driver_fails_to_delete_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("snapshots");
    let driver = cluster
        .csi_driver("snapshot.example.test")
        .with_snapshots()
        .start();
    bound_claim(&ns, "snapshot.example.test");
    ns.apply(
        "{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {name: s},
          spec: {volumeSnapshotClassName: snapshot.example.test, source: {persistentVolumeClaimName: data}}}",
    );
    let snapshot = || ns.get(["volumesnapshot", "s"]);
    // The controller writes the status and the finalizer in two requests, in either order.
    wait("the snapshot is taken and protected", SOON, || {
        let snapshot = snapshot().unwrap();
        snapshot["status"]["readyToUse"] == true
            && finalizers(&snapshot)
                .contains(&"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection")
    });
    let taken = snapshot().unwrap();
    let content = taken["status"]["boundVolumeSnapshotContentName"]
        .as_str()
        .unwrap();
    let content = || cluster.get(["volumesnapshotcontent", content]);
    let protection = ["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"];
    wait("its content is protected", SOON, || {
        finalizers(&content().unwrap()) == protection
    });

    driver.fails("DeleteSnapshot", "snapshot is locked");
    ns.kubectl(["delete", "volumesnapshot", "s", "--wait=false"])
        .success();
    wait("the failure is recorded", SOON, || {
        recorded("SnapshotDeleteError", "Failed to delete snapshot")
    });
    assert!(called(&driver, "DeleteSnapshot") > 0 && content().is_some());
    assert!(driver.snapshot_controller().is_running() && driver.snapshotter().is_running());
    driver.heals("DeleteSnapshot");
    wait("both objects are deleted", SOON, || {
        snapshot().is_none() && content().is_none()
    });
}
