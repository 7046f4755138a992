//! Clusters where a part of Kubernetes itself does not respond.

use jiff::{SignedDuration, Timestamp};

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, condition, delete, goes, release, told, told_to},
    },
    harness::{Cluster, wait},
    stuck::dead_api_group,
};

#[test]
fn an_unavailable_api_group_stops_every_namespace() {
    let cluster = &Cluster::start();
    dead_api_group(cluster);
    for name in ["one", "two"] {
        cluster.kubectl(["create", "namespace", name]).success();
        delete(cluster, &format!("ns/{name}"), "");
        condition(cluster, name, "NamespaceDeletionDiscoveryFailure", "True");
    }
    let story = told(cluster, "ns/one", "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("APIService v1beta1.metrics.k8s.io: API group metrics.k8s.io/v1beta1 does not answer")
        .says("ServiceNotFound")
        .says("Discovery failed for some groups, 1 failing")
        .never_advises("/finalize")
        .is_careful();
    assert_eq!(story.roots().len(), 1, "{story}");
    withstands_less(cluster, "ns/one", "", for_all_types(cluster));

    // Only the namespace can be read. What discovery reports is still true.
    let reader = cluster.user("poor").may("get", "namespaces").create();
    let story = told_to(cluster, &reader, "ns/one", "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("APIService v1beta1.metrics.k8s.io")
        .never_says("; nothing is left in it");

    // The namespace has finalizers in both lists, content, and the unavailable group. Each cause is named once.
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: both, finalizers: [controller.cattle.io/namespace-auth]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: both, finalizers: [example.test/keep]}}",
    );
    delete(cluster, "ns/both", "");
    condition(cluster, "both", "NamespaceFinalizersRemaining", "True");
    let story = told(cluster, "ns/both", "");
    // No name of Rancher exists here. That is one sign, and many controllers may change namespaces.
    assert_eq!(story.verdict("controller.cattle.io/namespace-auth"), "unknown");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    for cause in ["APIService v1beta1.metrics.k8s.io: ", "ConfigMap c: "] {
        let named = story
            .roots()
            .iter()
            .filter(|root| root.starts_with(cause))
            .count();
        assert_eq!(named, 1, "{cause}\n{story}");
    }
    story.is_careful().never_advises("finalizers finalize");

    told(cluster, "ns/two", "").follow(cluster, "kubectl delete apiservice/v1beta1.metrics.k8s.io");
    release(cluster, "configmap/c", "both");
    release(cluster, "ns/both", "");
    goes(cluster, "ns/both", "");
    goes(cluster, "ns/one", "");
    goes(cluster, "ns/two", "");
}

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
