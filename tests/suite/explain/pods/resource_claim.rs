//! Devices that Pods have reserved, with the real resourceclaim controller.

use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, told},
    },
    harness::{Cluster, Namespace, has, wait},
};

const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// A ResourceClaim with an allocated device, reserved for these consumers, as the scheduler writes it.
pub fn allocated(ns: &Namespace, name: &str, reserved: &Value) {
    ns.apply(&format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {name}, finalizers: [{FINALIZER}]}}, spec: \
         {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.example.test}}}}]}}}}}}"
    ));
    ns.patch_status(
        ["resourceclaim", name],
        &json!({
            "allocation": {"devices": {"results": [
                {"request": "gpu", "driver": "gpu.example.test", "pool": "p", "device": format!("{name}-0")}]}},
            "reservedFor": reserved,
        }),
    );
}

/// Creates a running Pod and returns its entry in `status.reservedFor`.
fn running(ns: &Namespace, name: &str) -> Value {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{nodeName: {}-node, terminationGracePeriodSeconds: 0, \
         resourceClaims: [{{name: gpu, resourceClaimName: gpu}}], containers: [{{name: c, image: i}}]}}}}",
        ns.name()
    ));
    ns.patch_status(["pod", name], &json!({"phase": "Running"}));
    let uid = ns.get(["pod", name]).unwrap()["metadata"]["uid"].clone();
    json!({"resource": "pods", "name": name, "uid": uid})
}

#[test]
fn a_resource_claim_names_the_pod_that_uses_it() {
    if !has("resource.k8s.io/v1", 34) {
        return;
    }
    let cluster = Cluster::shared();
    let ns = cluster.namespace("devices");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {}-node}}}}",
        ns.name()
    ));
    let (train, done) = (running(&ns, "train"), running(&ns, "done"));
    allocated(&ns, "gpu", &json!([train, done]));
    ns.patch_status(["pod", "done"], &json!({"phase": "Succeeded"}));
    let target = "resourceclaim/gpu";
    told(cluster, target, ns.name()).says("deleted-now");
    delete(cluster, target, ns.name());
    wait("the controller removes the finished pod", SOON, || {
        let claim = ns.get(["resourceclaim", "gpu"]).unwrap();
        claim["status"]["reservedFor"]
            .as_array()
            .is_some_and(|left| left.len() == 1)
    });

    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "in-use", "{story}");
    story
        .has_root("Pod train: Running on")
        .says("may give it to a second pod while the first still uses it")
        .never_says("Pod done")
        .never_advises("finalizers remove")
        .never_advises("patch")
        .is_careful();
    assert_eq!(story.roots().len(), 1, "{story}");
    withstands_less(cluster, target, ns.name(), 10);
    story.follow(cluster, "delete pod/train");
    goes(cluster, target, ns.name());
    delete(cluster, &format!("node/{}-node", ns.name()), "");
}

#[test]
fn an_entry_that_the_controller_does_not_know_stays() {
    if !has("resource.k8s.io/v1", 34) {
        return;
    }
    let cluster = Cluster::shared();
    let ns = cluster.namespace("consumers");
    let entry =
        json!({"apiGroup": "batch.example.test", "resource": "runs", "name": "nightly", "uid": "4711"});
    let gone = json!({"resource": "pods", "name": "gone", "uid": "4712"});
    allocated(&ns, "gpu", &json!([entry, gone]));
    let target = "resourceclaim/gpu";
    delete(cluster, target, ns.name());
    wait("the controller removes the deleted pod", SOON, || {
        let claim = ns.get(["resourceclaim", "gpu"]).unwrap();
        claim["status"]["reservedFor"]
            .as_array()
            .is_some_and(|left| left.len() == 1)
    });
    let story = told(cluster, target, ns.name());
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story
        .has_root("status.reservedFor[0] names runs.batch.example.test nightly")
        .says("DEVICE GIVEN AWAY")
        .never_says("Pod gone")
        .never_advises("finalizers/0")
        .is_careful();
    withstands_less(cluster, target, ns.name(), 10);
    story.follow(cluster, "--subresource=status");
    goes(cluster, target, ns.name());
}
