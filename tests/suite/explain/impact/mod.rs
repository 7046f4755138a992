//! Objects that are not in deletion: what a deletion would destroy, leave behind or break. The advised order of
//! deletion leaves nothing behind.

mod api_extensions;
mod csi_driver;
mod custom_resource_definition;
mod default_storage_class;
mod finalizer_holders;
mod namespace;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod snapshot_controller;
mod storage_class;
pub mod volume_claim_templates;
pub mod workload;

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{
    explain::told::{SOON, Told},
    harness::{Cluster, wait},
};

/// A cluster of its own, for its operators, webhooks and definitions.
static WORLD: LazyLock<Cluster> = LazyLock::new(Cluster::start);

impl Told {
    /// All effects with this fate, each with its objects.
    fn effects_with(&self, fate: &str) -> Vec<String> {
        let effects = self.0["ifDeleted"].as_array().into_iter().flatten();
        let words = |effect: &Value| {
            let objects = effect["objects"].as_array().into_iter().flatten();
            let names: Vec<_> = objects.filter_map(|object| object["name"].as_str()).collect();
            format!(
                "{}: {}",
                effect["says"].as_str().unwrap_or_default(),
                names.join(" ")
            )
        };
        effects
            .filter(|effect| effect["fate"] == fate)
            .map(words)
            .collect()
    }

    /// Asserts that an effect of this fate contains this text.
    #[track_caller]
    fn fates(&self, fate: &str, text: &str) -> &Self {
        let effects = self.effects_with(fate);
        assert!(
            effects.iter().any(|one| one.contains(text)),
            "nothing {fate} with {text:?}: {effects:#?} in {self}"
        );
        self
    }
}

/// Creates a controller: a Deployment, a ServiceAccount and one ready Pod.
fn operator(namespace: &str, name: &str, labels: &Value) {
    operator_in(&WORLD, namespace, name, labels);
}

/// The same in another cluster.
pub fn operator_in(cluster: &Cluster, namespace: &str, name: &str, labels: &Value) {
    let metadata = json!({"name": name, "namespace": namespace, "labels": labels});
    let items = json!([
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name,
                    "containers": [{"name": "manager", "image": "registry.example/operator:1"}]}}}},
    ]);
    cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    let place = format!("--namespace={namespace}");
    let mut pod = None;
    wait("the Deployment has its Pod", SOON, || {
        let pods = cluster.get(["pods", &place]).unwrap_or_default();
        let mut owned = pods["items"].as_array().into_iter().flatten();
        pod = owned
            .find(|pod| pod["spec"]["serviceAccountName"] == name)
            .and_then(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned()));
        pod.is_some()
    });
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    cluster.patch_status(["pod", &pod.unwrap_or_default(), &place], &ready);
    wait("the Deployment counts its Pod", SOON, || {
        cluster
            .get(["deployment", name, &place])
            .is_some_and(|found| found["status"]["readyReplicas"] == 1)
    });
}
