//! Pods that are stuck in Terminating.

use jiff::Timestamp;
use serde_json::json;

use crate::{
    explain::{
        less_is_weaker::{withstands_less, withstands_real_rights},
        replayed::replayed,
        told::{SOON, delete, goes, told, told_to},
    },
    harness::{Cluster, Namespace, wait},
};

const KUBELET: &str = "";
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Creates a Node without a kubelet.
fn node(cluster: &Cluster, ready: &str) -> String {
    let name = cluster.node();
    let reason = if ready == "True" {
        "KubeletReady"
    } else {
        "NodeStatusUnknown"
    };
    cluster.patch_status(
        ["node", &name],
        &json!({"conditions": [{
            "type": "Ready", "status": ready, "reason": reason, "message": "Kubelet stopped posting node status.",
            "lastHeartbeatTime": Timestamp::now().to_string(),
        }]}),
    );
    name
}

/// Creates a running Pod `p` on that Node and deletes it. Its grace period of one second is over.
fn overdue(ns: &Namespace, node: &str, metadata: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p{metadata}}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1, \
         containers: [{{name: c, image: i}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    wait("its grace period is over", SOON, || {
        let pod = ns.get(["pod", "p"]).unwrap();
        let until = pod["metadata"]["deletionTimestamp"].as_str().unwrap();
        until.parse::<Timestamp>().unwrap() < Timestamp::now() - jiff::SignedDuration::from_secs(2)
    });
}

#[test]
fn a_pod_on_a_dead_node_waits_for_its_kubelet() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("dead-node");
    let node = node(cluster, "Unknown");
    // The kind of the owner decides. A real StatefulSet would release a Pod with such a name.
    overdue(
        &ns,
        &node,
        ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: made-up, controller: true}]",
    );

    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .has_root(&format!("Node {node}: not ready"))
        .says("only the kubelet of")
        .says("StatefulSet web then starts p again elsewhere")
        .says("Its volumes (data) may still be mounted")
        .never_advises("--force")
        .is_careful();
    withstands_real_rights(cluster, "pod/p", ns.name(), 8);

    let reader = cluster
        .user("no-nodes")
        .may("get,list", "pods,namespaces")
        .create();
    let story = told_to(cluster, &reader, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "unknown");
    assert!(story.unread().contains("nodes"), "{story}");

    told(cluster, "pod/p", ns.name()).follow(cluster, "out-of-service");
    told(cluster, "pod/p", ns.name())
        .says("declared out of service")
        .never_advises("taint");
    goes(cluster, "pod/p", ns.name());
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_pod_on_a_deleted_node_waits_for_the_pod_garbage_collector() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("no-node");
    let node = node(cluster, "Unknown");
    overdue(&ns, &node, "");
    delete(cluster, &format!("node/{node}"), "");
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .says("does not exist")
        .says("removed by kube-controller-manager (pod-garbage-collector)")
        .says("at the latest")
        .never_advises("--force")
        .never_advises("taint");
    let until = story.0["outlook"][0]["then"].as_str().unwrap();
    let until = until.split("removes it by ").nth(1).unwrap();
    let until: Timestamp = until.split(' ').next().unwrap().parse().unwrap();
    goes(cluster, "pod/p", ns.name());
    // A busy machine is slow. One more minute is more than promised, but still correct.
    assert!(Timestamp::now() < until + jiff::SignedDuration::from_mins(1));
}

#[test]
fn a_pod_in_its_grace_period_is_not_stuck() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("grace");
    let node = node(cluster, "True");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 600, containers: [{{name: c, image: i}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    let until = ns.get(["pod", "p"]).unwrap()["metadata"]["deletionTimestamp"]
        .as_str()
        .unwrap()
        .to_owned();
    let story = told(cluster, "pod/p", ns.name());
    replayed(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story.says("slow, not stuck").says(&until).never_advises("delete");
    assert!(story.roots().is_empty(), "{story}");
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_pod_on_a_ready_node_waits_for_the_kubelet() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("ready");
    let node = node(cluster, "True");
    overdue(&ns, &node, "");
    let story = told(cluster, "pod/p", ns.name());
    replayed(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story
        .says("its kubelet cleans up")
        .never_advises("--force")
        .never_says("not ready");

    // The Ready condition may be old; an expired Lease is better evidence.
    let renewed = Timestamp::now() - jiff::SignedDuration::from_mins(10);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: kube-node-lease}}}}
---
{{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {{name: {node}, namespace: kube-node-lease}}, spec: {{holderIdentity: {node}, leaseDurationSeconds: 40, renewTime: \"{renewed:.6}\"}}}}"
    ));
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "waiting");
    story.has_root(&format!(
        "Node {node}: Ready by its status, but its kubelet has not renewed its Lease"
    ));
    withstands_less(cluster, "pod/p", ns.name(), 8);
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_mirror_pod_names_its_static_pod() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("mirror");
    let node = node(cluster, "True");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, annotations: {{kubernetes.io/config.mirror: abc}}}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers: [{{name: c, image: i}}]}}}}"
    ));
    ns.patch_status(["pod", "p"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "p", "--wait=false"]).success();
    std::thread::sleep(std::time::Duration::from_secs(3));
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(KUBELET), "in-use");
    story.says("/etc/kubernetes/manifests").never_advises("--force");
    withstands_less(cluster, "pod/p", ns.name(), 8);
    ns.kubectl(["delete", "pod", "p", "--force", "--grace-period=0"])
        .success();
    delete(cluster, &format!("node/{node}"), "");
}

#[test]
fn a_tracking_finalizer_without_a_job_names_the_owner() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("no-job");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}");
    let uid = ns.get(["configmap", "owner"]).unwrap()["metadata"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, finalizers: [{TRACKING}], ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: {uid}, controller: true}}]}}, spec: {{containers: [{{name: c, image: i}}]}}}}"
    ));
    delete(cluster, "pod/p", ns.name());
    let story = told(cluster, "pod/p", ns.name());
    assert_eq!(story.verdict(TRACKING), "orphaned");
    story
        .has_root("ConfigMap owner: controls the pod and is no batch/v1 Job")
        .never_advises("finalizers\":null")
        .never_advises("--force")
        .is_careful();
    // One for the bindings of policies, which other tests may have.
    withstands_less(cluster, "pod/p", ns.name(), 10);
    story.follow(cluster, "finalizers remove");
    goes(cluster, "pod/p", ns.name());
}

#[test]
fn a_pod_waits_for_its_job_to_count_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("job");
    let node = node(cluster, "True");
    ns.apply(&format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: work}}, spec: {{podReplacementPolicy: Failed, template: {{spec: {{nodeName: {node}, restartPolicy: Never, terminationGracePeriodSeconds: 600, containers: [{{name: c, image: i}}]}}}}}}}}"
    ));
    // kubectl prints nothing for an empty list.
    let pods = || {
        let pods = ns.get(["pods"]).unwrap_or_default();
        pods["items"].as_array().cloned().unwrap_or_default()
    };
    wait("the Job creates its Pod", SOON, || !pods().is_empty());
    let pod = pods()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    ns.patch_status(["pod", &pod], &json!({"phase": "Running"}));
    let target = format!("pod/{pod}");
    delete(cluster, &target, ns.name());
    let story = told(cluster, &target, ns.name());
    assert_eq!(story.verdict(TRACKING), "waiting");
    story
        .says("counts a pod only when it has ended")
        .says("while Job work runs: it counts wrong")
        .says("slow, not stuck")
        .never_advises("finalizers remove");
    withstands_less(cluster, &target, ns.name(), 8);

    let reader = cluster
        .user("no-jobs")
        .may("get,list", "pods,namespaces,nodes")
        .create();
    let story = told_to(cluster, &reader, &target, ns.name());
    assert_eq!(story.verdict(TRACKING), "unknown");
    story.never_advises("finalizers remove");
    assert!(story.unread().contains("jobs.batch"), "{story}");

    // The test does the kubelet's part: the Pod ends and is then deleted.
    ns.patch_status([&*target], &json!({"phase": "Failed"}));
    wait("the job counts it", SOON, || {
        ns.get([&*target])
            .is_none_or(|pod| pod["metadata"].get("finalizers").is_none())
    });
    ns.kubectl(["delete", "job", "work", "--wait=false"]).success();
    let _ = ns.kubectl([
        "delete",
        "pods",
        "--all",
        "--force",
        "--grace-period=0",
        "--wait=false",
    ]);
    delete(cluster, &format!("node/{node}"), "");
}
