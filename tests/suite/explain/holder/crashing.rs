//! KEDA: the operator crashes repeatedly.

use serde_json::json;

use super::{Operator, WORLD, going};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told},
    },
    stuck::custom_type,
};

const FINALIZER: &str = "finalizer.keda.sh";

#[test]
fn a_crashing_operator_fails_with_the_message_of_its_kubelet() {
    let cluster = &*WORLD;
    custom_type(cluster, "keda.sh", "scaledobjects", "ScaledObject");
    let operator = Operator {
        cluster: &WORLD,
        namespace: "keda",
        name: "keda-operator",
        labels: json!({"app": "keda-operator"}),
        group: "keda.sh",
        resources: json!(["*"]),
        verbs: json!(["*"]),
    };
    operator.install();
    operator.pod_is(
        &json!({"phase": "Running", "containerStatuses": [{"name": "manager", "image": "i", "imageID": "",
        "ready": false, "restartCount": 12, "state": {"waiting": {"reason": "CrashLoopBackOff",
            "message": "back-off 5m0s restarting failed container=manager"}},
        "lastState": {"terminated": {"exitCode": 2, "reason": "Error"}}}]}),
    );
    let ns = cluster.namespace("queue");
    going(
        "scaledobjects",
        &json!({"apiVersion": "keda.sh/v1", "kind": "ScaledObject",
            "metadata": {"name": "worker", "namespace": ns.name(), "finalizers": [FINALIZER]}}),
        10,
    );

    let target = "scaledobjects.keda.sh/worker";
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "failing", "{story}");
    story
        .has_root("Deployment keda-operator: 0 of 1 ready for ")
        .says(": CrashLoopBackOff: container manager was restarted 12 times (last exit code 2)")
        .says("It cannot run")
        .never_says("It is gone")
        .never_advises("finalizers remove")
        .never_advises("--replicas")
        .is_careful();
    withstands_less(cluster, target, ns.name(), 31);
    // Its Deployment shows none of that, and no kubelet has the log here.
    story
        .says("--container manager --previous")
        .never_advises("describe deployments.apps/keda-operator");

    operator.runs();
    assert_eq!(told(cluster, target, ns.name()).verdict(FINALIZER), "waiting");
    release(cluster, target, ns.name());
    goes(cluster, target, ns.name());
}
