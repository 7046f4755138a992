//! The formats for programs have one value and one schema.

use serde_json::Value;

use super::{document, json, troubled::troubled};
use crate::harness::Plugin;

#[test]
fn every_kind_of_run_follows_the_schema() {
    let cluster = troubled();
    for words in [
        "",
        "--all",
        "--terminating",
        "-n db",
        "-n pay --all",
        "-n no-such-namespace",
        "pods,pvc,namespaces",
        "gadgets,gizmos --all",
        "--finalizer *pvc* --sort-by name",
        "--older-than 1d",
        "--exit-code",
    ] {
        let words = ["scan", "-o", "json"].into_iter().chain(words.split_whitespace());
        let out = cluster.plugin(words).run();
        document(&out.stdout);
        assert!(out.stderr.is_empty(), "{out}");
    }
}

#[test]
fn a_namespace_has_its_conditions_verbatim() {
    let cluster = troubled();
    let report = json(cluster.plugin(["scan", "ns", "-o", "json"]));
    let pay = super::terminating(&report, "namespaces/pay");
    let real = cluster.get(["namespace", "pay"]).unwrap();
    for condition in pay["conditions"]
        .as_array()
        .expect("the namespace has conditions")
    {
        let theirs = real["status"]["conditions"].as_array().unwrap();
        let theirs = theirs
            .iter()
            .find(|theirs| theirs["type"] == condition["type"])
            .unwrap();
        for field in ["status", "reason", "message", "lastTransitionTime"] {
            assert_eq!(condition[field], theirs[field], "{field}");
        }
    }
}

#[test]
fn yaml_is_the_same_value() {
    // Both read one snapshot, because controllers go on writing conditions and Leases.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("troubled.snapshot").display().to_string();
    troubled().plugin(["snapshot", &file]).run().success();
    let run = |form: &str| {
        let out = Plugin::new(["scan", "--all", "-o", form, "--from", &file]).run();
        out.success()
    };
    let from_json = document(&run("json"));
    assert!(!from_json["terminating"].as_array().expect("a list").is_empty());
    let from_yaml: Value = serde_saphyr::from_str(&run("yaml")).expect("YAML");
    assert_eq!(from_json, from_yaml);
}
