//! Attachments to a node, or of a volume, that does not exist any more.

use serde_json::json;

use super::{CLUSTER, first, report_of};
use crate::harness::Cluster;

/// Attachments that nobody will end. Others must not be listed: in order, of a volume that is left behind, already in
/// deletion, and created just now.
pub(super) fn left(cluster: &Cluster) {
    for (name, node, volume, created) in [
        ("to-a-gone-node", "node-9", "pv-bound", "2025-11-01T00:00:00Z"),
        (
            "of-a-gone-volume",
            "node-1",
            "pv-of-yesterday",
            "2025-11-01T00:00:00Z",
        ),
        ("in-order", "node-1", "pv-bound", "2025-11-01T00:00:00Z"),
        ("holds", "node-1", "pv-attached", "2025-11-01T00:00:00Z"),
        ("going", "node-9", "pv-bound", "2025-11-01T00:00:00Z"),
    ] {
        let finalizers = if name == "going" {
            json!(["example.com/hold"])
        } else {
            json!([])
        };
        let object = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
            "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": created, "finalizers": finalizers},
            "spec": {"attacher": "csi.example.com", "nodeName": node, "source": {"persistentVolumeName": volume}},
            "status": {"attached": true},
        });
        let key = format!("/registry/volumeattachments/{name}");
        cluster
            .etcdctl(["put", key.as_str(), object.to_string().as_str()])
            .success();
    }
    cluster
        .kubectl(["delete", "volumeattachment", "going", "--wait=false"])
        .success();
    // Its Node is missing too, but it was created just now.
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: fresh}, \
         spec: {attacher: csi.example.com, nodeName: node-8, source: {persistentVolumeName: pv-bound}}}",
    );
}

#[test]
fn an_attachment_names_the_node_or_the_volume_that_is_gone() {
    let report = report_of(CLUSTER.plugin(["scan", "-o", "json"]));
    let left = &report["leftBehind"];
    assert_eq!(first(left, "attachments"), ["of-a-gone-volume", "to-a-gone-node"]);
    for (at, reason) in [
        (0, "volume pv-of-yesterday does not exist any more"),
        (
            1,
            "node node-9 does not exist any more, and nobody has asked to detach the disk",
        ),
    ] {
        let attachment = &left["attachments"]["first"][at];
        assert_eq!(attachment["verdict"], "stalled", "{attachment:#}");
        assert!(
            attachment["reason"].as_str().unwrap().contains(reason),
            "{attachment:#}"
        );
    }
}
