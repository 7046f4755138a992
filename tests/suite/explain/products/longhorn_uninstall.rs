//! Rook and Longhorn: a cluster with pools, and a webhook whose Service was deleted first.

use serde_json::json;

use crate::{
    explain::{
        custom_resources::{apply, condition, define, going, running, status},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, refusal, release, told},
    },
    harness::{Cluster, wait},
};

#[test]
fn a_ceph_cluster_waits_for_its_pools() {
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
        .has_root("CephBlockPool replicapool: must go first")
        .says(said)
        .says("restore-deleted")
        .never_says("elsewhere")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    story.follow(cluster, "explain cephblockpools.ceph.rook.io/replicapool");
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

/// Longhorn's webhook for the objects of this namespace, without its Service.
pub fn webhook(cluster: &Cluster, name: &str, namespace: &str) {
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{"name": "validator.longhorn.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "clientConfig": {"service": {"namespace": "longhorn-system", "name": "longhorn-admission-webhook",
                "path": "/v1/webhook/validation", "port": 9502}},
            "rules": [{"apiGroups": ["longhorn.io"], "apiVersions": ["v1beta2"], "resources": ["*"],
                "operations": ["CREATE", "UPDATE", "DELETE"]}]}]});
    cluster.apply(&configuration.to_string());
}

#[test]
fn longhorn_behind_its_own_unreachable_webhook_is_rejected() {
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
    webhook(cluster, "longhorn-webhook-validator", place);
    for target in [&image, &node] {
        let story = told(cluster, target, place);
        assert_eq!(story.verdict(finalizer), "rejected", "{story}");
        story
            .has_root("ValidatingWebhookConfiguration longhorn-webhook-validator")
            .says("longhorn-admission-webhook")
            .says("DATA LOSS")
            .is_careful();
    }
    withstands_less(cluster, &image, place, 32);
    // While the webhook configuration exists, neither a user nor Longhorn can remove the finalizer.
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    let refused = ns.kubectl(["patch", &image, "--type=merge", "--patch", patch]);
    assert!(refused.stderr.contains("longhorn-admission-webhook"), "{refused}");
    let story = told(cluster, &image, place);
    story.follow(cluster, "delete validatingwebhookconfigurations");
    wait("the server no longer calls the webhook", SOON, || {
        refusal(cluster, &image, place).is_none()
    });
    for target in [&image, &node] {
        let story = told(cluster, target, place);
        assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
        story.says("DATA LOSS").is_careful();
        withstands_less(cluster, target, place, 30);
        story.follow(cluster, "finalizers remove");
        goes(cluster, target, place);
    }
}

/// Longhorn's uninstall does nothing until a user confirms that its data may be deleted.
#[test]
fn longhorn_without_a_confirmed_uninstall_names_the_setting() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("longhorn.io", "longhorn.io");
    define(group, "v1beta2", "replicas", "Replica");
    define(group, "v1beta2", "settings", "Setting");
    let ns = cluster.namespace("longhorn-flag");
    let place = ns.name();
    let setting = |value: &str| {
        apply(&json!({"apiVersion": "longhorn.io/v1beta2", "kind": "Setting",
            "metadata": {"name": "deleting-confirmation-flag", "namespace": place}, "value": value}));
    };
    setting("false");
    let target = going(
        "replicas",
        &json!({"apiVersion": "longhorn.io/v1beta2", "kind": "Replica",
            "metadata": {"name": "pvc-1-r-5f2", "namespace": place, "finalizers": [finalizer]}}),
        30,
    );
    // The uninstall Job as the chart creates it, failed.
    ns.apply("{apiVersion: batch/v1, kind: Job, metadata: {name: longhorn-uninstall, labels: {app.kubernetes.io/name: longhorn}}, spec: {backoffLimit: 1, suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: longhorn-uninstall, image: i}]}}}}");
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let failed = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit", "lastTransitionTime": now})
    };
    ns.patch_status(
        ["job", "longhorn-uninstall"],
        &json!({"startTime": now, "failed": 2, "conditions": [failed("FailureTarget"), failed("Failed")]}),
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .has_root("Setting deleting-confirmation-flag: is false")
        .has_root("Job longhorn-uninstall: has given up (BackoffLimitExceeded)")
        .says("cannot uninstall Longhorn because deleting-confirmation-flag is set to false")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 32);
    // A Setting of that name elsewhere does not belong to this Longhorn. A confirmed Setting blocks nothing.
    story.follow(cluster, "patch settings.longhorn.io/deleting-confirmation-flag");
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .never_says("Setting deleting-confirmation-flag: is false")
        .follow(cluster, "finalizers remove");
    goes(cluster, &target, place);
}
