//! The stuck deletions whose steps are carried out. Each can be made many times in one cluster: all its objects carry the
//! name of the copy.

mod other_types;

use serde_json::json;

pub(super) use self::other_types::add_types;
use self::other_types::{
    class_of_a_claim, content_of_a_snapshot, device_in_use, load_balancer, object_without_its_operator,
    owner_of_a_held_object, type_with_instances,
};
use crate::{
    explain::told::SOON,
    harness::{Cluster, has, wait},
};

/// The driver of the disks, and its StorageClass.
pub(super) const DRIVER: &str = "labels.example.test";

/// One stuck deletion.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// How many of its steps change something. Each is carried out on a copy of its own, so that no step hides what
    /// another one would lose. A copy of a scenario without such steps is only looked at.
    pub(super) steps: usize,
    /// Makes a copy, and returns the target and its namespace.
    pub(super) make: fn(&Cluster, &str) -> [String; 2],
    /// The type that it needs, if that came with a minor version which is newer than the oldest tested one.
    came: Option<(&'static str, u32)>,
}

impl Scenario {
    /// Whether the API server serves the type that the scenario needs. A scenario that is left out says so.
    pub(super) fn can_be_made(&self) -> bool {
        self.came.is_none_or(|(what, minor)| has(what, minor))
    }

    const fn since(self, what: &'static str, minor: u32) -> Self {
        Scenario {
            came: Some((what, minor)),
            ..self
        }
    }
}

const fn scenario(name: &'static str, steps: usize, make: fn(&Cluster, &str) -> [String; 2]) -> Scenario {
    Scenario {
        name,
        steps,
        make,
        came: None,
    }
}

pub(super) const ALL: &[Scenario] = &[
    scenario("finished", 3, finished_pod),
    scenario("scaled", 3, running_set),
    scenario("bare", 3, running_pod),
    scenario("kept", 4, retained_disk),
    scenario("volume", 4, volume_of_a_claim),
    scenario("free", 1, volume_that_nobody_claims),
    scenario("leaky", 3, volume_without_a_driver),
    scenario("source", 2, source_of_no_snapshot),
    scenario("attached", 0, attachment_without_a_driver),
    scenario("dead", 1, pod_on_a_dead_node),
    scenario("jobless", 1, pod_without_its_job),
    scenario("stranger", 0, pod_of_a_stranger),
    scenario("left", 0, namespace_with_an_object),
    scenario("rancher", 1, empty_namespace_of_a_manager),
    scenario("deployed", 3, running_deployment),
    scenario("lost", 2, pod_on_a_lost_node),
    scenario("both", 3, volume_and_its_claim),
    scenario("spared", 3, retained_volume_of_a_claim),
    scenario("owner", 0, owner_of_a_held_object),
    scenario("gadget", 0, type_with_instances),
    scenario("topic", 2, object_without_its_operator),
    scenario("front", 0, load_balancer),
    scenario("device", 1, device_in_use).since("resource.k8s.io/v1", 34),
    scenario("class", 1, class_of_a_claim).since("storage.k8s.io/v1 VolumeAttributesClass", 34),
    scenario("photo", 2, content_of_a_snapshot),
];

fn begin_deletion(cluster: &Cluster, what: &str, namespace: &str) {
    let mut words = vec!["delete", what, "--wait=false"];
    if !namespace.is_empty() {
        words.extend(["--namespace", namespace]);
    }
    cluster.kubectl(words).success();
}

fn namespace(cluster: &Cluster, name: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}"
    ));
    wait("the namespace has its account", SOON, || {
        cluster
            .get(["serviceaccount", "default", "--namespace", name])
            .is_some()
    });
}

fn node(cluster: &Cluster, name: &str, ready: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}"
    ));
    cluster.patch_status(
        ["node", name],
        &json!({"conditions": [{"type": "Ready", "status": ready, "reason": "Test", "message": ""}]}),
    );
    if ready == "Unknown" {
        // Later, its taints would look like what a step has changed.
        wait("the node has its taints", SOON, || {
            let taints = cluster.get(["node", name]).unwrap()["spec"]["taints"].to_string();
            taints.contains("NoExecute") && taints.contains("NoSchedule")
        });
    }
}

/// A namespace, a node, and a bound claim `data` with a disk. Returns the name of the volume.
fn bound_claim(cluster: &Cluster, name: &str, metadata: &str) -> String {
    namespace(cluster, name);
    node(cluster, name, "True");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}{metadata}}}, spec: \
         {{storageClassName: {DRIVER}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let claim = || {
        cluster
            .get(["pvc", "data", "--namespace", name])
            .unwrap_or_default()
    };
    wait("the claim is bound", SOON, || {
        claim()["status"]["phase"] == "Bound"
    });
    claim()["spec"]["volumeName"].as_str().unwrap().to_owned()
}

/// The template of a Pod that uses the claim. It needs no kubelet to end.
fn pod_spec(name: &str, more: &str) -> String {
    format!(
        "{{nodeName: {name}, terminationGracePeriodSeconds: 0, {more} containers: [{{name: c, image: i}}], volumes: \
         [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]}}"
    )
}

fn pod(cluster: &Cluster, name: &str, phase: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {}}}",
        pod_spec(name, "")
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": phase}));
}

/// A StatefulSet, a Deployment or a Job that runs one Pod with the claim.
fn workload(cluster: &Cluster, name: &str, kind: &str) {
    let manifest = if kind == "Job" {
        format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: work, namespace: {name}}}, spec: {{template: {{spec: {}}}}}}}",
            pod_spec(name, "restartPolicy: Never,")
        )
    } else {
        let more = if kind == "StatefulSet" {
            "serviceName: web,"
        } else {
            ""
        };
        format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: web, namespace: {name}}}, spec: {{replicas: 1, {more} \
                 selector: {{matchLabels: {{a: web}}}}, template: {{metadata: {{labels: {{a: web}}}}, spec: {}}}}}}}",
            pod_spec(name, "")
        )
    };
    cluster.apply(&manifest);
    let maker = if kind == "Deployment" { "ReplicaSet" } else { kind };
    let pods = || cluster.get(["pods", "--namespace", name]).unwrap_or_default();
    let owned = || {
        let pods = pods();
        let mut pods = pods["items"].as_array().into_iter().flatten();
        let pod = pods.find(|pod| pod["metadata"]["ownerReferences"][0]["kind"] == maker)?;
        Some(pod["metadata"]["name"].as_str()?.to_owned())
    };
    wait("the pod exists", SOON, || owned().is_some());
    let pod = owned().unwrap();
    cluster.patch_status(["pod", &pod, "--namespace", name], &json!({"phase": "Running"}));
}

fn claim_in_deletion(cluster: &Cluster, name: &str) -> [String; 2] {
    begin_deletion(cluster, "pvc/data", name);
    ["pvc/data".to_owned(), name.to_owned()]
}

fn finished_pod(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Succeeded");
    claim_in_deletion(cluster, name)
}

fn running_set(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    workload(cluster, name, "StatefulSet");
    claim_in_deletion(cluster, name)
}

fn running_deployment(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    workload(cluster, name, "Deployment");
    claim_in_deletion(cluster, name)
}

fn running_pod(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    claim_in_deletion(cluster, name)
}

/// The disk stays whatever stops, so the steps that stop something are not destructive.
fn retained_disk(cluster: &Cluster, name: &str) -> [String; 2] {
    let volume = bound_claim(cluster, name, "");
    let policy = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    cluster.kubectl(["patch", "pv", &volume, "-p", policy]).success();
    pod(cluster, name, "Succeeded");
    workload(cluster, name, "StatefulSet");
    workload(cluster, name, "Job");
    claim_in_deletion(cluster, name)
}

fn volume_of_a_claim(cluster: &Cluster, name: &str) -> [String; 2] {
    let volume = bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    begin_deletion(cluster, &format!("pv/{volume}"), "");
    [format!("pv/{volume}"), String::new()]
}

fn volume_and_its_claim(cluster: &Cluster, name: &str) -> [String; 2] {
    let target = volume_of_a_claim(cluster, name);
    begin_deletion(cluster, "pvc/data", name);
    target
}

/// No step can destroy its disk.
fn retained_volume_of_a_claim(cluster: &Cluster, name: &str) -> [String; 2] {
    let volume = bound_claim(cluster, name, "");
    let policy = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    cluster.kubectl(["patch", "pv", &volume, "-p", policy]).success();
    pod(cluster, name, "Running");
    begin_deletion(cluster, &format!("pv/{volume}"), "");
    [format!("pv/{volume}"), String::new()]
}

/// A volume that was made by hand.
fn volume(cluster: &Cluster, name: &str, driver: &str, metadata: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}{metadata}}}, spec: {{capacity: {{storage: 1Mi}}, \
         accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, csi: {{driver: {driver}, volumeHandle: \
         disk-{name}}}}}}}"
    ));
}

fn volume_phase(cluster: &Cluster, name: &str, phase: &str) {
    wait(&format!("the volume is {phase}"), SOON, || {
        cluster
            .get(["pv", name])
            .is_some_and(|volume| volume["status"]["phase"] == phase)
    });
}

fn volume_that_nobody_claims(cluster: &Cluster, name: &str) -> [String; 2] {
    let held = ", finalizers: [external-provisioner.volume.kubernetes.io/finalizer]";
    volume(cluster, name, DRIVER, held);
    volume_phase(cluster, name, "Available");
    begin_deletion(cluster, &format!("pv/{name}"), "");
    [format!("pv/{name}"), String::new()]
}

fn volume_without_a_driver(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    volume(cluster, name, "old.example.test", "");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}}}, spec: {{storageClassName: \
         '', volumeName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    volume_phase(cluster, name, "Bound");
    begin_deletion(cluster, &format!("pv/{name}"), "");
    [format!("pv/{name}"), String::new()]
}

fn source_of_no_snapshot(cluster: &Cluster, name: &str) -> [String; 2] {
    let held = ", finalizers: [snapshot.storage.kubernetes.io/pvc-as-source-protection]";
    bound_claim(cluster, name, held);
    claim_in_deletion(cluster, name)
}

fn attachment_without_a_driver(cluster: &Cluster, name: &str) -> [String; 2] {
    node(cluster, name, "True");
    volume(cluster, name, "old.example.test", "");
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}, finalizers: \
         [external-attacher/old-example-test]}}, spec: {{attacher: old.example.test, nodeName: {name}, source: \
         {{persistentVolumeName: {name}}}}}}}"
    ));
    cluster.patch_status(["volumeattachment", name], &json!({"attached": true}));
    begin_deletion(cluster, &format!("volumeattachment/{name}"), "");
    [format!("volumeattachment/{name}"), String::new()]
}

fn pod_on_a_dead_node(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    node(cluster, name, "Unknown");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {{nodeName: {name}, \
         terminationGracePeriodSeconds: 1, containers: [{{name: c, image: i}}]}}}}"
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Running"}));
    begin_deletion(cluster, "pod/p", name);
    ["pod/p".to_owned(), name.to_owned()]
}

/// A Pod in deletion uses a claim in deletion, and its node is lost.
fn pod_on_a_lost_node(cluster: &Cluster, name: &str) -> [String; 2] {
    bound_claim(cluster, name, "");
    let spec = pod_spec(name, "").replace("GracePeriodSeconds: 0", "GracePeriodSeconds: 1");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {spec}}}"
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Running"}));
    node(cluster, name, "Unknown");
    begin_deletion(cluster, "pod/p", name);
    claim_in_deletion(cluster, name)
}

fn held_pod(cluster: &Cluster, name: &str, metadata: &str) -> [String; 2] {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}, {metadata}}}, spec: {{containers: [{{name: c, \
         image: i}}]}}}}"
    ));
    // The Pod garbage collector marks a Pod without a node so at any time after its deletion. Then the cluster is not quiet.
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Failed"}));
    begin_deletion(cluster, "pod/p", name);
    ["pod/p".to_owned(), name.to_owned()]
}

fn pod_without_its_job(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: owner, namespace: {name}}}}}"
    ));
    let owner = cluster.get(["configmap", "owner", "--namespace", name]).unwrap();
    let uid = &owner["metadata"]["uid"];
    let metadata = format!(
        "finalizers: [batch.kubernetes.io/job-tracking], ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: \
         {uid}, controller: true}}]"
    );
    held_pod(cluster, name, &metadata)
}

fn pod_of_a_stranger(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    held_pod(cluster, name, "finalizers: [example.test/keep]")
}

fn namespace_with_an_object(cluster: &Cluster, name: &str) -> [String; 2] {
    namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: last, namespace: {name}, finalizers: [example.test/keep]}}, data: \
         {{a: b}}}}"
    ));
    begin_deletion(cluster, &format!("namespace/{name}"), "");
    [format!("ns/{name}"), String::new()]
}

fn empty_namespace_of_a_manager(cluster: &Cluster, name: &str) -> [String; 2] {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, finalizers: [controller.cattle.io/namespace-auth]}}}}"
    ));
    begin_deletion(cluster, &format!("namespace/{name}"), "");
    [format!("ns/{name}"), String::new()]
}
