//! Several targets in one run, and the output formats.

use std::fs;

use serde_json::Value;

use super::{document, documents, explained, replayed::timeless};
use crate::harness::{Cluster, Namespace, Output, Plugin};

/// Creates `a`, which is in deletion and held, and `b`, which is not in deletion.
fn two<'a>(cluster: &'a Cluster, name: &str) -> Namespace<'a> {
    let ns = cluster.namespace(name);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/hold]}}");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}");
    ns.apply("{apiVersion: v1, kind: Secret, metadata: {name: a}}");
    ns.kubectl(["delete", "configmap", "a", "--wait=false"]).success();
    ns
}

fn explain(ns: &Namespace, words: &[&str]) -> Output {
    let words = [&["explain", "-n", ns.name()], words].concat();
    Cluster::shared().plugin(words).run()
}

#[test]
fn targets_are_taken_in_every_form_of_kubectl_and_explained_once() {
    let ns = two(Cluster::shared(), "several");
    for (words, expected) in [
        (
            &["cm/a", "secret/a"] as &[&str],
            &["configmaps/a", "secrets/a"] as &[&str],
        ),
        (&["cm", "b", "a"], &["configmaps/b", "configmaps/a"]),
        (&["cm,secrets", "a"], &["configmaps/a", "secrets/a"]),
        (&["configmaps.v1.", "a"], &["configmaps/a"]),
        (&["cm/a", "configmaps/a", "ConfigMap/a"], &["configmaps/a"]),
        (&["cm", "a", "a"], &["configmaps/a"]),
    ] {
        let out = explain(&ns, &[words, &["-o", "json"]].concat());
        assert_eq!(
            (out.code, &*explained(&out)),
            (
                0,
                &expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
            ),
            "{words:?} {out}"
        );
    }
}

#[test]
fn a_missing_target_does_not_stop_the_others() {
    let ns = two(Cluster::shared(), "one-missing");
    let out = explain(&ns, &["cm/nowhere", "cm/a", "quux/x", "cm/b", "-o", "json"]);
    assert_eq!(out.code, 1, "{out}");
    assert_eq!(explained(&out), ["configmaps/a", "configmaps/b"]);
    for error in [
        "error: configmaps nowhere in namespace ",
        "error: there is no type \"quux\"",
    ] {
        assert!(out.stderr.contains(error), "{out}");
    }
    // The exit code is that of a usage error, because nothing else failed.
    assert_eq!(explain(&ns, &["cm/a", "quux/x"]).code, 2);
}

#[test]
fn the_default_namespace_is_that_of_the_context() {
    let cluster = Cluster::shared();
    let ns = two(cluster, "of-context");
    let text = fs::read_to_string(cluster.kubeconfig()).unwrap();
    let here = format!("context: {{namespace: {}, ", ns.name());
    let config = cluster.directory().join("of-context.kubeconfig");
    fs::write(&config, text.replace("context: {", &here)).unwrap();
    let out = cluster
        .plugin(["explain", "cm/a", "-o", "name"])
        .kubeconfig(&config)
        .run();
    assert_eq!(out.success(), format!("configmaps/a -n {}\n", ns.name()));
}

#[test]
fn every_output_format_works() {
    let ns = two(Cluster::shared(), "forms");
    let json = documents(&explain(&ns, &["cm", "a", "b", "-o", "json"]).success());
    let yaml = explain(&ns, &["cm", "a", "b", "-o", "yaml"]).success();
    for (json, yaml) in json.iter().zip(yaml.split("---\n")) {
        let yaml: Value = serde_saphyr::from_str(yaml).unwrap();
        let yaml = document(&yaml.to_string());
        for field in ["target", "waitsFor", "steps", "gone"] {
            let of = |document: &serde_json::Value| timeless(&document[field].to_string());
            assert_eq!(of(json), of(&yaml), "{field}");
        }
    }
    assert_eq!(json.len(), yaml.split("---\n").count());
    assert_eq!(json[0]["waitsFor"][0]["finalizer"]["name"], "example.com/hold");
    assert!(json[1]["deletion"].is_null() && json[1]["waitsFor"] == serde_json::json!([]));

    let names = explain(&ns, &["cm", "a", "b", "-o", "name"]).success();
    assert_eq!(
        names,
        format!("configmaps/a -n {0}\nconfigmaps/b -n {0}\n", ns.name())
    );
    // Each line can be passed to kubectl as arguments.
    let arguments = names.lines().next().unwrap().split(' ');
    let got = Cluster::shared().kubectl(["get", "-o", "name"].into_iter().chain(arguments));
    assert_eq!(got.success(), "configmap/a\n");

    let table = explain(&ns, &["cm", "a", "b"]).success();
    assert!(
        table.starts_with("UNKNOWN  cm/a -n ") && table.contains("\n\ncm/b -n "),
        "{table}"
    );
    assert!(
        explain(&ns, &["cm", "a", "-o", "wide"])
            .success()
            .starts_with("UNKNOWN  cm/a -n ")
    );
}

#[test]
fn finalizers_and_objects_of_one_run_are_separate_yaml_documents() {
    let words = [
        "explain",
        "pvc/data-0",
        "kubernetes.io/pv-protection",
        "-n",
        "db",
        "--from",
        "examples/stuck-cluster.snapshot",
        "-o",
        "yaml",
    ];
    let out = Plugin::new(words).run();
    let kinds: Vec<_> = out
        .stdout
        .split("---\n")
        .map(|document| serde_saphyr::from_str::<Value>(document).unwrap()["kind"].clone())
        .collect();
    assert_eq!(kinds, ["FinalizerExplanation", "Explanation"]);
}

/// What is printed of an object of a story.
fn of_story(story: &str, target: &str, namespace: &str) -> String {
    let from = format!("tests/stories/{story}/cluster.yaml");
    let words = ["explain", target, "-n", namespace, "--from", &from];
    Plugin::new(words).run().stdout
}

#[test]
fn a_controller_that_was_switched_off_is_told_in_the_first_words() {
    let text = of_story(
        "audit-config-whose-operator-was-scaled-to-zero",
        "mondooauditconfigs.k8s.mondoo.com/mondoo-client",
        "mondoo-operator",
    );
    assert!(
        text.starts_with("SWITCHED OFF  mondooauditconfigs.k8s.mondoo.com/mondoo-client"),
        "{text}"
    );
}

#[test]
fn what_a_controller_does_in_general_is_cut_before_the_reason_of_a_warning() {
    let text = of_story(
        "database-servers-that-wait-for-their-coordinators",
        "pods/orders-db-prmr-7795nzg2-f31f7b",
        "databases",
    );
    let general = text.split("\n\n").find(|part| part.contains("In general: "));
    assert!(general.is_some_and(|part| part.ends_with(" …")), "{text}");
    assert!(
        text.contains("by hand. Shards with one replica on this server"),
        "{text}"
    );
}
