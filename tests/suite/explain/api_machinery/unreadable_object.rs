//! Objects that the API server cannot read, and what they block. They stop the deletion of every namespace, so
//! each test has a cluster of its own.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{condition, delete, goes, told},
    },
    harness::{Cluster, Options, has, is_since},
};

/// What the API server says of a webhook whose Service has no ready endpoint and no selector. It asks for EndpointSlices since
/// 1.34, and for Endpoints before.
fn without_endpoints(service: &str) -> String {
    if is_since(34) {
        format!("no endpoints available for service \"{service}\"")
    } else {
        format!("endpoints \"{service}\" not found")
    }
}

#[test]
fn a_webhook_whose_service_has_no_endpoints_rejects_the_deletion() {
    let cluster = &Cluster::with(&Options {
        apiserver_args: &["--enable-aggregator-routing=true"],
        ..Options::default()
    });
    let ns = cluster.namespace("refused");
    let name = ns.name();
    ns.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
---
{apiVersion: v1, kind: Service, metadata: {name: veto}, spec: {ports: [{port: 443}]}}",
    );
    cluster.apply(&format!(
        "
apiVersion: v1
kind: Service
metadata: {{name: veto, namespace: default}}
spec: {{ports: [{{port: 443}}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: veto}}
webhooks:
- name: veto.example.test
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {{service: {{namespace: default, name: veto}}}}
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}
  rules: [{{apiGroups: [''], apiVersions: ['*'], resources: [configmaps], operations: [DELETE]}}]
"
    ));
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");
    let story = told(cluster, &format!("ns/{name}"), "");
    withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster));
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .says(&without_endpoints("veto"))
        .has_root("ValidatingWebhookConfiguration veto: webhook veto.example.test cannot be called")
        .says("its svc/veto -n default has no endpoint that is ready")
        .is_careful();
    story.follow(cluster, "kubectl delete validatingwebhookconfigurations");
    goes(cluster, &format!("ns/{name}"), "");
}

/// The same provider name with different keys, each of 32 bytes.
fn encryption(key: &str) -> String {
    format!(
        "apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{{resources: [podtemplates], providers: [{{aescbc: {{keys: [{{name: one, secret: {key}}}]}}}}]}}]
"
    )
}

const FIRST: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const OTHER: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn objects_whose_encryption_key_was_changed_are_unreadable() {
    let first = encryption(FIRST);
    let cluster = &Cluster::with(&Options {
        apiserver_args: &["--encryption-provider-config={dir}/encryption.yaml"],
        files: &[("encryption.yaml", &first)],
        ..Options::default()
    });
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: sealed}}
---
{apiVersion: v1, kind: PodTemplate, metadata: {name: t, namespace: sealed}, template: {spec: {containers: [{name: c, image: i}]}}}",
    );
    let with_key = |key: &str| {
        cluster.api_server().stop();
        std::fs::write(cluster.directory().join("encryption.yaml"), encryption(key)).unwrap();
        cluster.api_server().start();
    };
    with_key(OTHER);
    delete(cluster, "ns/sealed", "");
    let story = told(cluster, "ns/sealed", "");
    withstands_less(cluster, "ns/sealed", "", for_all_types(cluster));
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .has_root("PodTemplate t: the API server cannot read it")
        .says("unable to transform key \"/registry/podtemplates/sealed/t\"")
        .says("KEP-3926")
        .says("DATA LOSS")
        .never_says("; nothing is left in it")
        .never_advises("etcdctl")
        .never_advises("finalize")
        .is_careful();
    with_key(FIRST);
    let again = told(cluster, "ns/sealed", "");
    again.never_says("cannot read it").never_says("KEP-3926");
    story.follow(cluster, "kubectl get podtemplates -n sealed");
    if !cluster.controller_manager().is_running() {
        cluster.controller_manager().start();
    }
    goes(cluster, "ns/sealed", "");
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_damaged_object_is_deleted_without_being_read() {
    if !has("the unsafe deletion of KEP-3926", 32) {
        return;
    }
    let cluster = &Cluster::with(&Options {
        apiserver_args: &["--feature-gates=AllowUnsafeMalformedObjectDeletion=true"],
        ..Options::default()
    });
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: damaged}}
---
{apiVersion: v1, kind: PodTemplate, metadata: {name: t, namespace: damaged}, template: {spec: {containers: [{name: c, image: i}]}}}",
    );
    cluster
        .etcdctl(["put", "/registry/podtemplates/damaged/t", "rubbish"])
        .success();
    delete(cluster, "ns/damaged", "");
    condition(cluster, "damaged", "NamespaceDeletionContentFailure", "True");
    let story = told(cluster, "ns/damaged", "");
    withstands_less(cluster, "ns/damaged", "", for_all_types(cluster));
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .has_root("PodTemplate t: the API server cannot read it")
        .says("object not decodable")
        .is_careful();
    story.follow(cluster, "ignoreStoreReadErrorWithClusterBreakingPotential");
    goes(cluster, "ns/damaged", "");
}
