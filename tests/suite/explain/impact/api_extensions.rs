//! Services that the API server calls. `workload.rs` has the webhooks and conversions of an operator.

use serde_json::json;

use crate::{
    explain::told::{goes, told},
    harness::Cluster,
};

/// Without its backend an APIService stops the deletion of every namespace, even its own.
#[test]
fn an_api_service_is_deleted_before_its_namespace() {
    let cluster = Cluster::start();
    let ns = cluster.namespace("metrics");
    let place = ns.name();
    ns.apply("{apiVersion: v1, kind: Service, metadata: {name: metrics}, spec: {ports: [{port: 443}]}}");
    cluster.apply(
        &json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.metrics.example.test"},
            "spec": {"group": "metrics.example.test", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
                "insecureSkipTLSVerify": true, "service": {"namespace": place, "name": "metrics"}}})
        .to_string(),
    );
    let target = format!("ns/{place}");
    let story = told(&cluster, &target, "");
    story
        .fates("broken", "APIService v1.metrics.example.test: nobody serves it any more, and until it is deleted too no namespace")
        .never_says("APIService v1.apps");
    story.follow(
        &cluster,
        "delete apiservices.apiregistration.k8s.io/v1.metrics.example.test",
    );
    story.follow(&cluster, "delete namespace");
    goes(&cluster, &target, "");
}
