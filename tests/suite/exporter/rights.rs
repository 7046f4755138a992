//! The manifests on the real server, applied with the real kubectl: the exporter works with exactly the rights of its service
//! account, and says what it misses with less.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Exporter, manifests};
use crate::{
    explain::told::{SOON, delete},
    harness::{Cluster, Signal, wait},
};

/// What the exporter is called in its manifests, and its namespace, too.
const NAME: &str = "finalizers-exporter";

/// The cluster with the manifests in it.
fn deployed() -> Cluster {
    let cluster = Cluster::start();
    let folder = manifests::root().join("deploy/exporter").display().to_string();
    cluster.kubectl(["apply", "-k", &folder]).success();
    cluster
}

/// A kubeconfig for the service account, with a token as its pod has it.
fn as_service_account(cluster: &Cluster) -> PathBuf {
    let create = ["create", "token", NAME, "--namespace", NAME];
    let token = cluster.kubectl(create).success();
    let text = fs::read_to_string(cluster.kubeconfig()).unwrap();
    let mut config: Value = serde_saphyr::from_str(&text).unwrap();
    config["users"][0]["user"] = json!({"token": token.trim()});
    let path = cluster.directory().join("service-account.kubeconfig");
    fs::write(&path, config.to_string()).unwrap();
    path
}

/// Replaces the rules of the role by those of this file.
fn restrict(cluster: &Cluster, file: &str) {
    let text = fs::read_to_string(manifests::root().join(file)).unwrap();
    let mut role: Value = serde_saphyr::from_str(&text).unwrap();
    role["metadata"]["name"] = NAME.into();
    cluster.apply(&role.to_string());
}

fn exporter(kubeconfig: &Path) -> Exporter {
    let exporter = Exporter::of(kubeconfig, &[]);
    wait("the exporter has looked", Duration::from_secs(60), || {
        exporter.is_ready()
    });
    exporter
}

/// The names of the types that the metrics say could not be read.
fn missed(metrics: &str) -> Vec<&str> {
    let gaps = metrics
        .lines()
        .filter(|line| line.starts_with("finalizers_gaps{"));
    gaps.map(|line| {
        assert!(line.contains("reason=\"Forbidden\""), "{line}");
        line.split("name=\"").nth(1).unwrap().split('"').next().unwrap()
    })
    .collect()
}

#[test]
fn the_exporter_works_with_exactly_its_rights_and_says_what_it_misses_with_less() {
    let cluster = deployed();
    // The controllers make its pod, so the namespace's own rule for pods lets it in.
    wait("its pod is admitted", SOON, || {
        let pods = cluster.get(["pods", "--namespace", NAME]).unwrap();
        !pods["items"].as_array().unwrap().is_empty()
    });
    let ns = cluster.namespace("exported");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}");
    delete(&cluster, "cm/held", ns.name());

    let config = as_service_account(&cluster);
    let all = exporter(&config);
    let metrics = all.metrics();
    assert!(metrics.contains("\nfinalizers_look_succeeded 1\n"), "{metrics}");
    assert_eq!(missed(&metrics), [""; 0], "{metrics}");
    let held = format!(
        "finalizers_deletion_objects{{resource=\"configmaps\",group=\"\",namespace=\"{}\",",
        ns.name()
    );
    assert!(
        metrics
            .lines()
            .any(|line| line.starts_with(&held) && line.ends_with(" 1")),
        "{metrics}"
    );
    // It may change nothing.
    for verb in ["create", "update", "patch", "delete"] {
        let subject = format!("--as=system:serviceaccount:{NAME}:{NAME}");
        let may = cluster.kubectl(["auth", "can-i", verb, "configmaps", &subject]);
        assert_eq!(may.code, 1, "{verb}: {may}");
    }

    all.end(Signal::TERM);

    // With less it says what it misses, and still counts the rest. A watch that runs keeps a right until it ends.
    restrict(&cluster, "deploy/rbac/reader-without-secrets.yaml");
    let less = exporter(&config);
    let metrics = less.metrics();
    assert_eq!(missed(&metrics), ["secrets"], "{metrics}");
    assert!(metrics.lines().any(|line| line.starts_with(&held)), "{metrics}");
    less.end(Signal::TERM);
}
