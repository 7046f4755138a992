//! AWS Load Balancer Controller: Ingresses that share a load balancer, and a target group that does not exist.

use serde_json::json;

use crate::explain::{
    custom_resources::{define, going, running},
    holder::WORLD,
    less_is_weaker::withstands_less,
    told::{delete, goes, release, told},
};

fn labels() -> serde_json::Value {
    json!({"app.kubernetes.io/name": "aws-load-balancer-controller"})
}

#[test]
fn a_shared_load_balancer_and_a_missing_target_group_are_named() {
    let cluster = &*WORLD;
    define(
        "elbv2.k8s.aws",
        "v1beta1",
        "targetgroupbindings",
        "TargetGroupBinding",
    );
    running(
        "aws-lbc",
        "aws-load-balancer-controller",
        labels(),
        "elbv2.k8s.aws",
    );
    let ns = cluster.namespace("edge");
    let place = ns.name();
    let finalizer = "group.ingress.k8s.aws/shared";
    for (name, group) in [("shop", "shared"), ("blog", "shared"), ("alone", "private")] {
        ns.apply(
            &json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": name,
                "annotations": {"alb.ingress.kubernetes.io/group.name": group},
                "finalizers": [format!("group.ingress.k8s.aws/{group}")]},
                "spec": {"ingressClassName": "alb", "defaultBackend": {"service": {"name": name, "port": {"number": 80}}}}})
            .to_string(),
        );
        ns.patch_status(
            ["ingress", name],
            &json!({"loadBalancer": {"ingress": [{"hostname": format!("k8s-{group}.eu-west-1.elb.example.test")}]}}),
        );
    }
    let uid = |what: &str| ns.get([what]).unwrap()["metadata"]["uid"].clone();
    let target = "ingress/shop";
    delete(cluster, target, place);
    ns.apply(
        &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "shop.1"}, "type": "Warning", "reason": "FailedDeployModel",
            "involvedObject": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "shop", "namespace": place, "uid": uid(target)},
            "message": "Failed deploy model due to failed to delete securityGroup: timed out waiting for the condition",
            "source": {"component": "ingress"}, "lastTimestamp": format!("{:.0}", jiff::Timestamp::now())})
        .to_string(),
    );
    let story = told(cluster, target, place);
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    story
        .has_root("failed to delete securityGroup: timed out waiting for the condition")
        .says(&format!("ing/blog -n {place} share its load balancer"))
        .says("lose their traffic")
        .says("the load balancer at k8s-shared.eu-west-1.elb.example.test stays at the provider")
        .never_says("alone")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, target, place, 26);
    let other = story.follow(cluster, "describe ingress/blog");
    assert!(other.contains("group.name: shared"), "{other}");
    release(cluster, target, place);
    goes(cluster, target, place);

    // The last Ingress of the group deletes the load balancer.
    delete(cluster, "ingress/alone", place);
    told(cluster, "ingress/alone", place).says("it is the last of group private");
    for name in ["ingress/alone", "ingress/blog"] {
        delete(cluster, name, place);
        release(cluster, name, place);
        goes(cluster, name, place);
    }

    let finalizer = "elbv2.k8s.aws/resources";
    let target = going(
        "targetgroupbindings",
        &json!({"apiVersion": "elbv2.k8s.aws/v1beta1", "kind": "TargetGroupBinding",
            "metadata": {"name": "k8s-shop", "namespace": place, "finalizers": [finalizer]},
            "spec": {"targetGroupARN": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/gone/1", "serviceRef": {"name": "shop", "port": 80}}}),
        10,
    );
    ns.apply(
        &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "k8s-shop.1"}, "type": "Warning", "reason": "FailedCleanup",
            "involvedObject": {"apiVersion": "elbv2.k8s.aws/v1beta1", "kind": "TargetGroupBinding", "name": "k8s-shop", "namespace": place,
                "uid": uid(&target)},
            "message": "Failed cleanup due to ValidationError: 'arn:…:targetgroup/gone/1' is not a valid target group ARN",
            "source": {"component": "targetGroupBinding"}, "lastTimestamp": format!("{:.0}", jiff::Timestamp::now())})
        .to_string(),
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    story
        .has_root("is not a valid target group ARN")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 26);
    story.follow(cluster, "describe targetgroupbinding/k8s-shop");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
