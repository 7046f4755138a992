//! Cluster API: a Cluster waits until the object of its infrastructure is gone.
//!
//! `kubernetes-sigs/cluster-api:internal/controllers/cluster/cluster_controller.go` deletes that object first and
//! removes its finalizer once it is not found. It writes the condition Deleting. A provider is not installed: its
//! object has the finalizer of one. `scripts/long operators` runs these.

use super::Case;
use crate::{explain::told::release, harness::CLUSTER_API, stuck::custom_type};

const PROVIDER: &str = "infrastructure.cluster.x-k8s.io";

const CASE: Case = Case {
    product: &CLUSTER_API,
    plural: "clusters",
    group: "cluster.x-k8s.io",
    finalizer: "cluster.cluster.x-k8s.io",
    object: |name| {
        format!(
            "{{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {{name: {name}}}, spec: \
             {{clusterNetwork: {{serviceDomain: cluster.local}}}}}}"
        )
    },
    used: |cluster, ns| {
        custom_type(cluster, PROVIDER, "metalclusters", "MetalCluster");
        let contract = "cluster.x-k8s.io/v1beta2=v1";
        let provider = format!("crd/metalclusters.{PROVIDER}");
        cluster.kubectl(["label", &provider, contract]).success();
        ns.apply(
            "
apiVersion: infrastructure.cluster.x-k8s.io/v1
kind: MetalCluster
metadata: {name: used, finalizers: [metalcluster.infrastructure.cluster.x-k8s.io]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: used}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: MetalCluster, name: used}}",
        );
    },
    keeper: "MetalCluster used",
    frees: |cluster, ns| {
        release(
            cluster,
            "metalclusters.infrastructure.cluster.x-k8s.io/used",
            ns.name(),
        );
    },
    renamed: &[
        ("capi-system", "fleet"),
        ("capi-", "fleet-"),
        (
            "cluster.x-k8s.io/provider: cluster-api",
            "cluster.x-k8s.io/provider: fleet",
        ),
    ],
    namespaced: true,
};

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_runs() {
    CASE.an_operator_that_runs();
}

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_crashes() {
    CASE.an_operator_that_crashes();
}

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_is_scaled_to_zero() {
    CASE.an_operator_that_is_scaled_to_zero();
}

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_loses_a_right() {
    CASE.an_operator_without_a_right();
}

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_is_uninstalled() {
    CASE.an_uninstalled_operator();
}

#[test]
#[ignore = "takes minutes to build: scripts/long operators"]
fn cluster_api_is_installed_under_another_name() {
    CASE.a_renamed_operator();
}
