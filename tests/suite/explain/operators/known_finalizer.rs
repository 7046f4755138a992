//! A finalizer of the catalogue: Strimzi is uninstalled, with its topics and their type still there. `holder/` has operators
//! that crash, are off, or lack a right.

use serde_json::json;

use crate::{
    explain::{
        holder::{Operator, WORLD, going, lease},
        less_is_weaker::withstands_real_rights,
        replayed::replayed,
        told::{goes, told},
    },
    stuck::custom_type,
};

const FINALIZER: &str = "strimzi.io/topic-operator";
const GROUP: &str = "kafka.strimzi.io";

#[test]
fn an_operator_is_gone_by_two_signs_and_not_by_one() {
    let cluster = &*WORLD;
    custom_type(cluster, GROUP, "kafkatopics", "KafkaTopic");
    let crd = "crd/kafkatopics.kafka.strimzi.io";
    let helm = [
        "meta.helm.sh/release-name=kafka-operator",
        "meta.helm.sh/release-namespace=kafka",
    ];
    cluster.kubectl(["annotate", crd, helm[0], helm[1]]).success();
    // Without the namespace of its installation there would be one sign more.
    cluster.apply("{apiVersion: v1, kind: Namespace, metadata: {name: kafka}}");
    let ns = cluster.namespace("kafka");
    let (target, place) = ("kafkatopics.kafka.strimzi.io/payments", ns.name());
    going(
        "kafkatopics",
        &json!({"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaTopic", "metadata": {"name": "payments",
            "namespace": place, "labels": {"strimzi.io/cluster": "prod"}, "finalizers": [FINALIZER]}}),
        30,
    );

    // Its ServiceAccount still exists: the Deployment may be deleted only to create it again.
    ns.apply(
        "
{apiVersion: v1, kind: ServiceAccount, metadata: {name: prod-entity-operator}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prod-entity-operator}
rules: [{apiGroups: [kafka.strimzi.io], resources: [kafkatopics, kafkatopics/status], verbs: [get, list, patch, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: prod-entity-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prod-entity-operator}
subjects: [{kind: ServiceAccount, name: prod-entity-operator}]
",
    );
    // The operator of another Kafka cluster runs, which ignores these topics.
    let other = Operator {
        cluster: &WORLD,
        namespace: "kafka-dev",
        name: "dev-entity-operator",
        labels: json!({"app.kubernetes.io/name": "entity-operator", "strimzi.io/cluster": "dev"}),
        group: GROUP,
        resources: json!(["kafkatopics", "kafkatopics/status"]),
        verbs: json!(["get", "list", "patch", "update"]),
    };
    other.install();
    other.runs();
    let story = told(cluster, target, place);
    assert_eq!(story.verdict(FINALIZER), "unknown", "{story}");
    story
        .says("none is Deployment *-entity-operator with strimzi.io/cluster=prod")
        .says("what runs and may change kafkatopics.kafka.strimzi.io belongs to other products or instances")
        .says("(suggestive only: not two independent signs)")
        .never_says("It runs")
        .never_says("This runs, and is probably it")
        .never_says("It is gone")
        .never_advises("finalizers remove");
    cluster
        .kubectl([
            "delete",
            "deployment,serviceaccount",
            other.name,
            "--namespace=kafka-dev",
        ])
        .success();

    // Without the ServiceAccount there are two signs: no name of it is left, and nothing runs with the rights.
    let all = "serviceaccount,role,rolebinding";
    ns.kubectl(["delete", all, "prod-entity-operator"]).success();
    // A Lease that another program renews is no sign of life of this operator.
    lease(place, "somebody-else", "other", 1);
    let story = told(cluster, target, place);
    assert_eq!(story.verdict(FINALIZER), "orphaned", "{story}");
    story
        .says("It is gone")
        .says("Helm release kafka-operator in namespace kafka")
        .says("ORPHANED OBJECTS")
        .never_says("It runs")
        .is_careful();
    replayed(cluster, target, place);
    withstands_real_rights(cluster, target, place, 29);
    story.follow(cluster, "finalizers remove");
    goes(cluster, target, place);
}
