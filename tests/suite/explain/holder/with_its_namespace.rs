//! Velero: the operator's own namespace is deleted, and the operator with it, before it cleans up its objects.

use serde_json::json;

use super::{Operator, WORLD, going};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, release, told},
    },
    harness::wait,
    stuck::custom_type,
};

const FINALIZER: &str = "restores.velero.io/external-resources-finalizer";

#[test]
fn an_operator_in_a_terminating_namespace_cannot_be_started_there() {
    let cluster = &*WORLD;
    custom_type(cluster, "velero.io", "restores", "Restore");
    let operator = Operator {
        cluster: &WORLD,
        namespace: "velero",
        name: "velero",
        labels: json!({"deploy": "velero"}),
        group: "velero.io",
        resources: json!(["*"]),
        verbs: json!(["*"]),
    };
    operator.install();
    operator.runs();
    let ns = cluster.namespace("restored");
    // A finalizer keeps the Deployment, and so its namespace.
    let hold = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    let place = "--namespace=velero";
    cluster
        .kubectl([
            "patch",
            "deployment",
            "velero",
            place,
            "--type=merge",
            "--patch",
            hold,
        ])
        .success();
    delete(cluster, "namespace/velero", "");
    wait(
        "its Pods are gone, and the namespace is in deletion",
        SOON,
        || {
            let gone = cluster
                .kubectl(["get", "pods", place, "--output=name"])
                .stdout
                .is_empty();
            let deployment = operator.deployment().expect("the object has a finalizer");
            gone && deployment["metadata"]["deletionTimestamp"].is_string()
        },
    );
    going(
        "restores",
        &json!({"apiVersion": "velero.io/v1", "kind": "Restore",
            "metadata": {"name": "monday", "namespace": ns.name(), "finalizers": [FINALIZER]}}),
        10,
    );

    let target = "restores.velero.io/monday";
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "failing", "{story}");
    story
        .has_root("Deployment velero: is itself being deleted")
        .has_root("Namespace velero: is being deleted")
        .says("Install the controller again after that")
        .never_says("It runs")
        .never_advises("finalizers remove")
        .never_advises("scale")
        .is_careful();
    withstands_less(cluster, target, ns.name(), 30);
    let next = story.follow(cluster, "explain namespaces/velero");
    assert!(next.contains("example.com/hold"), "{next}");

    release(cluster, "deployment/velero", "velero");
    goes(cluster, "namespace/velero", "");
    operator.install();
    operator.runs();
    assert_eq!(told(cluster, target, ns.name()).verdict(FINALIZER), "waiting");
    release(cluster, target, ns.name());
    goes(cluster, target, ns.name());
}
