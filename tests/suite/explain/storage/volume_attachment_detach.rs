//! Disks that are attached to a node.

use serde_json::json;

use super::{SOON, bound_claim, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::withstands_less,
    harness::{Cluster, wait},
};

#[test]
fn a_disk_that_cannot_be_detached_names_its_reason() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("attached");
    let driver = cluster.csi_driver("detach.example.test").with_attacher().start();
    let volume = bound_claim(&ns, "detach.example.test");
    cluster.apply(
        "{apiVersion: v1, kind: Node, metadata: {name: detach-node}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: detach-node}, spec: {drivers: [{name: detach.example.test, nodeID: n1}]}}",
    );
    let attachment = |name: &str, volume: &str, more: &str| {
        cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}{more}}}, spec: \
             {{attacher: detach.example.test, nodeName: detach-node, source: {{persistentVolumeName: {volume}}}}}}}"
        ));
    };
    let get = |name: &str| cluster.get(["volumeattachment", name]);
    attachment("detach-one", &volume, "");
    wait("the volume is attached", SOON, || {
        get("detach-one").unwrap()["status"]["attached"] == true
    });
    driver.fails("ControllerUnpublishVolume", "device is busy");
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    delete(cluster, &["volumeattachment", "detach-one"]);
    delete(cluster, &["pv", &volume]);
    wait("the failure is recorded", SOON, || {
        get("detach-one").unwrap()["status"]["detachError"]["message"].is_string()
    });
    let pv = format!("pv/{volume}");
    let said = explain(cluster, &[&pv], None);
    withstands_less(cluster, &pv, "", 15);
    assert_eq!(
        wait_for(&said, "external-attacher")["verdict"],
        "waiting",
        "{said:#}"
    );
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "waiting",
        "{said:#}"
    );
    says(&said, "cannot be detached from node detach-node");
    says(&said, "device is busy");
    assert_eq!(
        command(&said, "see why the disk is not detached"),
        "kubectl finalizers explain volumeattachment/detach-one"
    );
    let said = explain(cluster, &["volumeattachment/detach-one"], None);
    withstands_less(cluster, "volumeattachment/detach-one", "", 14);
    assert_eq!(
        wait_for(&said, "external-attacher")["verdict"],
        "failing",
        "{said:#}"
    );
    says(&said, "device is busy");
    never_says(&said, "take this one finalizer off");
    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("ControllerUnpublishVolume");
    wait("all objects are deleted", SOON, || {
        get("detach-one").is_none() && cluster.get(["pv", &volume]).is_none()
    });

    // The volume object was removed first, so the attacher can never detach.
    attachment(
        "detach-two",
        "pvc-lost",
        ", finalizers: [external-attacher/detach-example-test]",
    );
    delete(cluster, &["volumeattachment", "detach-two"]);
    // A node that does not report may still write to the disk.
    let said = explain(cluster, &["volumeattachment/detach-two"], None);
    never_says(&said, "finalizers remove");
    // No kubelet reports it, so kube-controller-manager calls it silent again within a minute.
    let reports = || {
        let heard = jiff::Timestamp::now().to_string();
        let ready = json!({"type": "Ready", "status": "True", "lastHeartbeatTime": heard});
        cluster.patch_status(["node", "detach-node"], &json!({"conditions": [ready]}));
    };
    reports();
    let said = explain(cluster, &["volumeattachment/detach-two"], None);
    withstands_less(cluster, "volumeattachment/detach-two", "", 14);
    says(&said, "volume pvc-lost does not exist any more");
    says(&said, "it stays for ever");
    says(&said, "DATA LOSS if node detach-node still runs");
    reports();
    run(
        cluster,
        &command(&said, "DATA LOSS if node detach-node still runs"),
    );
    wait("the object is deleted", SOON, || get("detach-two").is_none());
    delete(cluster, &["node,csinode", "detach-node"]);
}
