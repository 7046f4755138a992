//! A namespace with data, an empty namespace, and those that every cluster needs.

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, goes, release, told, told_to},
    },
    harness::{Namespace, wait},
};

/// Creates a volume of 10 Gi with this reclaim policy, bound to a claim of the same name.
fn bound(ns: &Namespace, claim: &str, policy: &str) -> String {
    let volume = WORLD.unique(claim);
    WORLD.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {volume}}}, spec: {{capacity: {{storage: 10Gi}}, \
         accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: {policy}, csi: {{driver: disks.example.test, \
         volumeHandle: disk-of-{volume}}}}}}}"
    ));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {claim}}}, spec: {{storageClassName: '', \
         volumeName: {volume}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 10Gi}}}}}}}}"
    ));
    wait("the claim is bound", SOON, || {
        ns.get(["pvc", claim]).unwrap()["status"]["phase"] == "Bound"
    });
    volume
}

#[test]
fn disks_follow_their_reclaim_policy_and_load_balancers_are_deleted() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("shop");
    let lost = [bound(&ns, "orders", "Delete"), bound(&ns, "carts", "Delete")];
    let kept = bound(&ns, "photos", "Retain");
    let front = |name: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: {name}{more}}}, spec: {{type: LoadBalancer, ports: [{{port: 80}}]}}}}"
        )
    };
    ns.apply(&front(
        "front",
        ", finalizers: [service.kubernetes.io/load-balancer-cleanup]",
    ));
    ns.apply(&front("local", ""));

    let target = format!("ns/{}", ns.name());
    let story = told(cluster, &target, "");
    story
        .fates("destroyed", "disks behind its claims: 2, of 20Gi in all")
        .fates("destroyed", &lost[0])
        .fates("destroyed", "load balancers of Services, with their addresses: 1: front")
        .fates("released", "without a finalizer: 1")
        .fates("kept", &format!("disks behind its claims: 1, of 10Gi in all; their reclaim policy is Retain; the volumes are Released then: {kept}"))
        .is_careful();
    assert!(story.effects_with("harmless").is_empty(), "{story}");
    assert!(
        !story.effects_with("destroyed").concat().contains(&kept),
        "{story}"
    );
    withstands_less(cluster, &target, "", for_all_types(cluster) + 20);

    // The steps keep the disks, and the namespace is deleted.
    story.follow(cluster, "--only-retain");
    let story = told(cluster, &target, "");
    story.fates("kept", "disks behind its claims: 3, of 30Gi in all");
    assert!(
        !story.effects_with("destroyed").concat().contains("disks"),
        "{story}"
    );
    release(cluster, "service/front", ns.name());
    story.follow(cluster, "delete namespace");
    goes(cluster, &target, "");
    for volume in lost.iter().chain([&kept]) {
        assert!(cluster.get(["pv", volume]).is_some(), "{volume}");
    }
}

#[test]
fn an_empty_namespace_is_harmless() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("empty");
    wait("the namespace has its default objects", SOON, || {
        ns.get(["serviceaccount", "default"]).is_some()
    });
    let target = format!("ns/{}", ns.name());
    // Another test may remove its type while all types are read.
    let mut story = told(cluster, &target, "");
    wait("no type vanishes while it is read", SOON, || {
        let is_whole = !story.to_string().contains("\"Vanished\"");
        if !is_whole {
            story = told(cluster, &target, "");
        }
        is_whole
    });
    story.fates("harmless", "nothing else is lost");
    assert!(story.commands().is_empty(), "{story}");
    let blind = cluster.user("few-rights").may("get,list", "namespaces").create();
    let story = told_to(cluster, &blind, &target, "");
    story.fates("unknown", "which claims are in it");
    assert!(story.effects_with("harmless").is_empty(), "{story}");
}

#[test]
fn no_command_deletes_a_namespace_that_every_cluster_needs() {
    let cluster = &*WORLD;
    for name in ["default", "kube-system", "kube-public"] {
        let refused = cluster.kubectl(["delete", "namespace", name, "--dry-run=server"]);
        assert!(
            refused.stderr.contains("this namespace may not be deleted"),
            "{refused}"
        );
    }
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let story = told(cluster, &format!("ns/{name}"), "");
        story
            .never_advises("delete namespace")
            .fates("kept", "the cluster needs this namespace");
        assert!(story.effects_with("harmless").is_empty(), "{story}");
    }
}
