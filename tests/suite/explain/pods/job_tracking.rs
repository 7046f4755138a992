//! Pods that wait for their Job to count them.

use serde_json::json;

use super::node;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, told, told_to},
    },
    harness::{Cluster, wait},
};

const TRACKING: &str = "batch.kubernetes.io/job-tracking";

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
    withstands_less(cluster, &target, ns.name(), 9);

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
