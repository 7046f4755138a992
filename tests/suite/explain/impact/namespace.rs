//! A namespace with data, a namespace whose objects need their own controller, and an empty namespace.

use serde_json::json;

use super::{WORLD, operator};
use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, goes, release, told, told_to},
    },
    harness::{Namespace, wait},
    stuck::custom_type,
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
fn a_controller_that_is_deleted_before_its_objects_leaves_them_stuck() {
    let cluster = &*WORLD;
    custom_type(cluster, "kafka.strimzi.io", "kafkatopics", "KafkaTopic");
    let topic = |name: &str, place: &str| {
        cluster.apply(
            &json!({"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaTopic", "metadata": {"name": name,
                "namespace": place, "labels": {"strimzi.io/cluster": "prod"}, "finalizers": ["strimzi.io/topic-operator"]}})
            .to_string(),
        );
    };
    let labels = json!({"app.kubernetes.io/name": "entity-operator", "strimzi.io/cluster": "prod"});
    operator("kafka", "prod-entity-operator", &labels);
    topic("payments", "kafka");
    let ns = cluster.namespace("topics");
    topic("elsewhere", ns.name());

    let story = told(cluster, "ns/kafka", "");
    story
        .fates("stuck", "which runs in kafka itself and goes first: payments")
        .fates("stuck", "1 kafkatopics.kafka.strimzi.io with strimzi.io/topic-operator. Nobody else was found who removes that: elsewhere")
        .is_careful();
    withstands_less(cluster, "ns/kafka", "", for_all_types(cluster) + 20);

    // The other namespace has only objects of another controller, which runs.
    let target = format!("ns/{}", ns.name());
    let story = told(cluster, &target, "");
    story.fates("released", "It runs");
    assert!(story.effects_with("stuck").is_empty(), "{story}");
    let words = [
        "scale",
        "deployment",
        "prod-entity-operator",
        "--namespace=kafka",
        "--replicas=0",
    ];
    cluster.kubectl(words).success();
    let story = told(cluster, &target, "");
    story.fates("stuck", "It was switched off");
    release(cluster, "kafkatopics.kafka.strimzi.io/elsewhere", ns.name());
    release(cluster, "kafkatopics.kafka.strimzi.io/payments", "kafka");
}

#[test]
fn an_empty_namespace_is_harmless() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("empty");
    wait("the namespace has its default objects", SOON, || {
        ns.get(["serviceaccount", "default"]).is_some()
    });
    let target = format!("ns/{}", ns.name());
    let story = told(cluster, &target, "");
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
