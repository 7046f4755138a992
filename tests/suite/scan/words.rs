//! Arguments and flags, and what they mean.

use std::process::Command;

use serde_json::{Value, json};

use super::{complaint, held, json, names, troubled::troubled};
use crate::harness::{Cluster, Namespace};

/// A report about one namespace.
fn scan(ns: &Namespace, words: &[&str]) -> Value {
    let words = [&["scan", "-n", ns.name(), "-o", "json"], words].concat();
    json(Cluster::shared().plugin(words))
}

#[test]
fn every_way_to_write_a_type_selects_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("types");
    for (form, types) in [
        ("pvc", 1),
        ("PersistentVolumeClaims", 1),
        ("persistentvolumeclaim", 1),
        ("pvc,cm", 2),
        ("pvc,pvc,", 1),
        ("deployments.apps", 1),
        ("deploy.v1.apps", 1),
        ("crd", 1),
    ] {
        assert_eq!(scan(&ns, &[form])["totals"]["types"], types, "{form}");
    }
    assert_eq!(scan(&ns, &["pvc", "cm"])["totals"]["types"], 2);
    let all = scan(&ns, &["all"])["totals"]["types"].as_u64().unwrap();
    assert!((5..20).contains(&all), "the category `all` has {all} types");
    let fewer = scan(&ns, &["all", "--exclude", "po,svc"])["totals"]["types"]
        .as_u64()
        .unwrap();
    assert_eq!(fewer, all - 2);
    assert_eq!(scan(&ns, &["po", "--exclude", "pods"])["totals"]["types"], 0);
}

#[test]
fn an_unknown_type_is_a_usage_error_with_a_suggestion() {
    let cluster = Cluster::shared();
    for (words, hint) in [
        (["scan", "deploymnets"], "did you mean deployments.apps?"),
        (
            ["scan", "pods,persistentvolumeclam"],
            "did you mean persistentvolumeclaims?",
        ),
        (["scan", "zzzzzzzz"], "kubectl api-resources lists the types"),
        (["scan", "--exclude=podz"], "did you mean pods?"),
    ] {
        let out = cluster.plugin(words).run();
        assert_eq!(out.code, 2, "{out}");
        let (error, said) = complaint(&out);
        assert!(error.starts_with("there is no type \""), "{out}");
        assert_eq!(said, hint);
    }
}

#[test]
fn wrong_arguments_are_refused_before_any_request() {
    // No cluster: none of these may need one.
    for (words, says) in [
        (&["scan", "--frobnicate"][..], "--frobnicate"),
        (&["scan", "--all", "--terminating"], "cannot be used with"),
        (&["scan", "-n", "a", "-A"], "cannot be used with"),
        (&["scan", "--older-than", "soon"], "\"soon\" is not a duration"),
        (&["scan", "-l", "a in (b"], "--selector"),
        (&["scan", "-l", "a/b/c=d"], "--selector"),
        (&["scan", "--sort-by", "colour"], "colour"),
        (&["scan", "-o", "xml"], "xml"),
        (&["scna"], "scan"),
    ] {
        let out = crate::harness::Plugin::new(words.iter().copied()).run();
        assert_eq!(out.code, 2, "{words:?}: {out}");
        assert!(out.stdout.is_empty(), "{out}");
        assert!(out.stderr.contains(says), "{words:?}: {out}");
    }
}

#[test]
fn filters_select_objects_and_never_claim_more() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("filters");
    held(&ns, "one", "a.example.com/x");
    held(&ns, "two", "b.example.com/y");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: idle, labels: {app: idle}, finalizers: [a.example.com/x]}}");
    let terminating = |words: &[&str]| names(&scan(&ns, words), "terminating");

    assert_eq!(
        terminating(&["--finalizer", "a.example.com/*"]),
        ["configmaps/one"]
    );
    assert_eq!(
        terminating(&["--finalizer", "*/x", "--finalizer", "*/y"]).len(),
        2
    );
    assert_eq!(terminating(&["-l", "app=two"]), ["configmaps/two"]);
    assert_eq!(terminating(&["-l", "app in (one,two),!other"]).len(), 2);
    assert_eq!(terminating(&["--older-than", "0s"]).len(), 2);
    assert_eq!(terminating(&["--older-than", "1h"]), [""; 0]);

    let all = scan(&ns, &["cm", "--all"]);
    assert_eq!(names(&all, "objects"), ["configmaps/idle"]);
    let only = scan(&ns, &["--terminating"]);
    assert!(
        only.get("finalizers").is_none() && only.get("objects").is_none(),
        "{only:#}"
    );
    let counted = scan(&ns, &["cm", "--finalizer", "a.*"]);
    assert_eq!(
        counted["finalizers"],
        json!([{"name": "a.example.com/x", "list": "metadata", "objects": 2, "terminating": 1, "on": ["configmaps"], "known": null}])
    );

    let out = cluster
        .plugin(["scan", "-n", ns.name(), "--older-than", "1h", "--exit-code"])
        .run();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .starts_with("Nothing is stuck: no object that matches is being deleted."),
        "{out}"
    );
}

#[test]
fn objects_are_sorted_as_requested() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("order");
    held(&ns, "b", "a.example.com/x");
    ns.apply("{apiVersion: v1, kind: Service, metadata: {name: c, finalizers: [b.example.com/x]}, spec: {ports: [{port: 1}]}}");
    ns.kubectl(["delete", "service", "c", "--wait=false"]).success();
    // Deletion timestamps have whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    held(&ns, "a", "c.example.com/x");
    let order = |by: &str| names(&scan(&ns, &["--sort-by", by]), "terminating");
    let (a, b, c) = ("configmaps/a", "configmaps/b", "services/c");
    assert_eq!(order("name"), [a, b, c]);
    assert_eq!(order("type"), [a, b, c]);
    assert_eq!(order("namespace"), [a, b, c]);
    assert_eq!(order("finalizer"), [b, c, a]);
    assert_eq!(order("age").last().map(String::as_str), Some(a));
    assert_eq!(names(&scan(&ns, &[]), "terminating"), order("age"));
}

#[test]
fn no_headers_leaves_only_rows() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("rows");
    held(&ns, "kept", "example.com/hold");
    let out = cluster
        .plugin(["scan", "cm", "-n", ns.name(), "--terminating", "--no-headers"])
        .run()
        .success();
    let &[row] = out.lines().collect::<Vec<_>>().as_slice() else {
        panic!("{out}")
    };
    assert!(row.trim_start().starts_with("cm/kept "), "{out}");
}

#[test]
fn names_are_arguments_for_kubectl() {
    let cluster = troubled();
    let kubectl = cluster.kubectl_program();
    let pipe = |scan: &[&str], reader: &str| {
        let names = cluster.plugin(scan.iter().copied()).run().success();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("names");
        std::fs::write(&file, &names).unwrap();
        let out = Command::new("sh")
            .args([
                "-ec",
                &format!("xargs {reader} --output=name < {}", file.display()),
            ])
            .env("KUBECTL", &kubectl)
            .env("KUBECONFIG", cluster.kubeconfig())
            .env("HOME", cluster.directory())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(out.status.success(), "{names}\n{}", text(&out.stderr));
        (names.lines().count(), text(&out.stdout).lines().count())
    };
    let (given, got) = pipe(&["scan", "--all", "-o", "name"], "-L1 \"$KUBECTL\" get");
    assert!(given > 10, "{given} names");
    assert_eq!(given, got);
    let (given, got) = pipe(
        &["scan", "-n", "db", "--all", "-o", "name", "--exclude", "ns"],
        "\"$KUBECTL\" get -n db",
    );
    assert!(given > 0);
    assert_eq!(given, got);
}

#[test]
fn kubectl_runs_the_plugin_as_its_own_verb() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("verb");
    held(&ns, "kept", "example.com/hold");
    let out = cluster
        .plugin(["scan", "-n", ns.name(), "-o", "name", "--exit-code"])
        .through_kubectl()
        .run();
    assert_eq!(out.stdout, "configmaps/kept\n", "{out}");
    assert_eq!(out.code, 4, "the exit code passes through kubectl: {out}");
    let out = cluster.plugin(["scan", "podz"]).through_kubectl().run();
    assert_eq!(out.code, 2, "{out}");
}

#[test]
fn an_empty_namespace_flag_means_none_as_in_kubectl() {
    let cluster = Cluster::shared();
    let report = json(cluster.plugin(["scan", "nodes,cm", "-n", "", "-o", "json"]));
    assert_eq!(report["namespace"], Value::Null);
    assert!(report["totals"]["objects"].as_u64().unwrap() > 1, "{report:#}");
}

#[test]
fn a_missing_namespace_is_reported() {
    let cluster = Cluster::shared();
    let out = cluster.plugin(["scan", "-n", "no-such-namespace"]).run();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .contains("there is no namespace no-such-namespace, and nothing was found in it"),
        "{out}"
    );
}

#[test]
fn exit_codes_tell_stuck_from_unreadable() {
    let cluster = troubled();
    let code = |words: &[&str]| {
        cluster
            .plugin(["scan", "--exit-code"].iter().chain(words).copied())
            .run()
            .code
    };
    assert_eq!(code(&[]), 4, "stuck and not all read: stuck weighs more");
    assert_eq!(code(&["--older-than", "1d"]), 5, "a group is dead, so who knows");
    assert_eq!(code(&["pvc", "--older-than", "1d"]), 0);
    assert_eq!(code(&["pvc", "-o", "name"]), 4);
    assert_eq!(
        cluster.plugin(["scan"]).run().code,
        0,
        "only --exit-code makes a finding an exit code"
    );
}
