//! CloudNativePG: the instance manager in the primary Pod removes the finalizer of a database, not the
//! operator.

use serde_json::{Value, json};

use crate::{
    explain::{
        custom_resources::{define, going, running},
        holder::WORLD,
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{goes, release, told},
    },
    harness::Namespace,
};

/// Creates the primary Pod of a cluster as its kubelet reports it, with the account that the operator creates.
fn primary(ns: &Namespace, of: &str) {
    ns.apply(&format!(
        "
{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: {of}}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {of}}}
rules: [{{apiGroups: [postgresql.cnpg.io], resources: [databases, databases/status], verbs: [get, list, watch, update]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {of}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {of}}}
subjects: [{{kind: ServiceAccount, name: {of}}}]
"
    ));
    let name = format!("{of}-1");
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"cnpg.io/cluster": of, "cnpg.io/instanceRole": "primary"}},
        "spec": {"nodeName": WORLD.node(), "serviceAccountName": of, "containers": [{"name": "postgres", "image": "registry.example/postgresql:18"}]}});
    ns.apply(&pod.to_string());
    let ready: Value = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    ns.patch_status(["pod", &name], &ready);
}

#[test]
fn a_database_without_a_primary_names_its_cluster() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("postgresql.cnpg.io", "cnpg.io/deleteDatabase");
    define(group, "v1", "databases", "Database");
    running(
        "cnpg-system",
        "cnpg-controller-manager",
        json!({"app.kubernetes.io/name": "cloudnative-pg"}),
        group,
    );
    let (ns, elsewhere) = (cluster.namespace("shop"), cluster.namespace("shop"));
    let place = ns.name();
    // The Pods of another cluster, and of a cluster with this name in another namespace.
    primary(&ns, "billing");
    primary(&elsewhere, "orders");
    let target = going(
        "databases",
        &json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Database",
            "metadata": {"name": "orders", "namespace": place, "finalizers": [finalizer]},
            "spec": {"cluster": {"name": "orders"}, "name": "orders", "owner": "app"}}),
        10,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "unknown", "{story}");
    story
        .says("none is Pod with cnpg.io/instanceRole=primary,cnpg.io/cluster=orders")
        .says("If no primary runs, get it running again")
        .never_says("It runs")
        .never_says("This runs, and is probably it")
        // It may change the object, and may or may not be who must act.
        .says("runs and may change databases.postgresql.cnpg.io. That may be it, under another name")
        .is_careful();
    replayed(cluster, &target, place);
    withstands_less(cluster, &target, place, 27);
    primary(&ns, "orders");
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story.says(&format!("It runs. Pod {place}/orders-1: ready"));
    // The primary drops or keeps the database, and removes the finalizer.
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
