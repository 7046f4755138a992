//! `scan --all-contexts` and `snapshot --all-contexts` of three real control planes, of which one is dead.

use std::{fs, sync::LazyLock};

use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Options, Plugin, kubeconfig},
    schema,
};

fn cluster() -> Cluster {
    Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    })
}

/// A ConfigMap in deletion that a finalizer of nobody holds.
fn stuck(cluster: &Cluster) {
    cluster.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: default, finalizers: [example.com/held]}}",
    );
    cluster
        .kubectl(["delete", "configmap/held", "--namespace=default", "--wait=false"])
        .success();
}

/// The report of several clusters, checked against its schema.
fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<testkit::jsonschema::Validator> = LazyLock::new(|| {
        let read = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
        let mut several = read(include_str!("../../../docs/clusters.schema.json"));
        several["$defs"]["scan"] = read(include_str!("../../../docs/scan.schema.json"));
        schema::of(&several.to_string())
    });
    schema::checked(&SCHEMA, text)
}

#[test]
fn a_dead_control_plane_is_a_gap_among_three() {
    let (one, two, dead) = (cluster(), cluster(), cluster());
    stuck(&one);
    stuck(&two);
    stuck(&dead);
    let file = one.directory().join("all.kubeconfig");
    let contexts = [
        ("one", one.kubeconfig()),
        ("dead", dead.kubeconfig()),
        ("two", two.kubeconfig()),
    ];
    let file = kubeconfig::joined(file, &contexts);
    let run = |words: &[&str]| Plugin::new(words.iter().copied()).kubeconfig(&file).run();
    dead.api_server().kill();

    let out = run(&["scan", "--all-contexts", "--request-timeout=5s", "-o=json"]);
    assert_eq!(out.code, 0, "{out}");
    let report = document(&out.stdout);
    assert_eq!(report["complete"], false, "{report:#}");
    let clusters = report["clusters"].as_array().expect("a list");
    let read: Vec<_> = clusters
        .iter()
        .map(|cluster| {
            let reason = cluster["notRead"]["reason"].as_str();
            (cluster["cluster"].as_str().unwrap(), reason.unwrap_or("read"))
        })
        .collect();
    assert_eq!(
        read,
        [("one", "read"), ("dead", "Connection"), ("two", "read")],
        "{report:#}"
    );
    assert_eq!(report["totals"]["stuck"], 2, "{report:#}");
    for at in [0, 2] {
        let object = &clusters[at]["scan"]["terminating"][0];
        assert_eq!(
            (&object["cluster"], &object["name"]),
            (&clusters[at]["cluster"], &json!("held"))
        );
    }
    // The same root cause is one line.
    let causes = report["rootCauses"].as_array().expect("a list");
    assert_eq!(causes.len(), 1, "{report:#}");
    assert_eq!(causes[0]["clusters"], json!(["one", "two"]), "{report:#}");

    let out = run(&["scan", "--all-contexts", "--request-timeout=5s", "--exit-code"]);
    assert_eq!(out.code, 4, "{out}");
    let begin = "3 clusters: 2 objects stuck, 1 cause.\n";
    assert!(out.stdout.starts_with(begin), "{out}");
    assert!(out.stdout.contains("cm/held -n default --context two\n"), "{out}");

    let saved = one.directory().join("saved");
    let folder = saved.display().to_string();
    let out = run(&["snapshot", &folder, "--all-contexts", "--request-timeout=5s"]);
    assert_eq!(out.code, 1, "{out}");
    assert!(out.stderr.contains("warning: dead: nothing was saved: "), "{out}");
    let mut files: Vec<_> = fs::read_dir(&saved)
        .expect("the folder exists")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["one.snapshot", "two.snapshot"]);
    // The recordings say the same without any of the clusters.
    let out = Plugin::new(["scan", "--from", &folder, "-o=json"]).run();
    assert_eq!(out.code, 0, "{out}");
    let recorded = document(&out.stdout);
    assert_eq!(recorded["totals"]["stuck"], 2, "{recorded:#}");
    assert_eq!(recorded["rootCauses"][0]["clusters"], json!(["one", "two"]));
}
