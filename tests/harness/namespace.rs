//! A namespace for one test.

use serde_json::{Value, json};

use super::{Cluster, Output, logs};

/// Dropping a namespace deletes these. A later test could take them for its controller, or for the rights of one.
const RUNS: [&str; 10] = [
    "apis/apps/v1/deployments",
    "apis/apps/v1/statefulsets",
    "apis/apps/v1/daemonsets",
    "apis/apps/v1/replicasets",
    "apis/batch/v1/jobs",
    "api/v1/pods",
    "apis/coordination.k8s.io/v1/leases",
    "apis/rbac.authorization.k8s.io/v1/rolebindings",
    "apis/rbac.authorization.k8s.io/v1/roles",
    "api/v1/secrets",
];

/// A namespace. Dropping it deletes what runs in it. The namespace itself stays: kube-controller-manager would ask for
/// each type of the cluster, and every few seconds again while one object is stuck. Most tests hold a ConfigMap: its
/// finalizers are removed, because every later scan of the cluster would explain it and read its whole namespace.
pub struct Namespace<'a> {
    cluster: &'a Cluster,
    name: String,
    is_kept: bool,
}

impl<'a> Namespace<'a> {
    pub(super) fn create(cluster: &'a Cluster, name: String) -> Self {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        cluster
            .api
            .create("/api/v1/namespaces?fieldManager=kubectl-create", &object);
        Self {
            cluster,
            name,
            is_kept: false,
        }
    }

    /// The same, but dropping it does nothing.
    pub(super) fn kept(mut self) -> Self {
        self.is_kept = true;
        self
    }

    /// The name, which is unique in the cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// kubectl as the administrator, in this namespace.
    pub fn kubectl<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.cluster.kubectl(self.here(arguments))
    }

    /// [`Cluster::apply`] to this namespace.
    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        self.cluster.api.apply(manifest, &self.name);
    }

    /// [`Cluster::get`] from this namespace.
    #[track_caller]
    pub fn get<S: Into<String>>(&self, what: impl IntoIterator<Item = S>) -> Option<Value> {
        self.cluster.get(self.here(what))
    }

    /// [`Cluster::patch_status`] in this namespace.
    #[track_caller]
    pub fn patch_status<S: Into<String>>(&self, object: impl IntoIterator<Item = S>, status: &Value) {
        self.cluster.patch_status(self.here(object), status);
    }

    /// [`Cluster::delete`] in this namespace.
    #[track_caller]
    pub fn delete(&self, what: &str) {
        self.cluster.delete(what, &self.name);
    }

    /// [`Cluster::delete_with`] in this namespace.
    #[track_caller]
    pub fn delete_with(&self, cascade: &str, what: &str) {
        self.cluster.delete_with(cascade, what, &self.name);
    }

    fn here<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<String> {
        let mut all: Vec<String> = arguments.into_iter().map(Into::into).collect();
        all.push(format!("--namespace={}", self.name));
        all
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        logs::keep_if_failing(self.cluster.directory());
        if !self.is_kept && self.cluster.api_server().is_running() {
            let api = &self.cluster.api;
            for runs in RUNS {
                let (version, plural) = runs.rsplit_once('/').expect("a version and a type");
                api.begin_to_delete(&format!("/{version}/namespaces/{}/{plural}", self.name));
            }
            api.free_config_maps(&self.name);
        }
    }
}
