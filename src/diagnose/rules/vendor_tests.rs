//! The rules of single vendors on small worlds, with what almost meets them.

mod awaited;
mod deployed;
mod drained;
mod names;
mod store;

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis,
        testing::{Cluster, object},
    },
    snapshot::facts::Object,
};

const LONG_AGO: &str = "2026-01-01T10:00:00Z";

/// Metadata of an object that was deleted long ago.
fn going(name: &str, namespace: &str, finalizers: &[&str]) -> Value {
    json!({"name": name, "namespace": namespace, "finalizers": finalizers, "creationTimestamp": "2026-01-01T08:00:00Z",
        "deletionTimestamp": LONG_AGO, "deletionGracePeriodSeconds": 0})
}

/// A Deployment that is ready, with its pod, and an account that may do everything to a group.
fn controller(namespace: &str, name: &str, labels: &Value, group: &str) -> [Object; 4] {
    let api = "rbac.authorization.k8s.io";
    [
        object(
            "apps",
            "deployments",
            "Deployment",
            json!({"metadata": {"name": name, "namespace": namespace, "labels": labels},
                "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name}}},
                "status": {"readyReplicas": 1}}),
        ),
        object(
            "",
            "serviceaccounts",
            "ServiceAccount",
            json!({"metadata": {"name": name, "namespace": namespace}}),
        ),
        object(
            api,
            "clusterroles",
            "ClusterRole",
            json!({"metadata": {"name": name}, "rules": [{"apiGroups": [group], "resources": ["*"], "verbs": ["*"]}]}),
        ),
        object(
            api,
            "clusterrolebindings",
            "ClusterRoleBinding",
            json!({"metadata": {"name": name}, "roleRef": {"kind": "ClusterRole", "name": name},
                "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}]}),
        ),
    ]
}

/// What its first finalizer waits for: name and state of each.
fn waits_for(told: &Diagnosis) -> Vec<(String, String)> {
    let on = told.waits.first().map_or(&[][..], |wait| &wait.on);
    on.iter()
        .map(|blocker| {
            let name = blocker.object.as_ref().map_or("", |object| &object.name);
            (name.to_owned(), blocker.says.clone())
        })
        .collect()
}

fn commands(told: &Diagnosis) -> Vec<&str> {
    told.steps
        .iter()
        .filter_map(|step| step.command.as_deref())
        .collect()
}

fn outlook(told: &Diagnosis) -> String {
    let all: Vec<_> = told
        .outlook
        .iter()
        .map(|each| format!("{}: {}", each.when, each.then))
        .collect();
    all.join("\n")
}

fn cluster(objects: impl IntoIterator<Item = Object>) -> Cluster {
    Cluster::of(objects)
}
