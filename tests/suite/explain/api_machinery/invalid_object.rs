//! An object that no longer passes the validation rules of its type. So its controller cannot remove its
//! finalizer.

use serde_json::json;

use crate::{
    explain::{
        custom_resources::{condition, define, going, running, status_by},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, goes, refusal, release, told},
    },
    harness::wait,
};

const GROUP: &str = "moulds.example-vendor.io";
const FINALIZER: &str = "moulds.example-vendor.io/clean";

/// A rule at the root, which the server checks on every update.
fn admits(only_with_size: bool) {
    let rule = if only_with_size {
        json!([{"rule": "has(self.size)", "message": "size is needed"}])
    } else {
        json!([])
    };
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"size": {"type": "integer"}}, "x-kubernetes-validations": rule});
    let patch =
        json!([{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": schema}]);
    let patch = format!("--patch={patch}");
    WORLD
        .kubectl(["patch", "crd", &format!("moulds.{GROUP}"), "--type=json", &patch])
        .success();
}

#[test]
fn an_object_that_fails_its_validation_rules_accepts_no_update() {
    let cluster = &*WORLD;
    define(GROUP, "v1", "moulds", "Mould");
    running(
        "moulds",
        "mould-operator",
        json!({"app": "mould-operator"}),
        GROUP,
    );
    let ns = cluster.namespace("moulds");
    let place = ns.name();
    let target = going(
        "moulds",
        &json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Mould",
            "metadata": {"name": "m", "namespace": place, "finalizers": [FINALIZER]}}),
        10,
    );
    let refused = || refusal(cluster, &target, place);
    admits(true);
    wait("the rule is in force", SOON, || refused().is_some());
    let words = refused().unwrap();
    let words = words.trim().trim_start_matches("The ");
    assert!(
        words.contains(" is invalid: ") && words.contains("size is needed"),
        "{words}"
    );
    // The controller reports it. It could write the status before the rule existed.
    admits(false);
    wait("the rule is gone", SOON, || refused().is_none());
    let said = |words: &str| {
        let failed = condition("Ready", "False", "ReconcileError", words);
        status_by("mould-operator", &target, place, &json!({"conditions": [failed]}));
    };
    said(&format!("cannot create the cleaner: {words}"));
    assert_eq!(told(cluster, &target, place).verdict(FINALIZER), "failing");
    said(&format!("failed to remove finalizer: {words}"));
    admits(true);
    wait("the rule is in force again", SOON, || refused().is_some());
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(FINALIZER), "rejected", "{story}");
    story
        .has_root("Mould m: is not valid for the API server")
        .says("size is needed")
        .never_advises("delete")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    // The step: an editor that adds the field.
    let patch = r#"{"size":1,"status":null}"#;
    ns.kubectl(["patch", &target, "--type=merge", "--patch", patch])
        .success();
    assert_ne!(told(cluster, &target, place).verdict(FINALIZER), "rejected");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
