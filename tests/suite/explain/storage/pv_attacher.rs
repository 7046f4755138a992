//! Volumes in deletion that are still attached, with the real attacher.

use super::{SOON, bound_claim};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{delete, goes, told},
    },
    harness::{Cluster, wait},
};

#[test]
fn an_attachment_to_a_missing_node_is_deleted_after_its_machine_is_off() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("nodeless");
    let _driver = cluster
        .csi_driver("nodeless.example.test")
        .with_attacher()
        .start();
    let volume = bound_claim(&ns, "nodeless.example.test");
    cluster.apply(
        "{apiVersion: v1, kind: Node, metadata: {name: nodeless}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: nodeless}, spec: {drivers: [{name: nodeless.example.test, nodeID: n1}]}}",
    );
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: nodeless}}, spec: {{attacher: \
         nodeless.example.test, nodeName: nodeless, source: {{persistentVolumeName: {volume}}}}}}}"
    ));
    wait("the volume is attached", SOON, || {
        cluster.get(["volumeattachment", "nodeless"]).unwrap()["status"]["attached"] == true
    });
    delete(cluster, "pvc/data", ns.name());
    goes(cluster, "pvc/data", ns.name());
    delete(cluster, &format!("pv/{volume}"), "");

    // While its node exists, no step deletes the attachment.
    let target = format!("pv/{volume}");
    told(cluster, &target, "").never_advises("delete volumeattachment");
    delete(cluster, "node/nodeless", "");
    delete(cluster, "csinode/nodeless", "");
    let story = told(cluster, &target, "");
    withstands_less(cluster, &target, "", 15);
    story
        .says("node nodeless does not exist any more")
        .says("DATA LOSS if the machine that was node nodeless still runs")
        .never_advises("finalizers remove")
        .is_careful();
    story.follow(cluster, "delete volumeattachment/nodeless");
    goes(cluster, "volumeattachment/nodeless", "");
    goes(cluster, &target, "");
}
