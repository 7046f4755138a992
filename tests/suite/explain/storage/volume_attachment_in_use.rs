//! Disks on nodes, with the real attach/detach controller and the real attacher.

use serde_json::json;

use super::{SOON, bound_claim};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{delete, goes, told, told_to},
    },
    harness::{Cluster, wait},
};

#[test]
fn a_silent_node_keeps_a_disk_until_its_machine_is_reported_off() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("silent");
    let _driver = cluster.csi_driver("silent.example.test").with_attacher().start();
    let volume = bound_claim(&ns, "silent.example.test");
    cluster.apply(
        "apiVersion: v1
kind: Node
metadata: {name: silent-node, annotations: {volumes.kubernetes.io/controller-managed-attach-detach: 'true'}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: silent-node}, spec: {drivers: [{name: silent.example.test, nodeID: n1}]}}",
    );
    let mounted = format!("kubernetes.io/csi/silent.example.test^{volume}");
    cluster.patch_status(["node", "silent-node"], &json!({"volumesInUse": [mounted]}));
    ns.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: {nodeName: silent-node, containers: [{name: c, image: i}],
          volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}",
    );
    let attachment = || {
        let all = cluster.get(["volumeattachments"])?;
        let mut all = all["items"].as_array().unwrap().iter();
        all.find(|one| one["spec"]["source"]["persistentVolumeName"] == volume.as_str())
            .cloned()
    };
    wait("the volume is attached", SOON, || {
        attachment().is_some_and(|one| one["status"]["attached"] == true)
    });
    let name = attachment().unwrap()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let target = format!("volumeattachment/{name}");
    let finalizer = "external-attacher/silent-example-test";

    // A Pod uses the disk there: no fault.
    let story = told(cluster, &target, "");
    withstands_less(cluster, &target, "", 15);
    assert_eq!(story.verdict(finalizer), "in-use");
    story
        .has_root("Pod user")
        .never_says("six minutes")
        .never_advises("taint")
        .never_advises("finalizers nudge");

    // The Pod is force-deleted while its node is silent; then the claim and the volume are deleted.
    ns.kubectl(["delete", "pod", "user", "--force", "--grace-period=0"])
        .success();
    delete(cluster, "pvc/data", ns.name());
    goes(cluster, "pvc/data", ns.name());
    delete(cluster, &format!("pv/{volume}"), "");
    let story = told(cluster, &target, "");
    withstands_less(cluster, &target, "", 15);
    assert_eq!(story.verdict(finalizer), "waiting");
    story
        .has_root("Node silent-node: is not Ready")
        .says("six minutes")
        .says("DATA LOSS if node silent-node still runs and writes")
        .never_advises("finalizers remove")
        .is_careful();
    let story = told(cluster, &format!("pv/{volume}"), "");
    withstands_less(cluster, &format!("pv/{volume}"), "", 15);
    assert_eq!(story.verdict(finalizer), "waiting");
    assert_eq!(
        story.verdict("external-provisioner.volume.kubernetes.io/finalizer"),
        "waiting"
    );
    story
        .has_root("Node silent-node: is not Ready")
        .never_advises("finalizers remove")
        .is_careful();

    // A user who may not read Nodes is not told their state.
    let reader = cluster
        .user("no-nodes")
        .may(
            "get,list",
            "persistentvolumes,pods,volumeattachments.storage.k8s.io",
        )
        .create();
    let weaker = told_to(cluster, &reader, &target, "");
    assert_eq!(weaker.verdict(finalizer), "unknown");
    weaker.never_says("is not Ready");

    story.follow(cluster, "node.kubernetes.io/out-of-service");
    goes(cluster, &target, "");
    goes(cluster, &format!("pv/{volume}"), "");
    delete(cluster, "node/silent-node", "");
    delete(cluster, "csinode/silent-node", "");
}

#[test]
fn a_removed_node_and_a_disk_that_was_never_attached() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("removed");
    let driver = cluster.csi_driver("removed.example.test").with_attacher().start();
    let volume = bound_claim(&ns, "removed.example.test");
    cluster.apply(
        "{apiVersion: v1, kind: Node, metadata: {name: removed-node}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: removed-node}, spec: {drivers: [{name: removed.example.test, nodeID: n1}]}}",
    );
    let attach = |name: &str| {
        cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}}}, spec: {{attacher: \
             removed.example.test, nodeName: removed-node, source: {{persistentVolumeName: {volume}}}}}}}"
        ));
    };
    let status = |name: &str| cluster.get(["volumeattachment", name]).unwrap()["status"].clone();
    let finalizer = "external-attacher/removed-example-test";
    attach("removed-one");
    wait("the volume is attached", SOON, || {
        status("removed-one")["attached"] == true
    });
    driver.fails("ControllerUnpublishVolume", "instance i-12 not found");
    delete(cluster, "volumeattachment/removed-one", "");
    delete(cluster, "node/removed-node", "");
    delete(cluster, "csinode/removed-node", "");
    wait("the failure is recorded", SOON, || {
        status("removed-one")["detachError"]["message"].is_string()
    });
    let story = told(cluster, "volumeattachment/removed-one", "");
    withstands_less(cluster, "volumeattachment/removed-one", "", 15);
    assert_eq!(story.verdict(finalizer), "failing");
    story
        .says("instance i-12 not found")
        .says("node removed-node does not exist any more")
        .never_says("it stays for ever")
        .never_advises("finalizers remove")
        .is_careful();

    // The volume is in deletion, so another attachment comes too late.
    delete(cluster, &format!("pv/{volume}"), "");
    attach("removed-two");
    // The attacher may learn of the deletion a moment later, and fails for another reason first.
    wait("attaching fails", SOON, || {
        let message = &status("removed-two")["attachError"]["message"];
        message
            .as_str()
            .is_some_and(|message| message.contains("is marked for deletion"))
    });
    let late = cluster.get(["volumeattachment", "removed-two"]).unwrap();
    if late["metadata"]["finalizers"].is_array() {
        let story = told(cluster, "volumeattachment/removed-two", "");
        withstands_less(cluster, "volumeattachment/removed-two", "", 15);
        assert_eq!(story.verdict(finalizer), "failing");
        story.says("attaching fails").says("is marked for deletion");
    }
    delete(cluster, "volumeattachment/removed-two", "");
    goes(cluster, "volumeattachment/removed-two", "");

    driver.heals("ControllerUnpublishVolume");
    story.nudge(cluster);
    goes(cluster, "volumeattachment/removed-one", "");
}
