//! `version`: the plugin, its catalogue, and the server.

use std::{fs, path::Path};

use kubectl_finalizers::report::version::TESTED;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{Cluster, Plugin},
    schema,
};

fn checked(text: &str) -> Value {
    schema::checked(&schema::of(include_str!("../../docs/version.schema.json")), text)
}

#[test]
fn the_tested_versions_are_those_that_the_tests_can_build() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/controlplane");
    let (newest, older) = TESTED.split_last().unwrap();
    let modules = older.iter().map(|minor| (*minor, format!("kubernetes-{minor}")));
    for (minor, module) in modules.chain([(*newest, "kubernetes".to_owned())]) {
        let modules = fs::read_to_string(folder.join(&module).join("go.mod")).unwrap();
        assert!(
            modules.contains(&format!("k8s.io/kubernetes v{minor}.")),
            "{module}"
        );
    }
}

#[test]
fn the_server_and_whether_it_is_tested() {
    let cluster = Cluster::shared();
    let theirs: Value = serde_json::from_str(&cluster.kubectl(["version", "-o", "json"]).success()).unwrap();
    let theirs = theirs["serverVersion"]["gitVersion"].as_str().unwrap();
    let ours = cluster.plugin(["version"]).run().success();
    assert_eq!(ours.lines().count(), 3, "{ours}");
    assert!(
        ours.ends_with(&format!("Server:     {theirs} (tested)\n")),
        "{ours}"
    );
    let document = checked(&cluster.plugin(["version", "-o", "json"]).run().success());
    assert_eq!(document["server"], json!({"version": theirs, "tested": true}));
    assert_eq!(document["client"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_client_alone_needs_no_cluster() {
    let text = Plugin::new(["version", "--client"]).run().success();
    assert_eq!(text.lines().count(), 2, "{text}");
    let document = checked(&Plugin::new(["version", "--client", "-o", "json"]).run().success());
    assert_eq!(document["server"], Value::Null);
    let catalogue: Value =
        serde_json::from_str(&Plugin::new(["catalog", "-o", "json"]).run().success()).unwrap();
    assert_eq!(document["catalogue"]["names"], catalogue["total"]);
    let out = Plugin::new(["version", "--client", "--context", "x"]).run();
    assert_eq!((out.code, out.stdout.as_str()), (2, ""), "{out}");
}

#[test]
fn without_an_answer_the_rest_is_printed_and_the_exit_code_is_that_of_kubectl() {
    let cluster = Cluster::shared();
    let folder = TempDir::new().unwrap();
    let nobody = ["--server", "https://127.0.0.1:1"];
    let theirs = cluster.kubectl([&["version"], &nobody[..]].concat());
    let out = cluster
        .plugin([&["version", "-o", "json"], &nobody[..]].concat())
        .run();
    assert_eq!(out.code, theirs.code, "{out}");
    assert_eq!(checked(&out.stdout)["server"], Value::Null);
    assert!(out.stderr.starts_with("error: "), "{out}");

    let broken = folder.path().join("config");
    fs::write(&broken, "nonsense").unwrap();
    let out = Plugin::new(["version"]).kubeconfig(&broken).run();
    assert_eq!(out.code, 1, "{out}");
    assert_eq!(out.stdout.lines().count(), 2, "{out}");
}
