//! Volumes whose disks nobody deletes.

use serde_json::json;

use super::{CLUSTER, first, report_of};
use crate::harness::Cluster;

/// Volumes whose disks should be gone: of a missing driver, Failed, and still attached. Others must not be
/// listed: released just now, in use, with policy Retain, and already in deletion.
pub(super) fn left(cluster: &Cluster) {
    for (name, driver) in [
        ("pv-gone", "gone.example.com"),
        ("pv-fresh", "gone.example.com"),
        ("pv-bound", "csi.example.com"),
        ("pv-kept", "gone.example.com"),
        ("pv-failed", "csi.example.com"),
        ("pv-attached", "csi.example.com"),
        ("pv-going", "gone.example.com"),
    ] {
        let policy = if name == "pv-kept" { "Retain" } else { "Delete" };
        cluster.apply(&format!(
            "
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}, annotations: {{pv.kubernetes.io/provisioned-by: {driver}}}}}
spec:
  capacity: {{storage: 1Gi}}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: {policy}
  csi: {{driver: {driver}, volumeHandle: disk-of-{name}}}
  claimRef: {{apiVersion: v1, kind: PersistentVolumeClaim, namespace: default, name: {name}}}
"
        ));
    }
    for (name, phase) in [
        ("pv-gone", "Released"),
        ("pv-kept", "Released"),
        ("pv-failed", "Failed"),
        ("pv-attached", "Released"),
        ("pv-going", "Released"),
    ] {
        let status = json!({"phase": phase, "lastPhaseTransitionTime": "2025-11-01T00:00:00Z"});
        cluster.patch_status(["pv", name], &status);
    }
    // An object in deletion is listed as Terminating, so it is no leftover.
    let held = r#"--patch={"metadata": {"finalizers": ["example.com/hold"]}}"#;
    cluster
        .kubectl(["patch", "pv", "pv-going", "--type=merge", held])
        .success();
    cluster
        .kubectl(["delete", "pv", "pv-going", "--wait=false"])
        .success();
    cluster.patch_status(["pv", "pv-fresh"], &json!({"phase": "Released"}));
    cluster.patch_status(["pv", "pv-bound"], &json!({"phase": "Bound"}));
    cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: node-1}}");
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: node-1}, \
         spec: {drivers: [{name: csi.example.com, nodeID: node-1}]}}",
    );
}

#[test]
fn the_reason_why_a_disk_is_not_deleted_is_told() {
    let report = report_of(CLUSTER.plugin(["scan", "-o", "json"]));
    let left = &report["leftBehind"];
    assert_eq!(first(left, "volumes"), ["pv-attached", "pv-failed", "pv-gone"]);
    for (at, verdict, reason) in [
        (
            0,
            "waiting",
            "Released, and its disk disk-of-pv-attached is not deleted though its policy is Delete: VolumeAttachment holds \
             says that it is still attached to node node-1",
        ),
        (
            1,
            "stalled",
            "Failed, and its disk disk-of-pv-failed is not deleted though its policy is Delete: the provisioner of \
             csi.example.com never tries again what is Failed",
        ),
        (
            2,
            "orphaned",
            "Released, and its disk disk-of-pv-gone is not deleted though its policy is Delete: driver gone.example.com \
             is not installed any more",
        ),
    ] {
        let volume = &left["volumes"]["first"][at];
        assert_eq!(
            (&volume["verdict"], &volume["reason"]),
            (&json!(verdict), &json!(reason))
        );
    }
}
