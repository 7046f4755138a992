//! Custom resources that report why they are stuck, and the objects that they reference and that were deleted
//! first.

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{SOON, delete, goes, is_going, release, told},
    },
    harness::{Cluster, Namespace, wait},
    stuck::custom_type,
};

const GROUP: &str = "clouds.example.test";
const CLEAN: &str = "clouds.example.test/clean";
const BY_OPERATOR: &str = "--field-manager=cloud-operator";

/// A condition of an operator that cannot do its work.
fn complains(ns: &Namespace, bucket: &str, message: &str) {
    let now = jiff::Timestamp::now();
    let condition = serde_json::json!({"status": {"conditions": [{"type": "Synced", "status": "False",
        "reason": "ReconcileError", "message": message, "lastTransitionTime": format!("{now:.0}")}]}});
    writes(ns, bucket, &condition);
}

/// A change by the operator.
fn writes(ns: &Namespace, bucket: &str, change: &serde_json::Value) {
    let change = change.to_string();
    ns.kubectl(["patch", bucket, BY_OPERATOR, "--type=merge", "--patch", &change])
        .success();
}

#[test]
fn credentials_that_were_deleted_with_the_namespace_are_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("credentials");
    custom_type(cluster, GROUP, "buckets", "Bucket");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: aws-credentials}}}}
---
apiVersion: {GROUP}/v1
kind: Bucket
metadata: {{name: invoices, annotations: {{crossplane.io/external-name: acme-invoices}}}}
spec: {{forProvider: {{}}, deletionPolicy: Delete, auth: {{credentialsSecretRef: {{name: aws-credentials, key: creds}}}}}}
---
apiVersion: {GROUP}/v1
kind: Bucket
metadata: {{name: quiet}}
spec: {{forProvider: {{}}, deletionPolicy: Orphan, auth: {{credentialsSecretRef: {{name: aws-credentials, key: creds}}}}}}"
    ));
    let (invoices, quiet) = (
        format!("buckets.{GROUP}/invoices"),
        format!("buckets.{GROUP}/quiet"),
    );
    for bucket in [&invoices, &quiet] {
        writes(
            &ns,
            bucket,
            &serde_json::json!({"metadata": {"finalizers": [CLEAN]}}),
        );
    }

    // Nothing is missing yet: the explanation says what will be lost.
    told(cluster, &invoices, ns.name())
        .says("what it stands for outside the cluster (acme-invoices) IS DELETED with it: spec.deletionPolicy is Delete")
        .never_says("which does not exist");

    delete(cluster, &format!("ns/{}", ns.name()), "");
    // The namespace controller deletes types in no fixed order. A report from before the deletion does not
    // count.
    wait(
        "the Secret is gone, and both objects are in deletion",
        SOON,
        || {
            ns.get(["secret", "aws-credentials"]).is_none()
                && [&invoices, &quiet].iter().all(|bucket| is_going(&ns, bucket))
        },
    );
    complains(
        &ns,
        &invoices,
        "cannot delete external resource: cannot get credentials: secrets \"aws-credentials\" not found",
    );

    let story = told(cluster, &invoices, ns.name());
    assert_eq!(story.verdict(CLEAN), "failing");
    story
        .has_root("Secret aws-credentials: does not exist; spec.auth.credentialsSecretRef names it")
        .says("ReconcileError: cannot delete external resource")
        .says("because it is being terminated")
        .says("LEAKED INFRASTRUCTURE")
        .never_advises("--raw")
        .is_careful();
    replayed(cluster, &invoices, ns.name());
    withstands_less(cluster, &invoices, ns.name(), 20);

    // A reference to a missing name proves nothing without a report about it.
    let story = told(cluster, &quiet, ns.name());
    assert_eq!(story.verdict(CLEAN), "unknown");
    story
        .says("its spec.auth.credentialsSecretRef names Secret aws-credentials, which does not exist")
        .says("stays as it is, and is nobody's any more: spec.deletionPolicy is Orphan")
        .never_says("LEAKED")
        .never_advises("patch");
    assert!(story.roots().is_empty(), "{story}");

    // A report about something else proves nothing either.
    complains(
        &ns,
        &quiet,
        "cannot delete external resource: bucket is not empty",
    );
    let story = told(cluster, &quiet, ns.name());
    assert_eq!(story.verdict(CLEAN), "failing");
    story.says("bucket is not empty").never_advises("patch");
    assert!(
        story.roots().iter().all(|root| !root.contains("Secret")),
        "{story}"
    );

    told(cluster, &invoices, ns.name()).follow(cluster, "finalizers remove");
    goes(cluster, &invoices, ns.name());
    release(cluster, &quiet, ns.name());
    goes(cluster, &format!("ns/{}", ns.name()), "");
}
