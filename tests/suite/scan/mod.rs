//! `scan` against the real control plane.
//!
//! Every JSON document that a test here reads is checked against `docs/scan.schema.json` on the way, so that
//! the schema is proved by all of them and not by a few chosen runs.

mod connection;
mod dead_backends;
mod deleting;
mod holders;
mod interrupted;
mod json;
mod leftovers;
mod read_only;
mod rights;
mod terminal;
mod troubled;
mod words;

use std::{sync::LazyLock, time::Duration};

use serde_json::Value;

use crate::{
    harness::{Cluster, Namespace, Output, Plugin, wait},
    schema,
};

/// What the plugin prints with `-o json`; it must succeed.
#[track_caller]
fn json(plugin: Plugin) -> Value {
    document(&plugin.run().success())
}

/// A JSON document of `scan`, which must follow the schema.
#[track_caller]
pub fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| schema::of(include_str!("../../../docs/scan.schema.json")));
    schema::checked(&SCHEMA, text)
}

/// The objects in one of a report's lists, as `resource/name`.
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

/// The entry of `terminating` that is this `resource/name`.
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

/// A namespace in which pods can be made.
fn namespace_for_pods<'a>(cluster: &'a Cluster, name: &str) -> Namespace<'a> {
    let ns = cluster.namespace(name);
    wait(
        "the namespace has its default service account",
        Duration::from_secs(30),
        || ns.get(["serviceaccount", "default"]).is_some(),
    );
    ns
}

/// A ConfigMap with this finalizer, deleted, and so held by it.
fn held(ns: &Namespace, name: &str, finalizer: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{app: {name}}}, finalizers: [{finalizer}]}}}}"
    ));
    ns.kubectl(["delete", "configmap", name, "--wait=false"])
        .success();
}

/// What stands on stderr when a run fails as it should: one sentence and one hint, nothing on stdout.
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
