//! Products that were uninstalled before their objects: Istio and Knative in several namespaces, OLM, the
//! service catalog, Rancher's finalizer on a namespace, and artifacts that cannot be deleted.

use serde_json::{Value, json};

use crate::{
    explain::{
        custom_resources::{condition, define, going, status_by},
        holder::{Operator, WORLD},
        less_is_weaker::{for_all_types, withstands_less},
        told::{self, SOON, delete, goes, release, told},
    },
    harness::wait,
};

#[test]
fn two_namespaces_wait_for_two_operators() {
    let cluster = &*WORLD;
    define("install.istio.io", "v1alpha1", "istiooperators", "IstioOperator");
    define(
        "operator.knative.dev",
        "v1beta1",
        "knativeservings",
        "KnativeServing",
    );
    let (mesh, serving) = (
        cluster.namespace("istio-system"),
        cluster.namespace("knative-serving"),
    );
    let istio = going(
        "istiooperators",
        &json!({"apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
            "metadata": {"name": "installed-state", "namespace": mesh.name(), "finalizers": ["istio-finalizer.install.istio.io"]}}),
        30,
    );
    let knative = going(
        "knativeservings",
        &json!({"apiVersion": "operator.knative.dev/v1beta1", "kind": "KnativeServing",
            "metadata": {"name": "knative-serving", "namespace": serving.name(), "finalizers": ["knativeservings.operator.knative.dev"]}}),
        30,
    );
    for (namespace, kind, target, finalizer) in [
        (
            mesh.name(),
            "IstioOperator installed-state",
            &istio,
            "istio-finalizer.install.istio.io",
        ),
        (
            serving.name(),
            "KnativeServing knative-serving",
            &knative,
            "knativeservings.operator.knative.dev",
        ),
    ] {
        delete(cluster, &format!("ns/{namespace}"), "");
        wait("the namespace controller reports what remains", SOON, || {
            let found = cluster.get(["ns", namespace]).unwrap();
            found["status"]["conditions"].to_string().contains(finalizer)
        });
        let story = told(cluster, &format!("ns/{namespace}"), "");
        story.has_root(kind).never_advises("--raw").is_careful();
        let story = told(cluster, target, namespace);
        assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
        story.says("It is gone").says("ORPHANED OBJECTS").is_careful();
        withstands_less(cluster, target, namespace, 30);
        story.follow(cluster, "finalizers remove");
        goes(cluster, target, namespace);
        goes(cluster, &format!("ns/{namespace}"), "");
    }
}

#[test]
fn a_csv_without_olm_and_an_instance_without_its_broker() {
    let cluster = &*WORLD;
    define(
        "operators.coreos.com",
        "v1alpha1",
        "clusterserviceversions",
        "ClusterServiceVersion",
    );
    define(
        "servicecatalog.k8s.io",
        "v1beta1",
        "serviceinstances",
        "ServiceInstance",
    );
    let ns = cluster.namespace("catalog");
    let place = ns.name();
    let finalizer = "operators.coreos.com/csv-cleanup";
    let target = going(
        "clusterserviceversions",
        &json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": "pixie-operator.v0.1.4", "namespace": place, "finalizers": [finalizer]}}),
        30,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .says("Install the same version of OLM again")
        .says("ORPHANED OBJECTS")
        .never_advises("--raw")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    story.follow(cluster, "finalizers remove");
    goes(cluster, &target, place);

    // The instance at the broker still costs money.
    let finalizer = "kubernetes-incubator/service-catalog";
    let target = going(
        "serviceinstances",
        &json!({"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ServiceInstance",
            "metadata": {"name": "orders-db", "namespace": place, "finalizers": [finalizer]},
            "spec": {"externalID": "6f1e", "clusterServiceClassExternalName": "postgres"}}),
        30,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .says("LEAKED INFRASTRUCTURE")
        .never_says("It runs")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    story.follow(cluster, "get apiservices/v1beta1.servicecatalog.k8s.io");
    story.follow(cluster, "finalizers remove");
    goes(cluster, &target, place);
}

/// The CSV of an operator was deleted, its Subscription was not, and the catalog does not respond.
#[test]
fn a_subscription_that_reports_a_deleted_csv_is_named() {
    let cluster = &*WORLD;
    let olm = "operators.coreos.com";
    define(olm, "v1alpha1", "subscriptions", "Subscription");
    define(olm, "v1alpha1", "catalogsources", "CatalogSource");
    define(olm, "v1alpha1", "clusterserviceversions", "ClusterServiceVersion");
    define(
        "compliance.openshift.io",
        "v1alpha1",
        "compliancesuites",
        "ComplianceSuite",
    );
    let ns = cluster.namespace("compliance");
    let place = ns.name();
    let label = format!("operators.coreos.com/compliance-operator.{place}=");
    let definition = "crd/compliancesuites.compliance.openshift.io";
    cluster.kubectl(["label", definition, &label]).success();
    let subscription = |name: &str, package: &str, version: &str| {
        crate::explain::custom_resources::apply(
            &json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
            "metadata": {"name": name, "namespace": place},
            "spec": {"name": package, "channel": "stable", "source": "redhat-operators", "sourceNamespace": place},
            "status": {"state": "AtLatestKnown", "installedCSV": version}}),
        );
    };
    let catalogue = |state: &str| {
        crate::explain::custom_resources::apply(
            &json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
            "metadata": {"name": "redhat-operators", "namespace": place}, "spec": {"sourceType": "grpc"},
            "status": {"connectionState": {"lastObservedState": state}}}),
        );
    };
    subscription("compliance", "compliance-operator", "compliance-operator.v1.4.0");
    subscription("another", "another-operator", "another-operator.v1.0.0");
    catalogue("TRANSIENT_FAILURE");
    let finalizer = "suite.finalizers.compliance.openshift.io";
    let target = going(
        "compliancesuites",
        &json!({"apiVersion": "compliance.openshift.io/v1alpha1", "kind": "ComplianceSuite",
            "metadata": {"name": "cis", "namespace": place, "finalizers": [finalizer]}}),
        30,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .has_root("Subscription compliance: says that compliance-operator.v1.4.0 is installed")
        .has_root("CatalogSource redhat-operators: was last seen TRANSIENT_FAILURE")
        .never_says("another-operator")
        .is_careful();
    withstands_less(cluster, &target, place, 35);

    // The steps: first the catalog, then the Subscription. OLM creates the CSV, and the CSV the operator.
    story.follow(cluster, "get catalogsources");
    catalogue("READY");
    let story = told(cluster, &target, place);
    story.never_says("TRANSIENT_FAILURE");
    let before = ns
        .get(["subscriptions.operators.coreos.com", "compliance"])
        .unwrap();
    story.follow(cluster, "> compliance-backup.yaml");
    story.follow(cluster, "kubectl replace --force");
    let after = ns
        .get(["subscriptions.operators.coreos.com", "compliance"])
        .unwrap();
    assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
    crate::explain::custom_resources::apply(
        &json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "compliance-operator.v1.4.0", "namespace": place}}),
    );
    told(cluster, &target, place).never_says("says that compliance-operator");
    delete(cluster, "subscriptions.operators.coreos.com/compliance", place);
    let story = told(cluster, &target, place);
    story
        .says("asks OLM for operator compliance-operator any more")
        .follow(cluster, "finalizers remove");
    goes(cluster, &target, place);
}

#[test]
fn a_rancher_finalizer_on_a_namespace_is_explained() {
    let cluster = &*WORLD;
    let finalizer = "controller.cattle.io/namespace-auth";
    let name = cluster.unique("tenant");
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "finalizers": [finalizer],
            "annotations": {"lifecycle.cattle.io/create.namespace-auth": "true"}}})
        .to_string(),
    );
    let target = format!("ns/{name}");
    delete(cluster, &target, "");
    wait("the namespace controller has finished", SOON, || {
        cluster.get([&*target]).unwrap()["spec"]["finalizers"].is_null()
    });
    cluster.deleted_earlier(&format!("namespaces/{name}"), 600);
    let story = told(cluster, &target, "");
    // Many products change namespaces, so rights decide nothing there, and absent names are one sign.
    assert_eq!(story.verdict(finalizer), "unknown", "{story}");
    story.never_advises("finalizers finalize").is_careful();
    // A few more requests search for Rancher.
    withstands_less(cluster, &target, "", for_all_types(cluster) + 6);
    story.follow(cluster, "finalizers remove");
    goes(cluster, &target, "");
}

#[test]
fn artifacts_that_cannot_be_deleted_are_named() {
    let cluster = &*WORLD;
    let finalizer = "workflows.argoproj.io/artifact-gc";
    define("argoproj.io", "v1alpha1", "workflows", "Workflow");
    let controller = Operator {
        cluster: &WORLD,
        namespace: "argo-workflows",
        name: "workflow-controller",
        labels: json!({"app": "workflow-controller"}),
        group: "argoproj.io",
        resources: json!(["workflows"]),
        verbs: json!(["*"]),
    };
    controller.install();
    controller.runs();
    let ns = cluster.namespace("argo");
    let place = ns.name();
    let workflow = |name: &str| -> Value {
        json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": name, "namespace": place, "finalizers": [finalizer]},
            "spec": {"artifactGC": {"strategy": "OnWorkflowDeletion"}}})
    };
    let target = going("workflows", &workflow("report"), 10);
    let quiet = going("workflows", &workflow("quiet"), 10);
    let said = "Artifact Garbage Collection failed for strategy OnWorkflowDeletion, err:Access Denied";
    status_by(
        "workflow-controller",
        &target,
        place,
        &json!({"conditions": [condition("ArtifactGCError", "True", "", said)]}),
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    story
        .has_root("err:Access Denied")
        .says("forceFinalizerRemoval")
        .says("leaked-infrastructure")
        .never_advises("finalizers remove")
        .is_careful();
    // A few more requests look into the namespaces of other products that other tests call after Argo.
    withstands_less(cluster, &target, place, 36);
    let story = told(cluster, &quiet, place);
    assert_ne!(story.verdict(finalizer), "failing", "{story}");
    told(cluster, &target, place).follow(cluster, "forceFinalizerRemoval");
    let spec = ns.get([&*target]).unwrap()["spec"]["artifactGC"].to_string();
    assert!(spec.contains("\"forceFinalizerRemoval\":true"), "{spec}");
    for target in [&target, &quiet] {
        release(cluster, target, place);
        told::goes(cluster, target, place);
    }
}
