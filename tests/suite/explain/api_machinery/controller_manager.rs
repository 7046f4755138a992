//! Objects that wait for a kube-controller-manager that does not run.

use jiff::{SignedDuration, Timestamp};

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, condition, delete, goes, release, told, told_to},
    },
    harness::{Cluster, wait},
};

#[test]
fn a_stopped_controller_manager_is_named() {
    let cluster = &Cluster::start();
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: halted}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: halted, finalizers: [example.test/keep]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Mi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: lost, namespace: default}, spec: {nodeName: nowhere, terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}}",
    );
    wait("the claim is protected", SOON, || {
        cluster.get(["pvc", "data"]).unwrap()["metadata"]
            .get("finalizers")
            .is_some()
    });
    cluster.patch_status(["pod", "lost"], &serde_json::json!({"phase": "Running"}));
    cluster.controller_manager().kill();
    delete(cluster, "ns/halted", "");
    delete(cluster, "pvc/data", "default");
    delete(cluster, "pod/lost", "default");
    std::thread::sleep(std::time::Duration::from_secs(3));

    // So short a silence proves nothing.
    told(cluster, "ns/halted", "").never_says("does not run");

    // Time passes.
    let renewed = Timestamp::now() - SignedDuration::from_secs(690);
    let patch = format!("{{\"spec\":{{\"renewTime\":\"{renewed:.6}\"}}}}");
    cluster
        .kubectl([
            "patch",
            "lease",
            "kube-controller-manager",
            "-n",
            "kube-system",
            "--type=merge",
            "-p",
            &patch,
        ])
        .success();
    for (target, namespace, finalizer) in [
        ("ns/halted", "", "kubernetes"),
        ("pvc/data", "default", "kubernetes.io/pvc-protection"),
        ("pod/lost", "default", ""),
    ] {
        let story = told(cluster, target, namespace);
        assert!(
            ["waiting", "stalled"].contains(&story.verdict(finalizer)),
            "{story}"
        );
        story
            .has_root("Lease kube-controller-manager: last renewed 11m ago")
            .never_advises("finalizers nudge")
            .never_advises("--force")
            .never_advises("finalizers remove")
            .is_careful();
        assert!(story.commands()[0].contains("kube-controller-manager"), "{story}");
        withstands_less(cluster, target, namespace, for_all_types(cluster));
    }

    // Without the right to read the Lease, the explanation does not mention it.
    let reader = cluster
        .user("no-leases")
        .may(
            "get,list",
            "namespaces,persistentvolumeclaims,persistentvolumes,pods,nodes,configmaps",
        )
        .create();
    let story = told_to(cluster, &reader, "pvc/data", "default");
    story.never_says("does not run");
    assert!(story.unread().contains("leases"), "{story}");

    cluster.controller_manager().start();
    goes(cluster, "pvc/data", "default");
    condition(cluster, "halted", "NamespaceFinalizersRemaining", "True");
    release(cluster, "configmap/c", "halted");
    goes(cluster, "ns/halted", "");
}
