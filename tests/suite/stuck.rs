//! Stuck deletions made of real objects, for tests and for `examples/`.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Cluster, wait};

/// A small cluster with a handful of instructive stuck deletions. Fixed names: one to a cluster.
pub fn small_cluster(cluster: &Cluster) {
    nodes(cluster);
    claim_in_use(cluster);
    pod_on_a_dead_node(cluster);
    challenge_without_its_controller(cluster);
    dead_api_group(cluster);
    protected_but_not_deleted(cluster);
}

fn nodes(cluster: &Cluster) {
    for (node, ready) in [("node-3", "Unknown"), ("node-7", "True")] {
        cluster.apply(&format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}}}"
        ));
        let reason = if ready == "True" {
            "KubeletReady"
        } else {
            "NodeStatusUnknown"
        };
        cluster.patch_status(
            ["node", node],
            &json!({"conditions": [{"type": "Ready", "status": ready, "reason": reason, "message": ""}]}),
        );
    }
}

/// A claim and its volume, both deleted, while a running pod uses the claim.
fn claim_in_use(cluster: &Cluster) {
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: db}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pvc-6791fdd4}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Delete
  storageClassName: disks
  csi: {driver: csi.example.com, volumeHandle: disk-2dacf297}
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: db, name: data-0}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-0, namespace: db}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: disks
  volumeName: pvc-6791fdd4
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: db}
spec:
  nodeName: node-7
  containers: [{name: db, image: example.com/db}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-0}}]
",
    );
    cluster.patch_status(["pod", "db-0", "--namespace=db"], &json!({"phase": "Running"}));
    wait("the claim is bound", Duration::from_secs(30), || {
        let claim = cluster.get(["pvc", "data-0", "--namespace=db"]);
        claim.is_some_and(|claim| claim["status"]["phase"] == "Bound")
    });
    cluster
        .kubectl(["delete", "pv", "pvc-6791fdd4", "--wait=false"])
        .success();
    cluster
        .kubectl(["delete", "pvc", "data-0", "--namespace=db", "--wait=false"])
        .success();
}

/// A pod without finalizers, deleted, whose node does not report.
fn pod_on_a_dead_node(cluster: &Cluster) {
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: web}
spec:
  nodeName: node-3
  terminationGracePeriodSeconds: 1
  containers: [{name: web, image: example.com/web}]
",
    );
    cluster.patch_status(["pod", "web-1", "--namespace=web"], &json!({"phase": "Running"}));
    cluster
        .kubectl(["delete", "pod", "web-1", "--namespace=web", "--wait=false"])
        .success();
}

/// A namespace, deleted, with a custom resource whose controller was never installed.
fn challenge_without_its_controller(cluster: &Cluster) {
    custom_type(cluster, "acme.cert-manager.io", "challenges", "Challenge");
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: pay}}
---
apiVersion: acme.cert-manager.io/v1
kind: Challenge
metadata: {name: api-cert, namespace: pay, finalizers: [finalizer.acme.cert-manager.io]}
",
    );
    cluster
        .kubectl(["delete", "namespace", "pay", "--wait=false"])
        .success();
    wait(
        "the namespace controller has deleted the challenge",
        Duration::from_secs(60),
        || {
            let challenge = cluster.get(["challenge", "api-cert", "--namespace=pay"]);
            challenge.is_some_and(|challenge| challenge["metadata"]["deletionTimestamp"].is_string())
        },
    );
}

/// A namespaced custom type in its only version, `v1`, without a schema.
pub fn custom_type(cluster: &Cluster, group: &str, plural: &str, kind: &str) {
    let singular = kind.to_lowercase();
    cluster.apply(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: {plural}, singular: {singular}, kind: {kind}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"
    ));
    cluster
        .kubectl([
            "wait",
            "--for=condition=Established",
            "--timeout=30s",
            "crd",
            &format!("{plural}.{group}"),
        ])
        .success();
    wait("the new type is served", Duration::from_secs(30), || {
        cluster
            .kubectl(["get", &format!("{plural}.{group}"), "--all-namespaces"])
            .code
            == 0
    });
}

/// An aggregated API whose Service does not exist.
pub fn dead_api_group(cluster: &Cluster) {
    cluster.apply(
        "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  group: metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: metrics-server, namespace: kube-system}
",
    );
    wait(
        "the API service is known to be dead",
        Duration::from_secs(60),
        || {
            let service = cluster.get(["apiservice", "v1beta1.metrics.k8s.io"]);
            service.is_some_and(|service| service["status"]["conditions"][0]["status"] == "False")
        },
    );
}

/// What carries finalizers and is not being deleted.
fn protected_but_not_deleted(cluster: &Cluster) {
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: uploads, namespace: shop}
spec: {accessModes: [ReadWriteOnce], storageClassName: disks, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: shop, finalizers: [service.kubernetes.io/load-balancer-cleanup]}
spec: {type: LoadBalancer, ports: [{port: 80}]}
",
    );
}
