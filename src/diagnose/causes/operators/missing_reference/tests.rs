use serde_json::json;

use super::*;
use crate::diagnose::{
    Diagnosis,
    testing::{
        told::{commands, said},
        world::{World, bare as object},
    },
};

fn told(spec: &Value, message: &str) -> Diagnosis {
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
fn a_missing_name_that_is_complained_of_is_the_cause() {
    let spec = json!({"auth": [{"credentialsSecretRef": {"name": "aws", "key": "k"}}]});
    let told = told(&spec, "cannot connect: secrets \"aws\" not found");
    assert!(
        said(&told).contains("spec.auth[0].credentialsSecretRef names it"),
        "{}",
        said(&told)
    );
    assert!(commands(&told).contains("jsonpath='{.spec.auth[0].credentialsSecretRef}'"));
}

#[test]
fn a_reference_alone_is_only_mentioned() {
    let told = told(&json!({"secretName": "aws"}), "throttled, failed to delete");
    assert!(said(&told).contains("its spec.secretName names Secret aws, which does not exist"));
    assert!(
        told.waits[0]
            .on
            .iter()
            .all(|on| on.object.as_ref().is_none_or(|object| object.kind != "Secret"))
    );
    assert!(!commands(&told).contains("patch"));
}

#[test]
fn what_is_written_to_or_optional_is_not_missed() {
    let spec = json!({"writeConnectionSecretToRef": {"name": "aws"}, "secretRef": {"name": "aws", "optional": true}});
    let told = told(&spec, "secrets \"aws\" not found");
    assert!(!said(&told).contains("which does not exist") && !said(&told).contains("names it"));
}
