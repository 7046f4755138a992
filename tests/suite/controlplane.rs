//! Tests of the harness, which all other tests rely on.

mod faults;
mod lifetime;
mod storage;
mod users;

use crate::harness::{Cluster, Options};

#[test]
fn kubectl_reaches_the_cluster() {
    let ns = Cluster::shared().namespace("hello");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}");
    assert_eq!(ns.get(["configmap", "a"]).unwrap()["data"]["k"], "v");
    assert_eq!(ns.get(["configmap", "b"]), None);
}

#[test]
fn etcd_of_the_cluster_can_be_read() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("stored");
    let keys = cluster
        .etcdctl(["get", "--prefix", "--keys-only", "/registry/namespaces/"])
        .success();
    assert!(keys.contains(ns.name()), "{keys}");
}

#[test]
fn status_can_be_written_as_by_a_kubelet() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("pods");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{nodeName: {}, containers: [{{name: c, image: i}}]}}}}",
        cluster.node()
    ));
    ns.patch_status(["pod", "p"], &serde_json::json!({"phase": "Running"}));
    assert_eq!(ns.get(["pod", "p"]).unwrap()["status"]["phase"], "Running");
}

#[test]
fn the_plugin_runs_alone_and_through_kubectl() {
    let cluster = Cluster::shared();
    assert_eq!(cluster.plugin(["--help"]).run().code, 0);
    assert_eq!(cluster.plugin(["--help"]).through_kubectl().run().code, 0);
}

#[test]
fn two_clusters_are_independent() {
    let (shared, own) = (
        Cluster::shared(),
        Cluster::with(&Options {
            controller_manager: false,
            ..Options::default()
        }),
    );
    let ns = shared.namespace("only-here");
    assert!(own.get(["namespace", "default"]).is_some());
    assert_eq!(own.get(["namespace", ns.name()]), None);
    assert_ne!(own.url(), shared.url());
}

#[test]
fn extra_flags_and_their_files_are_passed_on() {
    let cluster = Cluster::with(&Options {
        apiserver_args: &[
            "--audit-policy-file={dir}/audit.yaml",
            "--audit-log-path={dir}/audit.log",
        ],
        controller_manager_args: &["--controllers=serviceaccount-controller"],
        files: &[(
            "audit.yaml",
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]",
        )],
        ..Options::default()
    });
    let audited = std::fs::read_to_string(cluster.directory().join("audit.log")).unwrap();
    assert!(audited.contains("\"username\":\"admin\""), "{audited}");
    let disabled = r#""Warning: controller is disabled" controller="job-controller""#;
    assert!(cluster.controller_manager().log().contains(disabled));
}
