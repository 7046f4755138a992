//! Kueue: a `ResourceFlavor` waits until no `ClusterQueue` refers to it.
//!
//! `kubernetes-sigs/kueue:pkg/controller/core/resourceflavor_controller.go` puts the finalizer on, and removes it once
//! its cache has no `ClusterQueue` with the flavor. It writes neither conditions nor events about that.

use std::time::Duration;

use super::Case;
use crate::{
    explain::told::delete,
    harness::{KUEUE, wait},
};

const CASE: Case = Case {
    product: &KUEUE,
    plural: "resourceflavors",
    group: "kueue.x-k8s.io",
    finalizer: "kueue.x-k8s.io/resource-in-use",
    object: |name| {
        format!("{{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {{name: {name}}}}}")
    },
    used: |cluster, _| {
        cluster.apply(
            "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: used}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: used, resources: [{name: cpu, nominalQuota: 9}]}]",
        );
        // Kueue forgets a flavor that no queue of its cache has.
        wait("Kueue knows the queue", Duration::from_secs(90), || {
            let queue = cluster.get(["clusterqueues.kueue.x-k8s.io", "team-a"]);
            queue.is_some_and(|queue| queue["metadata"]["finalizers"].is_array())
        });
    },
    keeper: "ClusterQueue team-a",
    frees: |cluster, _| delete(cluster, "clusterqueues.kueue.x-k8s.io/team-a", ""),
    renamed: &[
        ("kueue-system", "batch"),
        ("kueue-", "queues-"),
        ("app.kubernetes.io/name: kueue", "app.kubernetes.io/name: queues"),
    ],
    namespaced: false,
};

#[test]
fn kueue_runs() {
    CASE.an_operator_that_runs();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn kueue_crashes() {
    CASE.an_operator_that_crashes();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn kueue_is_scaled_to_zero() {
    CASE.an_operator_that_is_scaled_to_zero();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn kueue_loses_a_right() {
    CASE.an_operator_without_a_right();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn kueue_is_uninstalled() {
    CASE.an_uninstalled_operator();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn kueue_is_installed_under_another_name() {
    CASE.a_renamed_operator();
}
