//! The formats for programs have one value and one schema.

use serde_json::Value;

use super::{document, json, troubled::troubled};

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
    let cluster = troubled();
    let run = |form: &str| cluster.plugin(["scan", "--all", "-o", form]).run().success();
    let from_json = timeless(document(&run("json")));
    let from_yaml: Value = serde_saphyr::from_str(&run("yaml")).expect("YAML");
    assert_eq!(from_json, timeless(from_yaml));
}

/// The value without what differs between two runs.
fn timeless(mut report: Value) -> Value {
    report["observedAt"].take();
    for list in ["terminating", "objects"] {
        for object in report[list].as_array_mut().into_iter().flatten() {
            if object["deletion"].is_object() {
                object["deletion"]["forSeconds"].take();
            }
        }
    }
    report
}
