//! Pods that no kubelet confirms to have stopped.

use jiff::Timestamp;
use serde_json::json;

use super::{KUBELET, node, resource_claim::allocated};
use crate::{
    explain::{
        less_is_weaker::{withstands_less, withstands_real_rights},
        replayed::replayed,
        told::{SOON, delete, goes, told, told_to},
    },
    harness::{Cluster, Namespace, has, wait},
};

/// Creates a running Pod `p` on that Node and deletes it. Its grace period of one second is over.
pub fn overdue(ns: &Namespace, node: &str, metadata: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p{metadata}}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1, \
         containers: [{{name: c, image: i}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    wait("its grace period is over", SOON, || {
        let pod = ns.get(["pod", "p"]).unwrap();
        let until = pod["metadata"]["deletionTimestamp"].as_str().unwrap();
        until.parse::<Timestamp>().unwrap() < Timestamp::now() - jiff::SignedDuration::from_secs(2)
    });
}

#[test]
fn a_pod_on_a_dead_node_waits_for_its_kubelet() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("dead-node");
    let node = node(cluster, "Unknown");
    // The kind of the owner decides. A real StatefulSet would release a Pod with such a name.
    overdue(
        &ns,
        &node,
        ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: made-up, controller: true}]",
    );

    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .has_root(&format!("Node {node}: not ready"))
        .says("only the kubelet of")
        .says("StatefulSet web then starts p again elsewhere")
        .says("Its volumes (data) may still be mounted")
        .never_advises("--force")
        .is_careful();
    withstands_real_rights(cluster, "pod/p", ns.name(), 8);

    let reader = cluster
        .user("no-nodes")
        .may("get,list", "pods,namespaces")
        .create();
    let story = told_to(cluster, &reader, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "unknown");
    assert!(story.unread().contains("nodes"), "{story}");

    told(cluster, "pod/p", ns.name()).follow(cluster, "out-of-service");
    told(cluster, "pod/p", ns.name())
        .says("declared out of service")
        .never_advises("taint");
    goes(cluster, "pod/p", ns.name());
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_pod_on_a_deleted_node_waits_for_the_pod_garbage_collector() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("no-node");
    let node = node(cluster, "Unknown");
    overdue(&ns, &node, "");
    delete(cluster, &format!("node/{node}"), "");
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .says("does not exist")
        .says("removed by kube-controller-manager (pod-garbage-collector)")
        .says("at the latest")
        .never_advises("--force")
        .never_advises("taint");
    let until = story.0["outlook"][0]["then"].as_str().unwrap();
    let until = until.split("removes it by ").nth(1).unwrap();
    let until: Timestamp = until.split(' ').next().unwrap().parse().unwrap();
    goes(cluster, "pod/p", ns.name());
    // A busy machine is slow. One more minute is more than promised, but still correct.
    assert!(Timestamp::now() < until + jiff::SignedDuration::from_mins(1));
}

#[test]
fn a_pod_on_a_ready_node_waits_for_the_kubelet() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("ready");
    let node = node(cluster, "True");
    overdue(&ns, &node, "");
    let story = told(cluster, "pod/p", ns.name());
    replayed(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .says("its kubelet cleans up")
        .never_advises("--force")
        .never_says("not ready");

    // The Ready condition may be old; an expired Lease is better evidence.
    let renewed = Timestamp::now() - jiff::SignedDuration::from_mins(10);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: kube-node-lease}}}}
---
{{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {{name: {node}, namespace: kube-node-lease}}, spec: {{holderIdentity: {node}, leaseDurationSeconds: 40, renewTime: \"{renewed:.6}\"}}}}"
    ));
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story.has_root(&format!(
        "Node {node}: Ready by its status, but its kubelet has not renewed its Lease"
    ));
    withstands_less(cluster, "pod/p", ns.name(), 8);
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_ready_node_without_the_driver_of_a_volume_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("no-driver");
    let node = node(cluster, "True");
    let registered = |drivers: &str| {
        cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: {node}}}, spec: {{drivers: [{drivers}]}}}}"
        ));
    };
    registered("");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1, \
         containers: [{{name: c, image: i}}], volumes: [{{name: v, csi: {{driver: secrets.example.test}}}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    cluster.deleted_earlier(&format!("pods/{}/p", ns.name()), 600);
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "failing", "{story}");
    story
        .has_root(&format!("CSINode {node}"))
        .says("lacks driver secrets.example.test of its volumes")
        .says("spec.nodeName=")
        .never_advises("--force")
        .is_careful();
    withstands_less(cluster, "pod/p", ns.name(), 9);
    registered("{name: secrets.example.test, nodeID: node}");
    told(cluster, "pod/p", ns.name()).never_says("lacks driver");
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    delete(cluster, &format!("csinode/{node}"), "");
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_ready_node_without_the_driver_of_a_device_is_named() {
    if !has("resource.k8s.io/v1", 34) {
        return;
    }
    let cluster = Cluster::shared();
    let ns = cluster.namespace("no-device-driver");
    let node = node(cluster, "True");
    allocated(&ns, "gpu", &json!([]));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1, \
         resourceClaims: [{{name: gpu, resourceClaimName: gpu}}], containers: [{{name: c, image: i}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    cluster.deleted_earlier(&format!("pods/{}/p", ns.name()), 600);
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "failing", "{story}");
    story
        .has_root(&format!("Node {node}"))
        .says("driver gpu.example.test, which the kubelet needs to give back devices of the pod")
        .says("spec.nodeName=")
        .never_advises("--force")
        .is_careful();
    withstands_less(cluster, "pod/p", ns.name(), 10);
    // A slice of another node does not help. One of this node says that the driver is there.
    let offered = |on: &str| {
        cluster.apply(&format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {on}-gpu}}, spec: {{driver: \
             gpu.example.test, nodeName: {on}, pool: {{name: {on}, generation: 1, resourceSliceCount: 1}}}}}}"
        ));
    };
    let elsewhere = format!("{node}-other");
    offered(&elsewhere);
    told(cluster, "pod/p", ns.name()).says("driver gpu.example.test");
    offered(&node);
    told(cluster, "pod/p", ns.name()).never_says("gpu.example.test");
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    for on in [&elsewhere, &node] {
        delete(cluster, &format!("resourceslice/{on}-gpu"), "");
    }
    delete(cluster, &format!("node/{node}"), "");
}
