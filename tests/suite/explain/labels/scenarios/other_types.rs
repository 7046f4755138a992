//! Stuck deletions of other types than claims, volumes, Pods and namespaces.

use serde_json::json;

use super::{DRIVER, begin_deletion, bound_claim, namespace, node};
use crate::{
    explain::told::SOON,
    harness::{Cluster, wait},
    stuck::custom_type,
};

/// The owner waits for a dependent, which is held by a finalizer that nobody knows.
pub(super) fn owner_of_a_held_object(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: owner, namespace: {name}}}, data: {{a: b}}}}"
    ));
    let owner = cluster.get(["configmap", "owner", "--namespace", name]).unwrap();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": true});
    let held = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "held", "namespace": name,
        "finalizers": ["example.test/hold"], "ownerReferences": [owner]}});
    cluster.apply(&held.to_string());
    let place = ["--namespace", name];
    cluster
        .kubectl([
            "delete",
            "configmap/owner",
            "--cascade=foreground",
            "--wait=false",
            place[0],
            place[1],
        ])
        .success();
    wait("the garbage collector deletes the dependent", SOON, || {
        let held = cluster.get(["secret", "held", place[0], place[1]]).unwrap();
        held["metadata"]["deletionTimestamp"].is_string()
    });
    ["configmap/owner".to_owned(), name.to_owned()]
}

/// One of its two instances is held by a finalizer that nobody knows.
pub(super) fn type_with_instances(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, "gadgets", "Gadget");
    cluster.apply(&format!(
        "{{apiVersion: {group}/v1, kind: Gadget, metadata: {{name: held, namespace: {name}, finalizers: [example.test/keep]}}}}"
    ));
    begin_deletion(cluster, &format!("crd/gadgets.{group}"), "");
    wait("the instance is being deleted", SOON, || {
        let gadgets = format!("gadgets.{group}");
        let held = cluster.get([&*gadgets, "held", "--namespace", name]).unwrap();
        held["metadata"]["deletionTimestamp"].is_string()
    });
    [format!("crd/gadgets.{group}"), String::new()]
}

/// Its operator was never installed here.
pub(super) fn object_without_its_operator(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: kafka.strimzi.io/v1, kind: KafkaTopic, metadata: {{name: payments, namespace: {name}, labels: \
         {{strimzi.io/cluster: prod}}, finalizers: [strimzi.io/topic-operator]}}}}"
    ));
    begin_deletion(cluster, "kafkatopics.kafka.strimzi.io/payments", name);
    [
        "kafkatopics.kafka.strimzi.io/payments".to_owned(),
        name.to_owned(),
    ]
}

/// The type of [`object_without_its_operator`].
pub(in crate::explain::labels) fn add_types(cluster: &Cluster) {
    custom_type(cluster, "kafka.strimzi.io", "kafkatopics", "KafkaTopic");
}

pub(super) fn load_balancer(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: front, namespace: {name}, finalizers: \
         [service.kubernetes.io/load-balancer-cleanup]}}, spec: {{type: LoadBalancer, selector: {{a: b}}, ports: [{{port: 80}}]}}}}"
    ));
    begin_deletion(cluster, "service/front", name);
    ["service/front".to_owned(), name.to_owned()]
}

/// A device that a running Pod has reserved, as the scheduler writes it.
pub(super) fn device_in_use(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    node(cluster, name, "True");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: train, namespace: {name}}}, spec: {{nodeName: {name}, \
         terminationGracePeriodSeconds: 0, resourceClaims: [{{name: gpu, resourceClaimName: gpu}}], containers: [{{name: c, \
         image: i}}]}}}}"
    ));
    let place = ["--namespace", name];
    cluster.patch_status(["pod", "train", place[0], place[1]], &json!({"phase": "Running"}));
    cluster.apply(&format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: gpu, namespace: {name}, finalizers: \
         [resource.kubernetes.io/delete-protection]}}, spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: \
         gpu.example.test}}}}]}}}}}}"
    ));
    let pod = cluster.get(["pod", "train", place[0], place[1]]).unwrap();
    let user = json!({"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]});
    let device = json!({"request": "gpu", "driver": "gpu.example.test", "pool": "p", "device": name});
    cluster.patch_status(
        ["resourceclaim", "gpu", place[0], place[1]],
        &json!({"allocation": {"devices": {"results": [device]}}, "reservedFor": [user]}),
    );
    begin_deletion(cluster, "resourceclaim/gpu", name);
    ["resourceclaim/gpu".to_owned(), name.to_owned()]
}

pub(super) fn class_of_a_claim(cluster: &Cluster, name: &str) -> [String; 2] {
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {{name: {name}, finalizers: \
         [kubernetes.io/vac-protection]}}, driverName: {DRIVER}, parameters: {{iops: '1'}}}}"
    ));
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}}}, spec: {{storageClassName: \
         '', volumeName: {name}-none, volumeAttributesClassName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: \
         {{storage: 1Mi}}}}}}}}"
    ));
    begin_deletion(cluster, &format!("volumeattributesclass/{name}"), "");
    [format!("volumeattributesclass/{name}"), String::new()]
}

/// The content of a snapshot that still exists.
pub(super) fn content_of_a_snapshot(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    cluster.apply(&format!(
        "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: photo, namespace: {name}}}, spec: \
         {{volumeSnapshotClassName: {DRIVER}, source: {{persistentVolumeClaimName: data}}}}}}"
    ));
    let photo = || {
        cluster
            .get(["volumesnapshot", "photo", "--namespace", name])
            .unwrap_or_default()
    };
    wait("the snapshot is taken", SOON, || {
        photo()["status"]["readyToUse"] == true
    });
    let photo = photo();
    let content = photo["status"]["boundVolumeSnapshotContentName"]
        .as_str()
        .unwrap();
    let content = format!("volumesnapshotcontent/{content}");
    begin_deletion(cluster, &content, "");
    [content, String::new()]
}
