//! `scan` against the real control plane.
//!
//! Every JSON document that these tests read is checked against `docs/scan.schema.json`, so that all of them
//! prove the schema.

mod clusters;
mod connection;
mod dead_backends;
mod deleting;
mod holders;
mod interrupted;
mod json;
mod read_only;
mod rights;
mod terminal;
pub mod troubled;
mod words;

use std::{sync::LazyLock, time::Duration};

use serde_json::Value;

use crate::{
    harness::{Cluster, Namespace, Output, Plugin, wait},
    schema,
};

/// The output with `-o json` of a run that must succeed.
#[track_caller]
fn json(plugin: Plugin) -> Value {
    document(&plugin.run().success())
}

/// Parses a JSON document of `scan` and checks it against the schema.
#[track_caller]
pub fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<testkit::jsonschema::Validator> =
        LazyLock::new(|| schema::of(include_str!("../../../docs/scan.schema.json")));
    schema::checked(&SCHEMA, text)
}

/// The objects in a list of the report, as `resource/name`.
#[track_caller]
fn names(report: &Value, list: &str) -> Vec<String> {
    let text = |object: &Value, field: &str| object[field].as_str().expect(field).to_owned();
    report[list]
        .as_array()
        .unwrap_or_else(|| panic!("no {list}: {report:#}"))
        .iter()
        .map(|object| format!("{}/{}", text(object, "resource"), text(object, "name")))
        .collect()
}

/// The entry of `terminating` for this `resource/name`.
#[track_caller]
fn terminating<'a>(report: &'a Value, object: &str) -> &'a Value {
    let at = names(report, "terminating")
        .iter()
        .position(|name| name == object)
        .unwrap_or_else(|| panic!("{object} is not terminating: {report:#}"));
    &report["terminating"][at]
}

/// The entry of `notRead` with this name.
#[track_caller]
fn gap<'a>(report: &'a Value, name: &str) -> &'a Value {
    let gaps = report["notRead"].as_array().expect("notRead");
    gaps.iter()
        .find(|gap| gap["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in notRead: {report:#}"))
}

/// A namespace with a ServiceAccount, so that Pods can be created.
fn namespace_for_pods<'a>(cluster: &'a Cluster, name: &str) -> Namespace<'a> {
    let ns = cluster.namespace(name);
    wait(
        "the namespace has its default service account",
        Duration::from_secs(30),
        || ns.get(["serviceaccount", "default"]).is_some(),
    );
    ns
}

/// Creates a ConfigMap with this finalizer and deletes it.
fn held(ns: &Namespace, name: &str, finalizer: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{app: {name}}}, finalizers: [{finalizer}]}}}}"
    ));
    ns.kubectl(["delete", "configmap", name, "--wait=false"])
        .success();
}

/// Standard error of a run that must fail: one sentence and one hint, and nothing on standard output.
#[track_caller]
fn complaint(output: &Output) -> (String, String) {
    assert!(output.stdout.is_empty(), "{output}");
    let lines: Vec<_> = output.stderr.lines().collect();
    let &[error, hint] = lines.as_slice() else {
        panic!("expected one sentence and one hint: {output}")
    };
    let strip = |line: &str, word: &str| {
        line.strip_prefix(word)
            .unwrap_or_else(|| panic!("no {word:?}: {output}"))
            .to_owned()
    };
    (strip(error, "error: "), strip(hint, "hint: "))
}
