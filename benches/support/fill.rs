//! Fills a real cluster: many types, many objects, a few with finalizers, and even fewer stuck.

use std::time::Duration;

use futures::{StreamExt, stream};
use kube::{
    Api, Client, Config,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::GroupVersionKind,
};
use serde_json::{Value, json};

use crate::harness::Cluster;

const CUSTOM_TYPES: usize = 100;
const NAMESPACES: usize = 40;
/// One object in fifty has a finalizer.
const WITH_FINALIZER: usize = 50;
const STUCK: usize = 50;
const PARALLEL: usize = 24;

/// Creates `objects` objects: a third each of ConfigMaps, Secrets and custom resources.
pub fn fill(cluster: &Cluster, objects: usize) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap();
        let client = Client::try_from(config).unwrap();
        let namespaces = Type::core("Namespace", "namespaces");
        namespaces
            .create(&client, (0..NAMESPACES).map(|n| named(&format!("ns-{n}"), None)))
            .await;
        let definitions = Type {
            group: "apiextensions.k8s.io".into(),
            kind: "CustomResourceDefinition".into(),
            plural: "customresourcedefinitions".into(),
        };
        definitions
            .create(&client, (0..CUSTOM_TYPES).map(definition))
            .await;
        let third = objects / 3;
        let config = Type::core("ConfigMap", "configmaps");
        config
            .create(&client, (0..third).map(|n| object("config", n)))
            .await;
        Type::core("Secret", "secrets")
            .create(&client, (0..third).map(|n| object("secret", n)))
            .await;
        for custom in 0..CUSTOM_TYPES {
            let ty = Type::custom(custom);
            ty.served(&client).await;
            let mine = (0..objects - 2 * third).filter(|n| n % CUSTOM_TYPES == custom);
            ty.create(&client, mine.map(|n| object("custom", n))).await;
        }
        delete_some(&client).await;
    });
}

fn named(name: &str, namespace: Option<&str>) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "bench"}}})
}

fn object(what: &str, n: usize) -> Value {
    let mut object = named(&format!("{what}-{n}"), Some(&format!("ns-{}", n % NAMESPACES)));
    if n.is_multiple_of(WITH_FINALIZER) {
        object["metadata"]["finalizers"] = json!(["bench.example.com/holds"]);
    }
    object
}

fn group(n: usize) -> String {
    format!("g{}.example.com", n % 10)
}

fn definition(n: usize) -> Value {
    let (group, plural) = (group(n), format!("kind{n}s"));
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": format!("kind{n}"), "kind": format!("Kind{n}")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

struct Type {
    group: String,
    kind: String,
    plural: String,
}

impl Type {
    fn core(kind: &str, plural: &str) -> Self {
        Self {
            group: String::new(),
            kind: kind.into(),
            plural: plural.into(),
        }
    }

    fn custom(n: usize) -> Self {
        Self {
            group: group(n),
            kind: format!("Kind{n}"),
            plural: format!("kind{n}s"),
        }
    }

    fn api(&self, client: &Client, namespace: Option<&str>) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk(&self.group, "v1", &self.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, &self.plural);
        match namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        }
    }

    async fn create(&self, client: &Client, objects: impl Iterator<Item = Value>) {
        let api_version = if self.group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{}/v1", self.group)
        };
        stream::iter(objects)
            .for_each_concurrent(PARALLEL, |mut object| {
                object["apiVersion"] = json!(api_version);
                object["kind"] = json!(self.kind);
                let api = self.api(client, object["metadata"]["namespace"].as_str());
                async move {
                    let object: DynamicObject = serde_json::from_value(object).unwrap();
                    api.create(&PostParams::default(), &object).await.unwrap();
                }
            })
            .await;
    }

    async fn served(&self, client: &Client) {
        let api = self.api(client, None);
        while api.list_metadata(&ListParams::default()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn delete_some(client: &Client) {
    for n in (0..).step_by(WITH_FINALIZER).take(STUCK) {
        let api = Type::core("ConfigMap", "configmaps").api(client, Some(&format!("ns-{}", n % NAMESPACES)));
        api.delete(&format!("config-{n}"), &DeleteParams::default())
            .await
            .unwrap();
    }
}
