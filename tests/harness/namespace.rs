//! A namespace for one test.

use serde_json::Value;

use super::{Cluster, Output, logs};

/// A namespace. Dropping it starts its deletion, which may be impossible after the test; the cluster is deleted
/// anyway.
pub struct Namespace<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl<'a> Namespace<'a> {
    pub(super) fn create(cluster: &'a Cluster, name: String) -> Self {
        cluster.kubectl(["create", "namespace", &name]).success();
        Self { cluster, name }
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
        let arguments = self.here(["apply", "--server-side", "--filename=-"]);
        self.cluster.kubectl.run(arguments, Some(manifest)).success();
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

    fn here<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<String> {
        let mut all: Vec<String> = arguments.into_iter().map(Into::into).collect();
        all.push(format!("--namespace={}", self.name));
        all
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        logs::keep_if_failing(self.cluster.directory());
        if self.cluster.api_server().is_running() {
            let _ = self.cluster.kubectl([
                "delete",
                "namespace",
                &self.name,
                "--wait=false",
                "--request-timeout=3s",
            ]);
        }
    }
}
