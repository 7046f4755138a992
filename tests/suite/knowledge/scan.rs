//! A scan speaks with the user's own entries, too.

use std::fs;

use super::own::file;
use crate::harness::Cluster;

#[test]
fn a_scan_knows_what_its_user_taught_it() {
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
