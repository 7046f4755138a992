//! The controller that must remove a finalizer, and whether it runs. Products' objects are created by hand as
//! their charts do, with the real controllers of Deployments. Each scenario has another product, so all share
//! one cluster.

mod builtin_controllers;
mod crashing;
mod off;
mod paused;
mod rights;
mod with_its_namespace;

use std::sync::LazyLock;

use serde_json::{Value, json};

pub use super::custom_resources::going;
use super::told::SOON;
use crate::harness::{Cluster, wait};

/// A cluster of its own, for their ClusterRoles and Deployments.
pub static WORLD: LazyLock<Cluster> = LazyLock::new(Cluster::start);

/// A product's controller as its chart installs it.
pub struct Operator<'a> {
    pub cluster: &'a Cluster,
    pub namespace: &'a str,
    pub name: &'a str,
    /// The labels of its Deployment and Pods.
    pub labels: Value,
    /// The group, types and verbs of its rights.
    pub group: &'a str,
    pub resources: Value,
    pub verbs: Value,
}

impl Operator<'_> {
    /// Applies all its objects. The real controllers create its Pods, and no kubelet runs them.
    pub fn install(&self) {
        let (name, namespace, labels) = (self.name, self.namespace, &self.labels);
        let metadata = json!({"name": name, "namespace": namespace, "labels": labels});
        let rbac = "rbac.authorization.k8s.io";
        let items = json!([
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
            self.role(&self.verbs),
            {"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": name},
                "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
                "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name,
                        "containers": [{"name": "manager", "image": "registry.example/operator:1"}]}}}},
        ]);
        self.cluster
            .apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    }

    fn role(&self, verbs: &Value) -> Value {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": self.name},
            "rules": [{"apiGroups": [self.group], "resources": self.resources, "verbs": verbs}]})
    }

    /// Sets the status of its one Pod, as a kubelet does.
    pub fn pod_is(&self, status: &Value) {
        let labels: Vec<_> = self
            .labels
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        let place = format!("--namespace={}", self.namespace);
        let selector = format!("--selector={}", labels.join(","));
        let mut pod = String::new();
        wait("the Deployment has its Pod", SOON, || {
            pod = self
                .cluster
                .kubectl([
                    "get",
                    "pods",
                    &place,
                    &selector,
                    "--output=jsonpath={.items[0].metadata.name}",
                ])
                .stdout;
            !pod.is_empty()
        });
        self.cluster.patch_status(["pod", &pod, &place], status);
    }

    /// Makes its Pod ready, and waits until the Deployment counts it.
    pub fn runs(&self) {
        self.pod_is(&json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
        self.has_ready(1);
    }

    pub fn has_ready(&self, ready: u64) {
        wait("the Deployment counts its Pods", SOON, || {
            let deployment = self.deployment();
            deployment
                .is_some_and(|found| found["status"]["readyReplicas"].as_u64().unwrap_or_default() == ready)
        });
    }

    fn deployment(&self) -> Option<Value> {
        self.cluster.get([
            "deployment",
            self.name,
            &format!("--namespace={}", self.namespace),
        ])
    }
}

/// A Lease as leader election writes it, renewed this many seconds ago.
pub fn lease(namespace: &str, name: &str, leader: &str, ago: i64) {
    let now = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago);
    WORLD.apply(
        &json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "namespace": namespace},
            "spec": {"holderIdentity": format!("{leader}-6d4cf56db6-x7k2p_5f1a"), "leaseDurationSeconds": 15,
                "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()},
        })
        .to_string(),
    );
}
