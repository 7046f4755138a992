//! Objects that no conversion webhook converts. They stop the deletion of every namespace, so each test has a cluster of
//! its own.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, condition, delete, goes, told, told_to},
    },
    harness::{Cluster, Options, is_since, wait},
};

const GROUP: &str = "conversion.example.test";
const KEY: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A type with two versions and an object that is stored in the first. Then the second becomes the storage
/// version, with a conversion webhook whose Service does not exist.
pub fn type_without_its_conversion_webhook(cluster: &Cluster) {
    type_that_nobody_converts(cluster, GROUP, "old");
}

/// The same with this group, and the object in this namespace.
pub fn type_that_nobody_converts(cluster: &Cluster, group: &str, namespace: &str) {
    let definition = |first: bool, conversion: &str| {
        cluster.apply(&format!(
            "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: widgets, singular: widget, kind: Widget}}
  versions:
  - {{name: v1, served: true, storage: {first}, schema: {{openAPIV3Schema: {{type: object}}}}}}
  - {{name: v2, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}}}
  conversion: {conversion}
",
            !first
        ));
    };
    definition(true, "{strategy: None}");
    let path = format!("/apis/{group}/v2/widgets");
    wait("the type is served", SOON, || cluster.serves(&path));
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}
---
{{apiVersion: {group}/v1, kind: Widget, metadata: {{name: w, namespace: {namespace}}}}}"
    ));
    definition(
        false,
        "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: default, name: converter}}}}",
    );
    wait("the old object can no longer be read", SOON, || {
        !cluster.serves(&path)
    });
}

#[test]
fn a_missing_conversion_webhook_is_named() {
    let cluster = &Cluster::with(&Options {
        // Makes a Service without endpoints fail fast, as on many managed clusters.
        apiserver_args: &["--enable-aggregator-routing=true"],
        ..Options::default()
    });
    type_without_its_conversion_webhook(cluster);
    delete(cluster, "ns/old", "");
    condition(cluster, "old", "NamespaceDeletionContentFailure", "True");

    let story = told(cluster, "ns/old", "");
    withstands_less(cluster, "ns/old", "", for_all_types(cluster));
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .has_root("Service converter: does not exist")
        .says("its conversion webhook cannot be called")
        .says("service \"converter\" not found")
        .says("unable to create new content in namespace old because it is being terminated")
        .never_says("while pods are left")
        .never_advises(KEY)
        .never_advises("finalize")
        .is_careful();

    // A user who may not read the definition gets the message, without a guessed Service.
    let reader = cluster
        .user("no-definitions")
        .may("get,list", &format!("namespaces,services,widgets.{GROUP}"))
        .create();
    let story = told_to(cluster, &reader, "ns/old", "");
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .says("conversion webhook for")
        .never_says("does not exist")
        .never_advises("strategy");
    assert!(story.unread().contains("customresourcedefinitions"), "{story}");

    let crd = &format!("crd/widgets.{GROUP}");
    delete(cluster, crd, "");
    let tried = |said: &str| {
        wait("the server has tried the deletion", SOON, || {
            let crd = cluster.get([&**crd]).unwrap();
            crd["status"]["conditions"].to_string().contains(said)
        });
    };
    tried("InstanceDeletionFailed");
    cluster.apply(
        "{apiVersion: v1, kind: Service, metadata: {name: converter, namespace: default}, spec: {ports: [{port: 443}]}}",
    );
    // Before 1.34 the server cannot fill its cache, and says only that.
    tried(if is_since(34) {
        "no endpoints available"
    } else {
        "storage is (re)initializing"
    });
    let story = told(cluster, crd, "");
    withstands_less(cluster, crd, "", 15);
    assert_eq!(story.verdict(KEY), "failing");
    story
        .has_root("Service converter: has no endpoint that is ready")
        .says("come back")
        .never_advises(KEY)
        .is_careful();
    story.follow(cluster, "kubectl get endpointslices,pods -n default");
    story.follow(cluster, "strategy");
    goes(cluster, crd, "");
    goes(cluster, "ns/old", "");
}
