//! Crossplane and Hive: users of a configuration, a resource or a pool, and providers that were removed before
//! their resources. And an operator of somebody's own, whose entry is YAML alone.

use std::fs;

use serde_json::{Value, json};

use crate::explain::{
    custom_resources::{apply, condition, define, define_in, going, running, status_by},
    holder::WORLD,
    less_is_weaker::withstands_less,
    told::{Told, delete, goes, release, told},
};

/// With a namespace, `explain` takes TYPE.GROUP/NAME for an object, never for a finalizer. Cluster-scoped
/// objects ignore the namespace.
const ANYWHERE: &str = "default";

#[test]
fn credentials_wait_for_the_managed_resources_that_use_them() {
    let cluster = &*WORLD;
    let group = "gcp.upbound.io";
    define_in("Cluster", group, "v1beta1", "providerconfigs", "ProviderConfig");
    define_in(
        "Cluster",
        group,
        "v1beta1",
        "providerconfigusages",
        "ProviderConfigUsage",
    );
    running(
        "upbound-system",
        "provider-family-gcp-9f8e7d",
        json!({"pkg.crossplane.io/provider": "provider-family-gcp"}),
        group,
    );
    let usage = |name: &str, config: &str| {
        apply(
            &json!({"apiVersion": "gcp.upbound.io/v1beta1", "kind": "ProviderConfigUsage", "metadata": {"name": name,
            "labels": {"crossplane.io/provider-config": config}}, "providerConfigRef": {"name": config},
            "resourceRef": {"apiVersion": "sql.gcp.upbound.io/v1beta1", "kind": "DatabaseInstance", "name": "orders"}}),
        );
    };
    usage("usage-prod", "prod");
    usage("usage-staging", "staging");
    let finalizer = "in-use.crossplane.io";
    let target = going(
        "providerconfigs",
        &json!({"apiVersion": "gcp.upbound.io/v1beta1", "kind": "ProviderConfig",
            "metadata": {"name": "prod", "finalizers": [finalizer]}, "spec": {"projectID": "acme"}, "status": {"users": 1}}),
        10,
    );
    let story = told(cluster, &target, ANYWHERE);
    assert_eq!(story.verdict(finalizer), "in-use", "{story}");
    story
        .has_root("ProviderConfigUsage usage-prod: names it in providerConfigRef")
        .says("lose their credentials")
        .never_says("usage-staging")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, ANYWHERE, 26);
    story.follow(cluster, "explain providerconfigusages.gcp.upbound.io/usage-prod");
    delete(cluster, "providerconfigusages.gcp.upbound.io/usage-prod", "");
    told(cluster, &target, ANYWHERE).never_says("names it in");
    release(cluster, &target, ANYWHERE);
    goes(cluster, &target, ANYWHERE);
    delete(cluster, "providerconfigusages.gcp.upbound.io/usage-staging", "");
}

#[test]
fn a_usage_waits_for_the_object_that_uses() {
    let cluster = &*WORLD;
    let finalizer = "usage.apiextensions.crossplane.io";
    define_in(
        "Cluster",
        "protection.crossplane.io",
        "v1beta1",
        "clusterusages",
        "ClusterUsage",
    );
    define_in("Cluster", "helm.crossplane.io", "v1beta1", "releases", "Release");
    running(
        "crossplane-system",
        "crossplane",
        json!({"app": "crossplane"}),
        "protection.crossplane.io",
    );
    let release_of = |name: &str| {
        apply(
            &json!({"apiVersion": "helm.crossplane.io/v1beta1", "kind": "Release", "metadata": {"name": name}}),
        );
    };
    release_of("prometheus");
    let target = going(
        "clusterusages",
        &json!({"apiVersion": "protection.crossplane.io/v1beta1", "kind": "ClusterUsage",
            "metadata": {"name": "release-uses-cluster", "finalizers": [finalizer]},
            "spec": {"of": {"apiVersion": "gke.example/v1", "kind": "Cluster", "resourceRef": {"name": "prod"}},
                "by": {"apiVersion": "helm.crossplane.io/v1beta1", "kind": "Release", "resourceRef": {"name": "prometheus"}}}}),
        10,
    );
    let story = told(cluster, &target, ANYWHERE);
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .has_root("Release prometheus: is named in its spec.by and is not being deleted")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, ANYWHERE, 26);
    story.follow(cluster, "explain releases.helm.crossplane.io/prometheus");
    delete(cluster, "releases.helm.crossplane.io/prometheus", "");
    told(cluster, &target, ANYWHERE).never_says("is named in its spec.by");
    release(cluster, &target, ANYWHERE);
    goes(cluster, &target, ANYWHERE);
}

#[test]
fn a_provider_that_was_removed_before_its_resources_is_named() {
    let cluster = &*WORLD;
    let (group, finalizer) = (
        "rds.aws.example-provider.io",
        "finalizer.managedresource.crossplane.io",
    );
    define_in("Cluster", group, "v1beta1", "instances", "Instance");
    let owner = r#"{"metadata":{"ownerReferences":[{"apiVersion":"pkg.crossplane.io/v1","kind":"ProviderRevision","name":"provider-rds-1a2b","uid":"11111111-2222-3333-4444-555555555555"}]}}"#;
    let crd = format!("crd/instances.{group}");
    let target = going(
        "instances",
        &json!({"apiVersion": format!("{group}/v1beta1"), "kind": "Instance",
            "metadata": {"name": "orders", "finalizers": [finalizer], "annotations": {"crossplane.io/external-name": "orders-prod"}},
            "spec": {"forProvider": {"region": "eu-west-1"}, "deletionPolicy": "Delete"}}),
        20,
    );
    delete(cluster, &crd, "");
    cluster
        .kubectl(["patch", &crd, "--type=merge", "--patch", owner])
        .success();
    // The definition waits for the resource, and the resource for a provider that does not exist.
    let story = told(cluster, &crd, "");
    assert_eq!(
        story.verdict("customresourcecleanup.apiextensions.k8s.io"),
        "waiting",
        "{story}"
    );
    story
        .has_root("Instance orders: being deleted, held by finalizer.managedresource.crossplane.io")
        .never_advises("customresourcecleanup")
        .is_careful();
    let story = told(cluster, &target, ANYWHERE);
    story
        .says("what it stands for outside the cluster (orders-prod) IS DELETED with it")
        .never_says("It runs")
        .never_says("This runs, and is probably it")
        .is_careful();
    // The chain ends at the ProviderRevision that owns the definition. Providers of other types have the same
    // label, but none of them controls this definition.
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .says("belongs to ProviderRevision provider-rds-1a2b, which does not exist")
        .says("LEAKED INFRASTRUCTURE");
    withstands_less(cluster, &target, ANYWHERE, 30);
    told(cluster, &crd, "").follow(cluster, "explain instances.rds.aws.example-provider.io/orders");
    story.follow(cluster, "finalizers remove");
    goes(cluster, &crd, "");
}

#[test]
fn a_pool_waits_for_its_clusters() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("hive.openshift.io", "hive.openshift.io/clusters");
    define(group, "v1", "clusterpools", "ClusterPool");
    define(group, "v1", "clusterdeployments", "ClusterDeployment");
    running(
        "hive",
        "hive-controllers",
        json!({"control-plane": "clustersync"}),
        group,
    );
    let ns = cluster.namespace("pools");
    let place = ns.name();
    let deployment = |name: &str, pool: &str| {
        apply(
            &json!({"apiVersion": "hive.openshift.io/v1", "kind": "ClusterDeployment",
            "metadata": {"name": name, "namespace": place, "finalizers": ["hive.openshift.io/deprovision"]},
            "spec": {"clusterName": name, "clusterPoolRef": {"namespace": place, "poolName": pool, "claimName": ""}}}),
        );
    };
    deployment("aws-7x2k", "aws");
    deployment("gcp-9p1m", "gcp");
    let target = going(
        "clusterpools",
        &json!({"apiVersion": "hive.openshift.io/v1", "kind": "ClusterPool",
            "metadata": {"name": "aws", "namespace": place, "finalizers": [finalizer]}, "spec": {"size": 1}}),
        10,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "in-use", "{story}");
    story
        .has_root("ClusterDeployment aws-7x2k: names it in spec.clusterPoolRef")
        .says("keep running and are billed")
        .never_says("gcp-9p1m")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 26);
    story.follow(cluster, "explain clusterdeployments.hive.openshift.io/aws-7x2k");
    for name in ["aws-7x2k", "gcp-9p1m"] {
        let name = format!("clusterdeployments.hive.openshift.io/{name}");
        delete(cluster, &name, place);
        release(cluster, &name, place);
    }
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

/// The entry in the guide to the catalogue that is for the operator of a ledger.
fn entry_of_the_guide() -> String {
    let guide = fs::read_to_string("knowledge/README.md").unwrap();
    let mut examples = guide
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let found = examples.find(|yaml| yaml.contains("project: Ledger operator"));
    found.expect("the guide has the example").to_owned()
}

#[test]
fn a_backup_in_progress_needs_an_entry_and_no_rust() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("ledger.example.com", "ledger.example.com/backup");
    define(group, "v1", "ledgerbackups", "LedgerBackup");
    running(
        "ledger-system",
        "ledger-operator",
        json!({"app.kubernetes.io/name": "ledger-operator"}),
        group,
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.yaml");
    fs::write(&file, entry_of_the_guide()).unwrap();
    let knowledge = format!("--knowledge={}", file.display());
    let ns = cluster.namespace("ledger");
    let (place, in_place) = (ns.name(), format!("--namespace={}", ns.name()));
    let target = going(
        "ledgerbackups",
        &json!({"apiVersion": "ledger.example.com/v1", "kind": "LedgerBackup",
            "metadata": {"name": "nightly", "namespace": place, "finalizers": [finalizer]}, "spec": {"bucket": "b"}}),
        20,
    );
    let explain = || {
        let words = ["explain", &target, "-o=json", &in_place, &knowledge];
        Told(super::super::document(&cluster.plugin(words).run().success()))
    };
    let reason_in_scan = || {
        let words = ["scan", "--terminating", "-o=json", &in_place, &knowledge];
        let report: Value = serde_json::from_str(&cluster.plugin(words).run().success()).unwrap();
        let row = report["terminating"].as_array().unwrap().iter();
        let mut rows = row.filter(|row| row["name"] == "nightly");
        rows.next().expect("the backup is stuck").to_string()
    };
    let write = |phase: &str, conditions: Value| {
        let status = json!({"phase": phase, "conditions": conditions});
        status_by("ledger-operator", &target, place, &status);
    };
    let held = |is: &str| condition("SnapshotHeld", is, "Writing", "3 of 9 parts are written");

    // Nothing is there yet: nothing is claimed.
    let story = explain();
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .says("whether status.phase is Completed or Failed is not known: it is not set")
        .says("whether condition SnapshotHeld is False is not known");

    write("Running", json!([held("True")]));
    let story = explain();
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .has_root("status.phase is Running, and must be Completed or Failed")
        .has_root("condition SnapshotHeld is True, and must be False: Writing: 3 of 9 parts are written")
        .never_advises("finalizers remove")
        .never_advises("finalizers nudge")
        .is_careful();
    assert!(
        reason_in_scan().contains("status.phase is Running, and must be"),
        "{}",
        reason_in_scan()
    );

    // One of two conditions is met: the other still keeps it.
    write("Completed", json!([held("True")]));
    let story = explain();
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .says("status.phase is Completed")
        .has_root("condition SnapshotHeld is True");

    // Both are met, and the operator runs and does not act.
    write("Completed", json!([held("False")]));
    let story = explain();
    assert_eq!(story.verdict(finalizer), "stalled", "{story}");
    assert!(
        reason_in_scan().contains("condition SnapshotHeld is False"),
        "{}",
        reason_in_scan()
    );

    // Another word, and another case of the same word, are not the ones that it waits for.
    for phase in ["completed", "CompletedWithErrors"] {
        write(phase, json!([held("False")]));
        let story = explain();
        assert_eq!(story.verdict(finalizer), "waiting", "{story}");
        story.has_root(&format!("status.phase is {phase}, and must be"));
    }
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
