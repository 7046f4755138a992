use serde_json::json;

use super::*;
use crate::diagnose::{
    Diagnosis,
    testing::{
        told::{commands, said},
        world::{World, bare as object},
    },
};

fn explain_with(spec: &Value, message: &str) -> Diagnosis {
    let bucket = object(
        "s3.aws.test",
        "buckets",
        "Bucket",
        json!({"metadata": {"name": "b", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
            "deletionTimestamp": "2026-01-01T11:00:00Z"}, "spec": spec, "status": {"conditions": [
                {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": message,
                 "lastTransitionTime": "2026-01-01T11:00:05Z"}]}}),
    );
    World::closed()
        .serving("", "secrets", "Secret")
        .object("", "secrets", "ns", "aws", None)
        .object("", "namespaces", "", "ns", None)
        .explain(&bucket)
}

#[test]
fn a_missing_name_in_a_complaint_is_the_cause() {
    let spec = json!({"auth": [{"credentialsSecretRef": {"name": "aws", "key": "k"}}]});
    let diagnosis = explain_with(&spec, "cannot connect: secrets \"aws\" not found");
    assert!(
        said(&diagnosis).contains("spec.auth[0].credentialsSecretRef names it"),
        "{}",
        said(&diagnosis)
    );
    assert!(commands(&diagnosis).contains("jsonpath='{.spec.auth[0].credentialsSecretRef}'"));
}

/// A Pod has a new name when it comes back.
#[test]
fn a_pod_that_is_missing_is_not_said_to_come_back() {
    let agent = object(
        "s3.aws.test",
        "buckets",
        "Bucket",
        json!({"metadata": {"name": "b", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
            "deletionTimestamp": "2026-01-01T11:00:00Z"}, "status": {"conditions": [{"type": "Synced", "status": "False",
            "reason": "ReconcileError", "message": "pods \"plugin-hwn98\" not found",
            "lastTransitionTime": "2026-01-01T11:00:05Z"}]}}),
    );
    let diagnosis = World::of([agent]).serving("", "pods", "Pod").explain_first();
    let texts: Vec<_> = diagnosis.steps.iter().map(|step| &*step.text).collect();
    let texts = texts.join("\n");
    assert!(texts.contains("seldom comes back under its name"), "{texts}");
    assert!(!texts.contains("exists again"), "{texts}");
}

/// The program that put the finalizer on misses a Secret, and the Secret is missing. The name of the program does not matter.
#[test]
fn what_the_author_of_the_finalizer_misses_and_is_missing_is_the_reason() {
    let written_by = |author: &str| {
        let place = object("", "namespaces", "Namespace", json!({"metadata": {"name": "ns"}}));
        let bucket = object(
            "s3.aws.test",
            "buckets",
            "Bucket",
            json!({"metadata": {"name": "b", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
                "deletionTimestamp": "2026-01-01T11:00:00Z", "managedFields": [
                    {"manager": "manager", "operation": "Update", "time": "2026-01-01T10:00:00Z",
                     "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"x.test/clean\"": {}}}}},
                    {"manager": author, "operation": "Update", "time": "2026-01-01T11:00:05Z", "subresource": "status",
                     "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Synced\"}": {}}}}}]},
                "spec": {"credentialRef": {"kind": "Secret", "name": "login"}}, "status": {"conditions": [
                    {"type": "Synced", "status": "False", "reason": "Failed", "message": "Secret \"login\" not found",
                     "lastTransitionTime": "2026-01-01T11:00:05Z"}]}}),
        );
        let world = World::closed()
            .serving("", "secrets", "Secret")
            .object("", "secrets", "ns", "login", None)
            .object("", "namespaces", "", "ns", Some(place));
        world.explain(&bucket).waits[0].verdict
    };
    assert_eq!(written_by("manager"), Verdict::Failing);
    assert_eq!(written_by("someone-else"), Verdict::Unknown);
}

#[test]
fn only_mentions_a_missing_name_without_a_complaint() {
    let diagnosis = explain_with(&json!({"secretName": "aws"}), "throttled, failed to delete");
    assert!(said(&diagnosis).contains("its spec.secretName names Secret aws, which does not exist"));
    assert!(
        diagnosis.waits[0]
            .on
            .iter()
            .all(|on| on.object.as_ref().is_none_or(|object| object.kind != "Secret"))
    );
    assert!(!commands(&diagnosis).contains("patch"));
}

/// Another object works without what the field names.
#[test]
fn a_missing_name_that_an_object_which_is_ready_has_too_is_not_told() {
    let told = |ready: &str| {
        let cluster = |metadata: Value, ready: &str| {
            object(
                "x.test",
                "clusters",
                "Cluster",
                json!({"metadata": metadata, "spec": {"secretName": "aws"}, "status": {"conditions": [
                    {"type": "Ready", "status": ready}]}}),
            )
        };
        let stuck = json!({"name": "b", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
            "deletionTimestamp": "2026-01-01T11:00:00Z"});
        let other = cluster(json!({"name": "c", "namespace": "ns", "uid": "v"}), ready);
        let world = World::closed()
            .serving("", "secrets", "Secret")
            .object("", "secrets", "ns", "aws", None)
            .object("", "namespaces", "", "ns", None)
            .list("x.test", "clusters", "ns", vec![other]);
        said(&world.explain(&cluster(stuck, "Unknown")))
    };
    assert!(!told("True").contains("which does not exist"), "{}", told("True"));
    assert!(told("False").contains("names Secret aws, which does not exist"));
}

/// A field whose value may be the secret itself is never shown.
#[test]
fn a_text_field_is_a_name_only_where_it_says_so() {
    for (field, is_name) in [
        ("githubConfigSecret", true),
        ("credentialsSecret", true),
        ("clientSecret", false),
        ("sharedSecret", false),
    ] {
        let said = said(&explain_with(
            &json!({field: "aws"}),
            "throttled, failed to delete",
        ));
        let names_it = format!("its spec.{field} names Secret aws, which does not exist");
        assert_eq!(said.contains(&names_it), is_name, "{said}");
    }
}

#[test]
fn a_name_is_no_part_of_a_longer_one() {
    for (text, is_named) in [
        ("secrets \"aws\" not found", true),
        ("cannot find aws.", true),
        ("secrets \"aws-tls\" not found", false),
        ("no such host aws.example.com", false),
        ("my-aws is missing", false),
    ] {
        assert_eq!(has_name(text, "aws"), is_named, "{text}");
    }
}

#[test]
fn a_class_of_kubernetes_is_followed_unless_it_may_be_a_mere_word() {
    let of_class = |group: &str, plural: &str, kind: &str, field: &str| {
        let ingress = object(
            "networking.k8s.io",
            "ingresses",
            "Ingress",
            json!({"metadata": {"name": "shop", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
                "deletionTimestamp": "2026-01-01T11:00:00Z"}, "spec": {field: "edge"}}),
        );
        let world = World::closed()
            .serving_everywhere(group, plural, kind)
            .object(group, plural, "", "edge", None)
            .object("", "namespaces", "", "ns", None);
        said(&world.explain(&ingress))
    };
    let said = of_class(
        "networking.k8s.io",
        "ingressclasses",
        "IngressClass",
        "ingressClassName",
    );
    assert!(
        said.contains("its spec.ingressClassName names IngressClass edge, which does not exist"),
        "{said}"
    );
    let said = of_class(
        "storage.k8s.io",
        "storageclasses",
        "StorageClass",
        "storageClassName",
    );
    assert!(!said.contains("which does not exist"), "{said}");
}

#[test]
fn a_key_of_a_password_or_token_is_one_of_a_secret() {
    for (field, reference, is_secret) in [
        ("passwordRef", json!({"name": "aws", "key": "password"}), true),
        ("apiKeyRef", json!({"name": "aws", "key": "k"}), true),
        // Without a key it may be any object, and a key of settings may be one of a ConfigMap.
        ("passwordRef", json!({"name": "aws"}), false),
        (
            "tokenRef",
            json!({"kind": "VaultSecret", "name": "aws", "key": "k"}),
            false,
        ),
        ("settingsRef", json!({"name": "aws", "key": "k"}), false),
    ] {
        let said = said(&explain_with(&json!({ field: reference }), "throttled"));
        let names_it = format!("its spec.{field} names Secret aws, which does not exist");
        assert_eq!(said.contains(&names_it), is_secret, "{field}: {said}");
    }
}

#[test]
fn the_credentials_that_its_status_names_are_followed_and_no_other_secret_there() {
    let mut backup = object(
        "x.test",
        "backups",
        "Backup",
        json!({"metadata": {"name": "b", "namespace": "ns", "uid": "u", "finalizers": ["x.test/clean"],
            "deletionTimestamp": "2026-01-01T11:00:00Z"}, "spec": {},
            "status": {"storage": {"s3": {"credentialsSecret": "aws"}}}}),
    );
    let explained = |backup: &Object| {
        let world = World::closed()
            .serving("", "secrets", "Secret")
            .object("", "secrets", "ns", "aws", None)
            .object("", "namespaces", "", "ns", None);
        said(&world.explain(backup))
    };
    let names_it = "its status.storage.s3.credentialsSecret names Secret aws, which does not exist";
    assert!(explained(&backup).contains(names_it), "{}", explained(&backup));
    // A Secret that its controller made, and deleted again, is no fault.
    backup.value["status"] = json!({"binding": {"secretName": "aws"}});
    assert!(!explained(&backup).contains("which does not exist"));
}

#[test]
fn ignores_names_that_are_optional_or_written_to() {
    let spec = json!({"writeConnectionSecretToRef": {"name": "aws"}, "secretRef": {"name": "aws", "optional": true}});
    let diagnosis = explain_with(&spec, "secrets \"aws\" not found");
    assert!(!said(&diagnosis).contains("which does not exist") && !said(&diagnosis).contains("names it"));
}
