//! Stuck deletions of real objects, for tests and for `examples/`.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Cluster, wait};

/// A small cluster with a few instructive stuck deletions. Its names are fixed, so a cluster can have it only
/// once.
pub fn small_cluster(cluster: &Cluster) {
    nodes(cluster);
    claim_in_use(cluster);
    pod_on_a_dead_node(cluster);
    challenge_without_its_controller(cluster);
    dead_api_group(cluster);
    protected_but_not_deleted(cluster);
}

/// The small cluster alone, after the grace period of its Pod.
pub fn settled() -> Cluster {
    let cluster = Cluster::start();
    small_cluster(&cluster);
    wait("the pod's grace period is over", Duration::from_secs(30), || {
        let out = cluster.plugin(["scan", "pods", "-o", "json"]).run();
        out.stdout.contains("\"stuck\": 1")
    });
    cluster
}

/// The cluster of `examples/`: the small cluster and more. It is separate because it takes longer to create,
/// and because tests count the objects of the small one.
pub fn example_cluster(cluster: &Cluster) {
    nodes(cluster);
    storage(cluster);
    claim_in_use(cluster);
    pod_on_a_dead_node(cluster);
    finished_job_with_a_claim(cluster);
    load_balancer_without_its_controller(cluster);
    type_deleted_before_its_objects(cluster);
    namespace_held_by_an_uninstalled_manager(cluster);
    challenge_without_its_controller(cluster);
    protected_but_not_deleted(cluster);
    dead_api_group(cluster);
    empty_namespace_that_stays(cluster);
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

/// A claim and its volume, both in deletion, while a running Pod uses the claim. No kubelet renews the Node, so the Pod
/// tolerates its taint: it would be evicted after five minutes, in the middle of a slow test.
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
  tolerations: [{operator: Exists, effect: NoExecute}]
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

/// A Pod without finalizers, in deletion, on a Node that does not report.
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

/// A namespace in deletion, with a custom resource whose controller was never installed.
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

/// A namespaced custom type with the only version `v1` and without a schema.
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
    let path = format!("/apis/{group}/v1/{plural}");
    wait("the new type is served", Duration::from_secs(30), || {
        cluster.serves(&path)
    });
}

/// An aggregated API whose Service does not exist.
pub fn dead_api_group(cluster: &Cluster) {
    dead_api_group_called(cluster, "metrics.k8s.io");
}

/// The same for version `v1beta1` of this group.
pub fn dead_api_group_called(cluster: &Cluster, group: &str) {
    cluster.apply(&format!(
        "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: v1beta1.{group}}}
spec:
  group: {group}
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {{name: metrics-server, namespace: kube-system}}
"
    ));
    let name = format!("v1beta1.{group}");
    wait(
        "the API service is known to be dead",
        Duration::from_secs(60),
        || {
            let service = cluster.get(["apiservice", &name]);
            service.is_some_and(|service| service["status"]["conditions"][0]["status"] == "False")
        },
    );
}

/// Objects with finalizers that are not in deletion.
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

/// The StorageClass and VolumeAttachment of a CSI driver. No driver runs, so its finalizer is written here.
fn storage(cluster: &Cluster) {
    cluster.apply(
        "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks}
provisioner: csi.example.com
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-7f3c, finalizers: [external-attacher/csi-example-com]}
spec: {attacher: csi.example.com, nodeName: node-7, source: {persistentVolumeName: pvc-6791fdd4}}
",
    );
    cluster.patch_status(["volumeattachment", "csi-7f3c"], &json!({"attached": true}));
}

/// A claim in deletion that the Pod of a completed Job still uses.
fn finished_job_with_a_claim(cluster: &Cluster) {
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: etl}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: etl, labels: {team: data}}
spec: {accessModes: [ReadWriteOnce], storageClassName: disks, resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: import, namespace: etl}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeName: node-7
      containers: [{name: import, image: example.com/import}]
      volumes: [{name: scratch, persistentVolumeClaim: {claimName: scratch}}]
",
    );
    let pods = || cluster.get(["pods", "--namespace=etl"]).unwrap()["items"].clone();
    wait("the Job has its pod", Duration::from_secs(60), || {
        pods()[0]["metadata"]["name"].is_string()
    });
    let pod = pods()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.patch_status(["pod", &pod, "--namespace=etl"], &json!({"phase": "Succeeded"}));
    cluster
        .kubectl(["delete", "pvc", "scratch", "--namespace=etl", "--wait=false"])
        .success();
}

/// A Service in deletion whose load balancer has no controller.
fn load_balancer_without_its_controller(cluster: &Cluster) {
    cluster.apply(
        "
apiVersion: v1
kind: Service
metadata: {name: old-front, namespace: web, labels: {team: data}, finalizers: [service.kubernetes.io/load-balancer-cleanup]}
spec: {type: LoadBalancer, ports: [{port: 80}]}
",
    );
    cluster
        .kubectl([
            "delete",
            "service",
            "old-front",
            "--namespace=web",
            "--wait=false",
        ])
        .success();
}

/// A CRD that was deleted after the operator of its objects.
fn type_deleted_before_its_objects(cluster: &Cluster) {
    custom_type(cluster, "longhorn.io", "volumes", "Volume");
    cluster.apply(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: longhorn-system}}
---
apiVersion: longhorn.io/v1
kind: Volume
metadata: {name: pvc-18e2, namespace: longhorn-system, finalizers: [longhorn.io]}
",
    );
    cluster
        .kubectl(["delete", "crd", "volumes.longhorn.io", "--wait=false"])
        .success();
    wait(
        "the API server has deleted the volume",
        Duration::from_secs(60),
        || {
            let volume = cluster.get(["volumes.longhorn.io", "pvc-18e2", "--namespace=longhorn-system"]);
            volume.is_some_and(|volume| volume["metadata"]["deletionTimestamp"].is_string())
        },
    );
}

/// An empty namespace in deletion, with a finalizer in its metadata and one in its spec.
fn namespace_held_by_an_uninstalled_manager(cluster: &Cluster) {
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: team-a, finalizers: [controller.cattle.io/namespace-auth]}}",
    );
    delete_namespace(cluster, "team-a");
    wait(
        "the namespace controller is done",
        Duration::from_secs(60),
        || {
            let namespace = cluster.get(["namespace", "team-a"]).unwrap();
            namespace["spec"]["finalizers"].is_null()
        },
    );
}

/// An empty namespace, deleted while an API group is unavailable.
fn empty_namespace_that_stays(cluster: &Cluster) {
    cluster.apply("{apiVersion: v1, kind: Namespace, metadata: {name: preview-42}}");
    delete_namespace(cluster, "preview-42");
    wait(
        "the namespace has its conditions",
        Duration::from_secs(60),
        || {
            let namespace = cluster.get(["namespace", "preview-42"]).unwrap();
            namespace["status"]["conditions"]
                .to_string()
                .contains("NamespaceDeletionDiscoveryFailure")
        },
    );
}

fn delete_namespace(cluster: &Cluster, name: &str) {
    cluster
        .kubectl(["delete", "namespace", name, "--wait=false"])
        .success();
}
