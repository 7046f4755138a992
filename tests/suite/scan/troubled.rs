//! A cluster in trouble: stuck deletions, an unavailable API group, and types whose conversion webhook is gone.

use std::{sync::LazyLock, time::Duration};

use crate::{
    harness::{Cluster, wait},
    stuck,
};

/// No test changes it after its start.
pub fn troubled() -> &'static Cluster {
    static TROUBLED: LazyLock<Cluster> = LazyLock::new(start);
    &TROUBLED
}

fn start() -> Cluster {
    let cluster = Cluster::start();
    stuck::small_cluster(&cluster);
    let hold =
        "metadata: {name: hold, namespace: db, finalizers: [example.com/hold]}, stringData: {k: hidden}";
    cluster.apply(&format!("{{apiVersion: v1, kind: Secret, {hold}}}"));
    cluster.delete("secrets/hold", "db");
    // Before any webhook is unavailable, because each one delays every round of the namespace controller by 30
    // seconds.
    wait(
        "the namespace controller has met the dead group",
        Duration::from_secs(90),
        || {
            let pay = cluster
                .get(["namespace", "pay"])
                .expect("the namespace has its challenge");
            let mut conditions = pay["status"]["conditions"].as_array().into_iter().flatten();
            conditions.any(|condition| {
                condition["type"] == "NamespaceDeletionDiscoveryFailure" && condition["status"] == "True"
            })
        },
    );
    two_versions(&cluster, "gadgets", "Gadget");
    two_versions(&cluster, "gizmos", "Gizmo");
    // Gizmos are stored in both versions, so no version can be read without a conversion.
    store_in(&cluster, "gizmos", "v2");
    cluster
        .apply("{apiVersion: dead.example.com/v2, kind: Gizmo, metadata: {name: new, namespace: default}}");
    for plural in ["gadgets", "gizmos"] {
        convert_through_a_missing_service(&cluster, plural);
    }
    cluster
}

/// A type with the stored version v1 and the preferred version v2. Its object `old` is stored as v1 and has a
/// finalizer.
fn two_versions(cluster: &Cluster, plural: &str, kind: &str) {
    let schema = "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    cluster.apply(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.dead.example.com}}
spec:
  group: dead.example.com
  scope: Namespaced
  names: {{plural: {plural}, kind: {kind}}}
  versions:
  - {{name: v1, served: true, storage: true, {schema}}}
  - {{name: v2, served: true, storage: false, {schema}}}
"
    ));
    wait("both versions are served", Duration::from_secs(30), || {
        ["v1", "v2"].iter().all(|version| {
            let ty = format!("{plural}.{version}.dead.example.com");
            cluster.kubectl(["get", &ty, "--all-namespaces"]).code == 0
        })
    });
    cluster.apply(&format!(
        "{{apiVersion: dead.example.com/v1, kind: {kind}, metadata: {{name: old, namespace: default, finalizers: [dead.example.com/hold]}}}}"
    ));
}

fn store_in(cluster: &Cluster, plural: &str, version: &str) {
    let stores = |at: usize, yes: bool| {
        format!(r#"{{"op":"replace","path":"/spec/versions/{at}/storage","value":{yes}}}"#)
    };
    let patch = format!("[{},{}]", stores(0, version == "v1"), stores(1, version == "v2"));
    patch_crd(cluster, plural, "json", &patch);
    wait("the new version is stored", Duration::from_secs(30), || {
        let crd = cluster.get(["crd", &format!("{plural}.dead.example.com")]);
        crd.is_some_and(|crd| {
            crd["status"]["storedVersions"]
                .as_array()
                .is_some_and(|stored| stored.len() == 2)
        })
    });
}

fn convert_through_a_missing_service(cluster: &Cluster, plural: &str) {
    patch_crd(
        cluster,
        plural,
        "merge",
        r#"{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
            "clientConfig":{"service":{"namespace":"default","name":"converter"}}}}}}"#,
    );
    wait("reading the type fails", Duration::from_secs(30), || {
        let ty = format!("{plural}.v2.dead.example.com");
        let read = cluster.kubectl(["get", &ty, "--all-namespaces"]);
        read.stderr.contains("conversion webhook")
    });
}

fn patch_crd(cluster: &Cluster, plural: &str, kind: &str, patch: &str) {
    let name = format!("{plural}.dead.example.com");
    cluster
        .kubectl([
            "patch",
            "crd",
            &name,
            &format!("--type={kind}"),
            &format!("--patch={patch}"),
        ])
        .success();
}
