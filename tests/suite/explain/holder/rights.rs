//! cert-manager runs, renews its Lease and reports an error. Then it loses the right that it needs.

use serde_json::json;

use super::{Operator, WORLD, going, lease};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told},
    },
    stuck::custom_type,
};

const FINALIZER: &str = "acme.cert-manager.io/finalizer";
const GROUP: &str = "acme.cert-manager.io";

#[test]
fn an_operator_that_runs_and_does_not_act_is_reported() {
    let cluster = &*WORLD;
    custom_type(cluster, GROUP, "challenges", "Challenge");
    let operator = Operator {
        cluster: &WORLD,
        namespace: "cert-manager",
        name: "cert-manager",
        labels: json!({"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller"}),
        group: GROUP,
        resources: json!(["challenges", "challenges/status", "challenges/finalizers"]),
        verbs: json!(["get", "list", "watch", "update", "patch"]),
    };
    operator.install();
    operator.runs();
    let renew = || lease("kube-system", "cert-manager-controller", "cert-manager", 1);
    renew();
    let ns = cluster.namespace("web");
    let (target, place) = ("challenges.acme.cert-manager.io/api-cert-1", ns.name());
    going(
        "challenges",
        &json!({"apiVersion": "acme.cert-manager.io/v1", "kind": "Challenge",
            "metadata": {"name": "api-cert-1", "namespace": place, "finalizers": [FINALIZER]},
            "spec": {"dnsName": "api.example.com", "type": "DNS-01"}}),
        10,
    );

    let story = told(cluster, target, place);
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story
        .says("It runs. Deployment cert-manager/cert-manager: 1 of 1 ready")
        .says("Lease kube-system/cert-manager-controller spec.renewTime: renewed")
        .never_says("It is gone")
        .never_says("may neither update nor patch")
        .never_advises("finalizers remove")
        .is_careful();
    story.follow(cluster, "finalizers nudge");
    renew();
    withstands_less(cluster, target, place, 30);

    // Its role loses a right.
    cluster.apply(&operator.role(&json!(["get", "list", "watch"])).to_string());
    renew();
    let story = told(cluster, target, place);
    assert_eq!(story.verdict(FINALIZER), "failing", "{story}");
    story
        .has_root("may neither update nor patch challenges.acme.cert-manager.io")
        .says("It runs. Deployment cert-manager/cert-manager")
        .says("ServiceAccount cert-manager/cert-manager")
        .never_says("It is gone")
        .never_advises("finalizers remove");
    let account = "--as=system:serviceaccount:cert-manager:cert-manager";
    let may = cluster.kubectl([
        "auth",
        "can-i",
        "update",
        "challenges.acme.cert-manager.io",
        account,
        "-n",
        place,
    ]);
    assert_eq!(may.stdout.trim(), "no", "the server says the same: {may}");

    cluster.apply(&operator.role(&operator.verbs).to_string());
    // It can work again, and now reports the next obstacle.
    let uid = cluster.get([target, "--namespace", place]).unwrap()["metadata"]["uid"].clone();
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "api-cert-1.1", "namespace": place},
            "involvedObject": {"apiVersion": "acme.cert-manager.io/v1", "kind": "Challenge", "name": "api-cert-1", "namespace": place,
                "uid": uid},
            "type": "Warning", "reason": "CleanUpError", "message": "Error cleaning up challenge: secret \"dns\" not found",
            "source": {"component": "cert-manager-challenges"},
            "lastTimestamp": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()})
        .to_string(),
    );
    renew();
    let story = told(cluster, target, place);
    assert_eq!(story.verdict(FINALIZER), "failing", "{story}");
    story
        .has_root("CleanUpError: Error cleaning up challenge: secret \"dns\" not found")
        .never_says("may neither update nor patch");
    release(cluster, target, place);
    goes(cluster, target, place);
}
