//! Pods, and devices that Pods have reserved.

use serde_json::json;

use super::{Scenario, Target, bound_claim, namespace, node, pod_spec, scenario, target};
use crate::{
    explain::{
        pods::{kubelet_confirmation::overdue, resource_claim::allocated},
        told::SOON,
    },
    harness::{Cluster, Namespace, wait},
};

pub(super) const ALL: &[Scenario] = &[
    scenario("dead", pod_on_a_dead_node)
        .steps(1, 1)
        .tells(&["pods/kubelet_confirmation"]),
    scenario("overdue", pod_on_a_ready_node),
    scenario("lost", pod_on_a_lost_node).steps(2, 1),
    scenario("graceful", pod_in_its_grace_period).tells(&["pods/grace_period"]),
    scenario("mirrored", mirror_pod),
    scenario("jobless", pod_without_its_job)
        .steps(1, 1)
        .tells(&["pods/job_tracking"]),
    scenario("counted", pod_of_a_running_job),
    scenario("stranger", pod_of_a_stranger).tells(&["operators/unknown_finalizer"]),
    scenario("device", device_in_use)
        .steps(1, 1)
        .tells(&["pods/resource_claim"])
        .since("resource.k8s.io/v1", 34),
    scenario("consumed", device_of_an_unknown_consumer)
        .steps(1, 1)
        .since("resource.k8s.io/v1", 34),
];

fn pod_on_a_dead_node(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    node(cluster, name, "Unknown");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {{nodeName: {name}, \
         terminationGracePeriodSeconds: 1, containers: [{{name: c, image: i}}]}}}}"
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Running"}));
    cluster.delete("pod/p", name);
    ["pod/p".to_owned(), name.to_owned()]
}

/// A Pod in deletion uses a claim in deletion, and its node is lost.
fn pod_on_a_lost_node(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    let spec = pod_spec(name, "").replace("GracePeriodSeconds: 0", "GracePeriodSeconds: 1");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {spec}}}"
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Running"}));
    node(cluster, name, "Unknown");
    cluster.delete("pod/p", name);
    target(cluster, "pvc/data", name)
}

fn held_pod(cluster: &Cluster, name: &str, metadata: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}, {metadata}}}, spec: {{containers: [{{name: c, \
         image: i}}]}}}}"
    ));
    // The Pod garbage collector marks a Pod without a node so at any time after its deletion. Then the cluster is not quiet.
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": "Failed"}));
    cluster.delete("pod/p", name);
    ["pod/p".to_owned(), name.to_owned()]
}

fn pod_without_its_job(cluster: &Cluster, name: &str) -> Target {
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

fn pod_of_a_stranger(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    held_pod(cluster, name, "finalizers: [example.test/keep]")
}

/// A device that a running Pod has reserved, as the scheduler writes it.
fn device_in_use(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    node(cluster, name, "True");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: train}}, spec: {{nodeName: {name}, terminationGracePeriodSeconds: 0, \
         resourceClaims: [{{name: gpu, resourceClaimName: gpu}}], containers: [{{name: c, image: i}}]}}}}"
    ));
    ns.patch_status(["pod", "train"], &json!({"phase": "Running"}));
    let pod = ns.get(["pod", "train"]).unwrap();
    let user = json!({"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]});
    allocated(&ns, "gpu", &json!([user]));
    target(cluster, "resourceclaim/gpu", name)
}

fn pod_on_a_ready_node(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    node(cluster, name, "True");
    overdue(&ns, name, "");
    ["pod/p".to_owned(), name.to_owned()]
}

/// A running Pod `p` with this grace period, and its metadata.
fn running(ns: &Namespace, seconds: u32, metadata: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p{metadata}}}, spec: {{nodeName: {}, terminationGracePeriodSeconds: \
         {seconds}, automountServiceAccountToken: false, containers: [{{name: c, image: i}}]}}}}",
        ns.name()
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
}

fn pod_in_its_grace_period(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    node(cluster, name, "True");
    running(&ns, 600, "");
    target(cluster, "pod/p", name)
}

fn mirror_pod(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    node(cluster, name, "True");
    running(&ns, 1, ", annotations: {kubernetes.io/config.mirror: abc}");
    target(cluster, "pod/p", name)
}

fn pod_of_a_running_job(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    node(cluster, name, "True");
    ns.apply(&format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: work}}, spec: {{podReplacementPolicy: Failed, template: {{spec: \
         {{nodeName: {name}, restartPolicy: Never, terminationGracePeriodSeconds: 600, containers: [{{name: c, image: i}}]}}}}}}}}"
    ));
    let pod = || {
        let pods = ns.get(["pods"]).unwrap_or_default();
        pods["items"][0]["metadata"]["name"].as_str().map(str::to_owned)
    };
    wait("the Job creates its Pod", SOON, || pod().is_some());
    let pod = pod().unwrap();
    ns.patch_status(["pod", &pod], &json!({"phase": "Running"}));
    target(cluster, &format!("pod/{pod}"), name)
}

/// The controller leaves such an entry alone.
fn device_of_an_unknown_consumer(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let entry = json!({"apiGroup": "batch.example.test", "resource": "runs", "name": name, "uid": "4711"});
    allocated(&ns, "gpu", &json!([entry]));
    target(cluster, "resourceclaim/gpu", name)
}
