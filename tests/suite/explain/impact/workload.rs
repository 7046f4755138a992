//! cert-manager: what its deletion would leave behind, and Deployments of that name elsewhere.

use std::thread;

use serde_json::json;

use super::{WORLD, operator};
use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, goes, release, told},
    },
    harness::{Cluster, wait},
    stuck::custom_type,
};

const GROUP: &str = "acme.cert-manager.io";
const CHALLENGES: &str = "challenges.acme.cert-manager.io";
const SERVICE: &str = "cert-manager-webhook";

/// A webhook of cert-manager whose Service is in this namespace.
pub fn webhook(cluster: &Cluster, name: &str, [namespace, service]: [&str; 2], policy: &str) {
    cluster.apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": [{"name": "webhook.cert-manager.io", "failurePolicy": policy,
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": service, "namespace": namespace}},
                "rules": [{"apiGroups": ["cert-manager.io"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["certificates", "issuers"]}]}]})
        .to_string(),
    );
}

#[test]
fn an_operator_leaves_its_objects_and_webhooks_behind() {
    let cluster = &*WORLD;
    custom_type(cluster, GROUP, "challenges", "Challenge");
    let labels = |component: &str| json!({"app.kubernetes.io/name": component, "app.kubernetes.io/component": if component == "webhook" { "webhook" } else { "controller" }});
    operator("cert-manager", "cert-manager", &labels("cert-manager"));
    operator("cert-manager", "cert-manager-webhook", &labels("webhook"));
    // A Deployment of that name that is no cert-manager.
    operator("other", "cert-manager", &json!({"app": "cert-manager"}));
    cluster.apply(
        "{apiVersion: v1, kind: Service, metadata: {name: cert-manager-webhook, namespace: cert-manager}, spec: {ports: [{port: 443}], \
         selector: {app.kubernetes.io/name: webhook}}}",
    );
    webhook(cluster, SERVICE, ["cert-manager", SERVICE], "Fail");
    webhook(cluster, "of-another", ["other", SERVICE], "Fail");
    let ns = cluster.namespace("pay");
    for name in ["api-cert", "web-cert"] {
        cluster.apply(
            &json!({"apiVersion": "acme.cert-manager.io/v1", "kind": "Challenge", "metadata": {"name": name,
                "namespace": ns.name(), "finalizers": ["acme.cert-manager.io/finalizer"]}})
            .to_string(),
        );
    }

    // A type that the same webhook converts.
    custom_type(cluster, "cert-manager.io", "certificates", "Certificate");
    let conversion = json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "cert-manager", "name": "cert-manager-webhook"}}}}}});
    let certificates = "crd/certificates.cert-manager.io";
    cluster
        .kubectl([
            "patch",
            certificates,
            "--type=merge",
            "--patch",
            &conversion.to_string(),
        ])
        .success();

    let held = format!(
        "2 {CHALLENGES} with acme.cert-manager.io/finalizer. Nobody else was found who removes that: api-cert web-cert"
    );
    let story = told(cluster, "deploy/cert-manager", "cert-manager");
    story.fates("stuck", &held).is_careful();
    // Another Deployment serves this webhook.
    assert!(story.effects_with("broken").is_empty(), "{story}");
    withstands_less(cluster, "deploy/cert-manager", "cert-manager", 25);

    let refuses = "until it is deleted too the server refuses (failurePolicy Fail): CREATE, UPDATE of certificates.cert-manager.io, issuers.cert-manager.io";
    let story = told(cluster, "deploy/cert-manager-webhook", "cert-manager");
    story
        .fates("broken", refuses)
        .fates(
            "broken",
            "CustomResourceDefinition certificates.cert-manager.io: nobody converts its objects any more",
        )
        .never_says("of-another");
    assert!(story.effects_with("stuck").is_empty(), "{story}");

    let story = told(cluster, "deploy/cert-manager", "other");
    assert!(story.effects_with("stuck").is_empty(), "{story}");
    story.never_says("api-cert").never_advises("challenges");

    // Where a second controller runs, nothing is left behind.
    operator("standby", "cert-manager", &labels("cert-manager"));
    let story = told(cluster, "deploy/cert-manager", "cert-manager");
    story.fates(
        "kept",
        "Somebody else runs who may remove that: Deployment standby/cert-manager",
    );
    assert!(story.effects_with("stuck").is_empty(), "{story}");
    cluster
        .kubectl(["delete", "deployment", "cert-manager", "--namespace=standby"])
        .success();

    let story = told(cluster, "ns/cert-manager", "");
    story
        .fates("stuck", &held)
        .fates("broken", refuses)
        .never_says("of-another")
        .is_careful();
    withstands_less(cluster, "ns/cert-manager", "", for_all_types(cluster) + 20);

    // The advised order leaves nothing behind. The test does the controller's part.
    thread::scope(|scope| {
        scope.spawn(|| {
            for name in ["api-cert", "web-cert"] {
                let target = format!("{CHALLENGES}/{name}");
                wait("the object is in deletion", SOON, || {
                    ns.get([target.as_str()])
                        .is_some_and(|found| found["metadata"]["deletionTimestamp"].is_string())
                });
                release(cluster, &target, ns.name());
            }
        });
        story.follow(cluster, &format!("delete {CHALLENGES} --all"));
    });
    story.follow(cluster, "delete validatingwebhookconfigurations");
    story.follow(cluster, "delete namespace/cert-manager");
    goes(cluster, "ns/cert-manager", "");
    story.follow(cluster, "delete crd");
    goes(cluster, certificates, "");
    goes(cluster, &format!("crd/{CHALLENGES}"), "");
    assert!(
        cluster
            .get(["validatingwebhookconfiguration", "cert-manager-webhook"])
            .is_none()
    );
    assert!(
        cluster
            .get(["validatingwebhookconfiguration", "of-another"])
            .is_some()
    );
}

/// Of built-in types, only objects that wait for the controller count. No step deletes all objects of such a
/// type.
#[test]
fn an_operator_with_finalizers_on_built_in_types_names_those_objects() {
    let cluster = &*WORLD;
    let labels = json!({"app.kubernetes.io/name": "aws-load-balancer-controller"});
    operator("balancers", "aws-load-balancer-controller", &labels);
    let ns = cluster.namespace("balanced");
    ns.apply(
        "{apiVersion: v1, kind: Service, metadata: {name: public, finalizers: [service.k8s.aws/resources]}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: private}, spec: {ports: [{port: 80}]}}",
    );
    let story = told(cluster, "deploy/aws-load-balancer-controller", "balancers");
    story
        .fates(
            "stuck",
            "1 services with service.k8s.aws/resources. Nobody else was found who removes that: public",
        )
        .never_advises("delete services")
        .never_says("private");
    let listed = story.follow(cluster, "scan services --all --finalizer");
    assert!(
        listed.contains("service/public") && !listed.contains("private"),
        "{listed}"
    );
    release(cluster, "service/public", ns.name());
}

/// The sidecars of all drivers have the same names.
#[test]
fn a_csi_driver_without_a_known_name_is_not_harmless() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("driver");
    ns.apply(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller}, spec: {replicas: 0, selector: {matchLabels: {a: b}},
          template: {metadata: {labels: {a: b}}, spec: {containers: [{name: csi-provisioner, image: i}, {name: driver, image: i}]}}}}",
    );
    let story = told(cluster, "deploy/controller", ns.name());
    story.fates(
        "unknown",
        "which volumes, attachments and snapshots wait for csi-provisioner is not known",
    );
    assert!(story.effects_with("harmless").is_empty(), "{story}");
}

/// An operator outside the catalogue is found by its rights.
#[test]
fn an_operator_outside_the_catalogue_is_found_by_its_rights() {
    let cluster = &*WORLD;
    custom_type(cluster, "yard.example.test", "ships", "Ship");
    operator("yard", "shipyard", &json!({"app": "shipyard"}));
    let rbac = "rbac.authorization.k8s.io";
    let role = |name: &str, group: &str, resource: &str| {
        let role = json!({"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRole", "metadata": {"name": name},
            "rules": [{"apiGroups": [group], "resources": [resource], "verbs": ["get", "update"]}]});
        let binding = json!({"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "yard"}]});
        cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": [role, binding]}).to_string());
    };
    role("shipyard", "yard.example.test", "ships");
    let ns = cluster.namespace("docks");
    ns.apply("{apiVersion: yard.example.test/v1, kind: Ship, metadata: {name: launched, finalizers: [yard.example.test/scrap]}}");
    let story = told(cluster, "deploy/shipyard", "yard");
    story.fates(
        "stuck",
        "1 ships.yard.example.test with yard.example.test/scrap. Nobody else was found who removes that: launched",
    );
    withstands_less(cluster, "deploy/shipyard", "yard", 20);

    // An account with all rights may belong to any controller, so it is unknown and not harmless.
    operator("yard", "caretaker", &json!({"app": "caretaker"}));
    role("caretaker", "*", "*");
    let story = told(cluster, "deploy/caretaker", "yard");
    story.fates("unknown", "by caretaker it may change every object");
    assert!(
        story.effects_with("harmless").is_empty() && story.effects_with("stuck").is_empty(),
        "{story}"
    );
    cluster
        .kubectl(["delete", "clusterrolebinding", "caretaker"])
        .success();
    release(cluster, "ships.yard.example.test/launched", ns.name());
}
