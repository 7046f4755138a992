//! Objects that many tests need.

use serde_json::{Value, json};

use super::world::object;
use crate::snapshot::facts::Object;

/// A time long before [`NOW`](super::world::NOW): a controller that has not acted since then is late.
pub(crate) const LONG_AGO: &str = "2026-01-01T10:00:00Z";

/// The metadata of an object whose deletion was requested long ago.
pub(crate) fn going(name: &str, namespace: &str, finalizers: &[&str]) -> Value {
    json!({"name": name, "namespace": namespace, "finalizers": finalizers, "creationTimestamp": "2026-01-01T08:00:00Z",
        "deletionTimestamp": LONG_AGO, "deletionGracePeriodSeconds": 0})
}

/// A ready Deployment, and an account with all rights on a group.
pub(crate) fn controller(namespace: &str, name: &str, labels: &Value, group: &str) -> [Object; 4] {
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

/// A role with the rights of a controller on these types, and its binding.
pub(crate) fn bound(role: &str, groups: &Value, resources: &Value, subject: &Value) -> [Object; 2] {
    [
        object(
            "rbac.authorization.k8s.io",
            "clusterroles",
            "ClusterRole",
            json!({"metadata": {"name": role}, "rules": [{"apiGroups": groups, "resources": resources, "verbs": ["*"]}]}),
        ),
        object(
            "rbac.authorization.k8s.io",
            "clusterrolebindings",
            "ClusterRoleBinding",
            json!({"metadata": {"name": role}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]}),
        ),
    ]
}

/// The Lease of kube-controller-manager, renewed at this time.
pub(crate) fn controller_manager_lease(renewed: &str) -> Object {
    object(
        "coordination.k8s.io",
        "leases",
        "Lease",
        json!({"metadata": {"name": "kube-controller-manager", "namespace": "kube-system"},
            "spec": {"renewTime": renewed, "leaseDurationSeconds": 15}}),
    )
}
