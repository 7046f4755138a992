//! A scan uses the user's own entries too.

use std::fs;

use super::own::file;
use crate::harness::Cluster;

#[test]
fn a_scan_uses_the_users_own_entries() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("taught");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/taught]}}");
    let path = cluster.directory().join(format!("{}.yaml", ns.name()));
    fs::write(&path, file("Ours", "example.com/taught", "ConfigMap")).unwrap();
    let path = path.to_str().unwrap();
    let output = cluster
        .plugin([
            "scan",
            "configmaps",
            "-n",
            ns.name(),
            "-o",
            "json",
            "--knowledge",
            path,
        ])
        .run();
    let report: serde_json::Value = serde_json::from_str(&output.success()).unwrap();
    assert_eq!(report["finalizers"][0]["known"]["project"], "Ours");
    assert_eq!(report["unknownFinalizers"], 0);
}
