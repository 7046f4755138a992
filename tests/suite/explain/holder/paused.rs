//! Crossplane: the provider runs, and an annotation pauses this managed resource.

use serde_json::json;

use super::{Operator, WORLD, going};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told},
    },
    stuck::custom_type,
};

const FINALIZER: &str = "finalizer.managedresource.crossplane.io";
const GROUP: &str = "s3.aws.upbound.io";

#[test]
fn a_paused_resource_names_the_annotation_that_pauses_it() {
    let cluster = &*WORLD;
    custom_type(cluster, GROUP, "buckets", "Bucket");
    let operator = Operator {
        cluster: &WORLD,
        namespace: "crossplane-system",
        name: "provider-aws-s3-1a2b3c",
        labels: json!({"pkg.crossplane.io/provider": "provider-aws-s3"}),
        group: GROUP,
        resources: json!(["buckets", "buckets/status", "buckets/finalizers"]),
        verbs: json!(["get", "list", "watch", "update", "patch"]),
    };
    operator.install();
    operator.runs();
    let ns = cluster.namespace("data");
    going(
        "buckets",
        &json!({"apiVersion": "s3.aws.upbound.io/v1", "kind": "Bucket", "metadata": {"name": "logs",
            "namespace": ns.name(), "finalizers": [FINALIZER],
            "annotations": {"crossplane.io/paused": "true", "crossplane.io/external-name": "logs-4711"}}}),
        10,
    );

    let target = "buckets.s3.aws.upbound.io/logs";
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story
        .has_root("Bucket logs: is marked to be left alone")
        .says("crossplane.io/paused: \"true\"")
        .says("It runs")
        .never_says("It is gone")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, target, ns.name(), 24);
    story.follow(cluster, "crossplane.io/paused-");
    let story = told(cluster, target, ns.name());
    story.never_says("left alone");
    release(cluster, target, ns.name());
    goes(cluster, target, ns.name());
}
