//! Rook and Longhorn: a cluster with pools in it, and a webhook that went first.

use serde_json::json;

use super::{apply, condition, define, going, running, status};
use crate::explain::{
    holder::WORLD,
    replayed::replayed,
    taken_away::withstands_less,
    told::{delete, goes, release, told},
};

#[test]
fn a_ceph_cluster_with_pools() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("ceph.rook.io", "cephcluster.ceph.rook.io");
    define(group, "v1", "cephclusters", "CephCluster");
    define(group, "v1", "cephblockpools", "CephBlockPool");
    running(
        "rook-ceph",
        "rook-ceph-operator",
        json!({"app": "rook-ceph-operator"}),
        group,
    );
    let (ns, other) = (cluster.namespace("ceph"), cluster.namespace("ceph"));
    let place = ns.name();
    let pool = |name: &str, place: &str| {
        apply(&json!({"apiVersion": "ceph.rook.io/v1", "kind": "CephBlockPool",
            "metadata": {"name": name, "namespace": place, "finalizers": ["cephblockpool.ceph.rook.io"]},
            "spec": {"replicated": {"size": 3}}}));
    };
    pool("replicapool", place);
    pool("elsewhere", other.name());
    let target = going(
        "cephclusters",
        &json!({"apiVersion": "ceph.rook.io/v1", "kind": "CephCluster",
            "metadata": {"name": "rook", "namespace": place, "finalizers": [finalizer]}, "spec": {"dataDirHostPath": "/var/lib/rook"}}),
        10,
    );
    let said =
        "CephCluster will not be deleted until all dependents are removed: CephBlockPool: [replicapool]";
    status(
        &target,
        place,
        &json!({"conditions": [condition("DeletionIsBlocked", "True", "ObjectHasDependents", said)]}),
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "in-use", "{story}");
    story
        .has_root("CephBlockPool replicapool: is of a type that must be empty first")
        .says(said)
        .says("restore-deleted")
        .never_says("elsewhere")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    story.follow(cluster, "explain cephblockpools.ceph.rook.io replicapool");
    for (name, place) in [("replicapool", place), ("elsewhere", other.name())] {
        let name = format!("cephblockpools.ceph.rook.io/{name}");
        delete(cluster, &name, place);
        release(cluster, &name, place);
        goes(cluster, &name, place);
    }
    told(cluster, &target, place).never_says("must be empty first");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

#[test]
fn longhorn_behind_its_own_dead_webhook() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("longhorn.io", "longhorn.io");
    define(group, "v1beta2", "engineimages", "EngineImage");
    define(group, "v1beta2", "nodes", "Node");
    let ns = cluster.namespace("longhorn-system");
    let place = ns.name();
    let object = |kind: &str, name: &str| {
        json!({"apiVersion": "longhorn.io/v1beta2", "kind": kind,
            "metadata": {"name": name, "namespace": place, "finalizers": [finalizer]}})
    };
    let image = going("engineimages", &object("EngineImage", "ei-51cc7b9c"), 30);
    let node = going("nodes", &object("Node", "worker-1"), 30);
    apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "longhorn-webhook-validator"},
        "webhooks": [{"name": "validator.longhorn.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "clientConfig": {"service": {"namespace": "longhorn-system", "name": "longhorn-admission-webhook",
                "path": "/v1/webhook/validation", "port": 9502}},
            "rules": [{"apiGroups": ["longhorn.io"], "apiVersions": ["v1beta2"], "resources": ["*"],
                "operations": ["CREATE", "UPDATE", "DELETE"]}]}]}),
    );
    for target in [&image, &node] {
        let story = told(cluster, target, place);
        assert_eq!(story.verdict(finalizer), "rejected", "{story}");
        story
            .has_root("ValidatingWebhookConfiguration longhorn-webhook-validator")
            .says("longhorn-admission-webhook")
            .says("DATA LOSS")
            .is_careful();
    }
    replayed(cluster, &image, place);
    // As long as it is there nobody can take anything off, neither by hand nor by Longhorn.
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    let refused = ns.kubectl(["patch", &image, "--type=merge", "--patch", patch]);
    assert!(refused.stderr.contains("longhorn-admission-webhook"), "{refused}");
    let story = told(cluster, &image, place);
    story.follow(cluster, "delete validatingwebhookconfigurations");
    for target in [&image, &node] {
        let story = told(cluster, target, place);
        assert_ne!(story.verdict(finalizer), "rejected", "{story}");
        release(cluster, target, place);
        goes(cluster, target, place);
    }
}
