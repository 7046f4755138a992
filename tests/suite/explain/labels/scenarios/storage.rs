//! Claims, volumes, attachments and snapshots.

use serde_json::json;

use super::{
    DRIVER, FAILING_DRIVER, Scenario, Target, bound_claim, bound_claim_of, namespace, node, pod, scenario,
    target, workload,
};
use crate::{
    explain::told::SOON,
    harness::{Cluster, wait},
};

pub(super) const ALL: &[Scenario] = &[
    scenario("finished", finished_pod)
        .steps(3, 2)
        .tells(&["storage/pvc_protection"])
        .adds(&[("storage/take_back", "Take the deletion back")]),
    scenario("scaled", running_set).steps(3, 2),
    scenario("deployed", running_deployment).steps(3, 2),
    scenario("bare", running_pod).steps(3, 2),
    scenario("kept", retained_disk).steps(4, 3),
    scenario("volume", volume_of_a_claim)
        .steps(4, 4)
        .tells(&["storage/pv_protection"])
        .adds(&[("storage/keep_disk", "Keep the disk")]),
    scenario("both", volume_and_its_claim).steps(3, 3),
    scenario("spared", retained_volume_of_a_claim).steps(3, 3),
    scenario("free", volume_that_nobody_claims)
        .steps(1, 1)
        .tells(&["storage/pv_reclaim"]),
    scenario("leaky", volume_without_a_driver).steps(3, 3),
    scenario("reclaimed", released_volume_without_a_driver)
        .steps(2, 2)
        .may_be_late()
        .tells(&["storage/pv_disk_deletion"]),
    scenario("burning", disk_that_cannot_be_deleted)
        .steps(2, 2)
        .tells(&["storage/csi_errors"]),
    scenario("source", source_of_no_snapshot)
        .steps(4, 3)
        .tells(&["storage/source_protection"]),
    scenario("cloned", source_of_a_clone).steps(3, 2),
    scenario("restored", source_of_a_restore).steps(1, 1),
    scenario("attached", attachment_without_a_driver)
        .steps(1, 1)
        .tells(&["storage/volume_attachment_detach"]),
    scenario("undetached", attachment_that_cannot_end).steps(1, 1),
    scenario("volumeless", attachment_without_its_volume).steps(1, 1),
    scenario("fastened", volume_that_is_attached)
        .steps(1, 1)
        .tells(&["storage/pv_attacher"]),
    scenario("silent", attachment_to_a_silent_node)
        .steps(1, 1)
        .tells(&["storage/volume_attachment_in_use"]),
    scenario("photo", content_of_a_snapshot)
        .steps(2, 2)
        .tells(&["storage/volume_snapshot_content"]),
    scenario("locked", snapshot_that_cannot_be_deleted)
        .steps(2, 2)
        .tells(&["storage/volume_snapshot"]),
    scenario("class", class_of_a_claim)
        .steps(1, 0)
        .tells(&["storage/volume_attributes_class"])
        .since("storage.k8s.io/v1 VolumeAttributesClass", 34),
];

fn claim_in_deletion(cluster: &Cluster, name: &str) -> Target {
    target(cluster, "pvc/data", name)
}

fn finished_pod(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Succeeded");
    claim_in_deletion(cluster, name)
}

fn running_set(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    workload(cluster, name, "StatefulSet");
    claim_in_deletion(cluster, name)
}

fn running_deployment(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    workload(cluster, name, "Deployment");
    claim_in_deletion(cluster, name)
}

fn running_pod(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    claim_in_deletion(cluster, name)
}

/// The disk stays whatever stops, so the steps that stop something are not destructive.
fn retained_disk(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim(cluster, name, "");
    let policy = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    cluster.kubectl(["patch", "pv", &volume, "-p", policy]).success();
    pod(cluster, name, "Succeeded");
    workload(cluster, name, "StatefulSet");
    workload(cluster, name, "Job");
    claim_in_deletion(cluster, name)
}

fn volume_of_a_claim(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    cluster.delete(&format!("pv/{volume}"), "");
    [format!("pv/{volume}"), String::new()]
}

fn volume_and_its_claim(cluster: &Cluster, name: &str) -> Target {
    let target = volume_of_a_claim(cluster, name);
    cluster.delete("pvc/data", name);
    target
}

/// No step can destroy its disk.
fn retained_volume_of_a_claim(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim(cluster, name, "");
    let policy = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    cluster.kubectl(["patch", "pv", &volume, "-p", policy]).success();
    pod(cluster, name, "Running");
    cluster.delete(&format!("pv/{volume}"), "");
    [format!("pv/{volume}"), String::new()]
}

/// A volume that was made by hand.
fn volume(cluster: &Cluster, name: &str, driver: &str, metadata: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}{metadata}}}, spec: {{capacity: {{storage: 1Mi}}, \
         accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, csi: {{driver: {driver}, volumeHandle: \
         disk-{name}}}}}}}"
    ));
}

fn volume_phase(cluster: &Cluster, name: &str, phase: &str) {
    wait(&format!("the volume is {phase}"), SOON, || {
        cluster
            .get(["pv", name])
            .is_some_and(|volume| volume["status"]["phase"] == phase)
    });
}

/// Binds a claim to the volume of the same copy.
fn claim_of_a_volume(cluster: &Cluster, name: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}}}, spec: {{storageClassName: \
         '', volumeName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    volume_phase(cluster, name, "Bound");
}

fn volume_that_nobody_claims(cluster: &Cluster, name: &str) -> Target {
    let held = ", finalizers: [external-provisioner.volume.kubernetes.io/finalizer]";
    volume(cluster, name, DRIVER, held);
    volume_phase(cluster, name, "Available");
    cluster.delete(&format!("pv/{name}"), "");
    [format!("pv/{name}"), String::new()]
}

fn volume_without_a_driver(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    volume(cluster, name, "old.example.test", "");
    claim_of_a_volume(cluster, name);
    cluster.delete(&format!("pv/{name}"), "");
    [format!("pv/{name}"), String::new()]
}

fn source_of_no_snapshot(cluster: &Cluster, name: &str) -> Target {
    let held = ", finalizers: [snapshot.storage.kubernetes.io/pvc-as-source-protection]";
    bound_claim(cluster, name, held);
    let claim = claim_in_deletion(cluster, name);
    // Its controller is late, and not only on a slow machine.
    cluster.deleted_earlier(&format!("persistentvolumeclaims/{name}/data"), 90);
    claim
}

fn attachment_without_a_driver(cluster: &Cluster, name: &str) -> Target {
    node(cluster, name, "True");
    volume(cluster, name, "old.example.test", "");
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}, finalizers: \
         [external-attacher/old-example-test]}}, spec: {{attacher: old.example.test, nodeName: {name}, source: \
         {{persistentVolumeName: {name}}}}}}}"
    ));
    cluster.patch_status(["volumeattachment", name], &json!({"attached": true}));
    cluster.delete(&format!("volumeattachment/{name}"), "");
    [format!("volumeattachment/{name}"), String::new()]
}

fn class_of_a_claim(cluster: &Cluster, name: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {{name: {name}, finalizers: \
         [kubernetes.io/vac-protection]}}, driverName: {DRIVER}, parameters: {{iops: '1'}}}}"
    ));
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}}}, spec: {{storageClassName: \
         '', volumeName: {name}-none, volumeAttributesClassName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: \
         {{storage: 1Mi}}}}}}}}"
    ));
    cluster.delete(&format!("volumeattributesclass/{name}"), "");
    [format!("volumeattributesclass/{name}"), String::new()]
}

/// Takes a snapshot of the claim, and returns the name of its content.
fn snapshot(cluster: &Cluster, name: &str, driver: &str) -> String {
    cluster.apply(&format!(
        "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: photo, namespace: {name}}}, spec: \
         {{volumeSnapshotClassName: {driver}, source: {{persistentVolumeClaimName: data}}}}}}"
    ));
    let photo = || {
        cluster
            .get(["volumesnapshot", "photo", "--namespace", name])
            .unwrap_or_default()
    };
    wait("the snapshot is taken", SOON, || {
        photo()["status"]["readyToUse"] == true
    });
    photo()["status"]["boundVolumeSnapshotContentName"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The content of a snapshot that still exists.
fn content_of_a_snapshot(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    let content = snapshot(cluster, name, DRIVER);
    target(cluster, &format!("volumesnapshotcontent/{content}"), "")
}

/// Nothing is left of its driver.
fn released_volume_without_a_driver(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let held = ", finalizers: [external-provisioner.volume.kubernetes.io/finalizer]";
    volume(cluster, name, "old.example.test", held);
    claim_of_a_volume(cluster, name);
    cluster.delete("pvc/data", name);
    volume_phase(cluster, name, "Released");
    target(cluster, &format!("pv/{name}"), "")
}

/// The driver reports an error.
fn disk_that_cannot_be_deleted(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim_of(cluster, name, FAILING_DRIVER, "");
    cluster.delete("pvc/data", name);
    cluster.delete(&format!("pv/{volume}"), "");
    wait("the failure is reported", SOON, || {
        let events = cluster.get(["events", "--namespace=default"]).unwrap_or_default();
        let mut events = events["items"].as_array().into_iter().flatten();
        events.any(|event| {
            event["involvedObject"]["name"] == *volume && event["reason"] == "VolumeFailedDelete"
        })
    });
    [format!("pv/{volume}"), String::new()]
}

fn claim_from(cluster: &Cluster, name: &str, class: &str, source: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: copy, namespace: {name}}}, spec: {{storageClassName: \
         {class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}, dataSource: {{{source}}}}}}}"
    ));
}

/// The driver cannot clone, so the clone is pending.
fn source_of_a_clone(cluster: &Cluster, name: &str) -> Target {
    let held = ", finalizers: [provisioner.storage.kubernetes.io/cloning-protection]";
    bound_claim(cluster, name, held);
    claim_from(cluster, name, DRIVER, "kind: PersistentVolumeClaim, name: data");
    claim_in_deletion(cluster, name)
}

/// Nobody makes the restored volume.
fn source_of_a_restore(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    snapshot(cluster, name, DRIVER);
    let held = json!({"metadata": {"finalizers": ["provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection"]}});
    cluster.patch_by(
        "csi-provisioner",
        ["volumesnapshot", "photo", "--namespace", name],
        &held,
    );
    let source = "apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: photo";
    claim_from(cluster, name, "old.example.test", source);
    target(cluster, "volumesnapshot/photo", name)
}

/// A node with the failing driver, and an attachment of this volume to it.
fn attached(cluster: &Cluster, name: &str, volume: &str, metadata: &str) {
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: {name}}}, spec: {{drivers: [{{name: {FAILING_DRIVER}, \
         nodeID: n1}}]}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}{metadata}}}, spec: {{attacher: \
         {FAILING_DRIVER}, nodeName: {name}, source: {{persistentVolumeName: {volume}}}}}}}"
    ));
}

fn is_attached(cluster: &Cluster, name: &str) -> bool {
    let attachment = cluster.get(["volumeattachment", name]).unwrap_or_default();
    attachment["status"]["attached"] == true
}

/// A volume that is attached, and whose attachment cannot end.
fn detaching(cluster: &Cluster, name: &str) -> String {
    let volume = bound_claim_of(cluster, name, FAILING_DRIVER, "");
    attached(cluster, name, &volume, "");
    wait("the volume is attached", SOON, || is_attached(cluster, name));
    cluster.delete("pvc/data", name);
    cluster.delete(&format!("volumeattachment/{name}"), "");
    wait("the failure is recorded", SOON, || {
        let attachment = cluster.get(["volumeattachment", name]).unwrap();
        attachment["status"]["detachError"]["message"].is_string()
    });
    volume
}

fn attachment_that_cannot_end(cluster: &Cluster, name: &str) -> Target {
    detaching(cluster, name);
    [format!("volumeattachment/{name}"), String::new()]
}

fn volume_that_is_attached(cluster: &Cluster, name: &str) -> Target {
    let volume = detaching(cluster, name);
    target(cluster, &format!("pv/{volume}"), "")
}

/// The volume was removed first, so the attacher can never detach.
fn attachment_without_its_volume(cluster: &Cluster, name: &str) -> Target {
    node(cluster, name, "True");
    let held = format!(
        ", finalizers: [external-attacher/{}]",
        FAILING_DRIVER.replace('.', "-")
    );
    attached(cluster, name, &format!("none-{name}"), &held);
    target(cluster, &format!("volumeattachment/{name}"), "")
}

/// A Pod was deleted by force while its node is silent.
fn attachment_to_a_silent_node(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim_of(cluster, name, FAILING_DRIVER, "");
    cluster.apply(&format!(
        "apiVersion: v1
kind: Node
metadata: {{name: {name}, annotations: {{volumes.kubernetes.io/controller-managed-attach-detach: 'true'}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: {name}}}, spec: {{drivers: [{{name: {FAILING_DRIVER}, nodeID: n1}}]}}}}"
    ));
    let mounted = format!("kubernetes.io/csi/{FAILING_DRIVER}^{volume}");
    cluster.patch_status(["node", name], &json!({"volumesInUse": [mounted]}));
    pod(cluster, name, "Running");
    let attachment = || {
        let all = cluster.get(["volumeattachments"])?;
        let mut all = all["items"].as_array()?.iter();
        all.find(|one| one["spec"]["source"]["persistentVolumeName"] == *volume)
            .cloned()
    };
    wait("the volume is attached", SOON, || {
        attachment().is_some_and(|one| one["status"]["attached"] == true)
    });
    node(cluster, name, "Unknown");
    // Its Pod has no grace period.
    cluster.delete("pod/p", name);
    cluster.delete("pvc/data", name);
    let name = attachment().unwrap()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    [format!("volumeattachment/{name}"), String::new()]
}

fn snapshot_that_cannot_be_deleted(cluster: &Cluster, name: &str) -> Target {
    bound_claim_of(cluster, name, FAILING_DRIVER, "");
    snapshot(cluster, name, FAILING_DRIVER);
    target(cluster, "volumesnapshot/photo", name)
}
