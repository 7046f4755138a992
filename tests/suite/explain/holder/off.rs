//! RabbitMQ: the operator is scaled to zero, and a cluster is deleted.

use serde_json::json;

use super::{Operator, WORLD, going, lease};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told},
    },
    stuck::custom_type,
};

const FINALIZER: &str = "deletion.finalizers.rabbitmqclusters.rabbitmq.com";

#[test]
fn an_operator_that_was_scaled_to_zero_is_the_root_cause() {
    let cluster = &*WORLD;
    custom_type(cluster, "rabbitmq.com", "rabbitmqclusters", "RabbitmqCluster");
    let name = "rabbitmq-cluster-operator";
    let operator = Operator {
        cluster: &WORLD,
        namespace: "rabbitmq-system",
        name,
        labels: json!({"app.kubernetes.io/name": name, "app.kubernetes.io/component": "rabbitmq-operator"}),
        group: "rabbitmq.com",
        resources: json!([
            "rabbitmqclusters",
            "rabbitmqclusters/finalizers",
            "rabbitmqclusters/status"
        ]),
        verbs: json!(["get", "list", "update", "watch"]),
    };
    operator.install();
    operator.runs();
    let ns = cluster.namespace("shop");
    let place = "--namespace=rabbitmq-system";
    let none = r#"{"spec":{"replicas":0}}"#;
    cluster
        .kubectl(["patch", "deployment", name, place, "--patch", none])
        .success();
    operator.has_ready(0);
    // Neither a Deployment of the same name nor the Lease of another instance belongs to the operator.
    ns.apply(&format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{selector: {{matchLabels: {{app: shop}}}}, \
         template: {{metadata: {{labels: {{app: shop}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}}}"
    ));
    lease(
        ns.name(),
        "rabbitmq-cluster-operator-leader-election",
        "another",
        1,
    );
    going(
        "rabbitmqclusters",
        &json!({"apiVersion": "rabbitmq.com/v1", "kind": "RabbitmqCluster",
            "metadata": {"name": "orders", "namespace": ns.name(), "finalizers": [FINALIZER]}}),
        10,
    );

    let target = "rabbitmqclusters.rabbitmq.com/orders";
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story
        .has_root("Deployment rabbitmq-cluster-operator: is scaled to 0 replicas, by kubectl-patch")
        .says("It was switched off")
        .says("of another instance")
        .says("may be another's")
        .never_says("It runs")
        .never_says("It is gone")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, target, ns.name(), 21);

    story.follow(cluster, "scale deployments.apps/rabbitmq-cluster-operator");
    operator.runs();
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story.says("It runs. Deployment rabbitmq-system/rabbitmq-cluster-operator: 1 of 1 ready");
    story.never_says("switched off");
    release(cluster, target, ns.name());
    goes(cluster, target, ns.name());
}
