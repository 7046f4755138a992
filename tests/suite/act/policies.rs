//! The policies in `deploy/policies/`, on the real server. They refuse the deletions that `rescue` is for, and no other.

use serde_json::json;

use crate::{
    explain::told::{SOON, goes},
    harness::{Cluster, wait},
};

const VOLUMES: &str = include_str!("../../../deploy/policies/keep-bound-volumes.yaml");
const CLAIMS: &str = include_str!("../../../deploy/policies/keep-bound-claims.yaml");
const ALLOWED: &str = "kubectl-finalizers/allow-delete=true";

/// Creates a volume and a claim of one name that are bound to each other.
fn bound_pair(cluster: &Cluster, namespace: &str, name: &str) {
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
        "claimRef": {"namespace": namespace, "name": name}, "persistentVolumeReclaimPolicy": "Retain",
        "csi": {"driver": "none.example.test", "volumeHandle": name}}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace}, "spec": {
        "storageClassName": "", "volumeName": name, "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}}}});
    cluster.apply(&volume.to_string());
    cluster.apply(&claim.to_string());
    wait("claim and volume are bound", SOON, || {
        let phase = |object: Option<serde_json::Value>| object.unwrap()["status"]["phase"].clone();
        phase(cluster.get(["pvc", name, "-n", namespace])) == "Bound"
            && phase(cluster.get(["pv", name])) == "Bound"
    });
}

#[test]
fn the_policies_refuse_to_delete_what_is_bound_and_nothing_else() {
    let cluster = Cluster::start();
    let ns = cluster.namespace("kept");
    let place = ns.name();
    for name in ["one", "two", "three"] {
        bound_pair(&cluster, place, name);
    }
    let other = cluster.namespace("dropped");
    bound_pair(&cluster, other.name(), "four");
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "free"}, "spec": {
            "capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "free",
            "csi": {"driver": "none.example.test", "volumeHandle": "free"}}})
        .to_string(),
    );
    cluster.apply(VOLUMES);
    cluster.apply(CLAIMS);

    let kubectl = |words: &[&str]| match words {
        [_, what, ..] if what.starts_with("pv/") => cluster.kubectl(words.to_vec()),
        _ => ns.kubectl(words.to_vec()),
    };
    let try_to_delete = |what: &str| kubectl(&["delete", what, "--dry-run=server"]);
    let allow_volume = "To allow it: kubectl annotate pv/one kubectl-finalizers/allow-delete=true";
    let allow_claim =
        format!("To allow it: kubectl annotate pvc/one -n {place} kubectl-finalizers/allow-delete=true");
    for (what, told) in [("pv/one", allow_volume), ("pvc/one", &allow_claim)] {
        wait("the policy is in force", SOON, || try_to_delete(what).code != 0);
        let refused = try_to_delete(what);
        assert!(refused.stderr.contains(told), "{what}: {refused}");
    }

    // A volume that is not Bound goes.
    kubectl(&["delete", "pv/free", "--wait=false"]).success();
    // The controllers of Kubernetes may delete claims. Otherwise a deleted namespace would be stuck.
    let dropped = other.name();
    cluster
        .kubectl(["delete", "namespace", dropped, "--wait=false"])
        .success();
    goes(&cluster, "pvc/four", dropped);

    // The annotation allows one deletion. A second one changes nothing, so it needs no annotation.
    let hold = r#"{"metadata": {"finalizers": ["kubernetes.io/pvc-protection", "example.com/hold"]}}"#;
    kubectl(&["patch", "pvc/two", "--type=merge", "-p", hold]).success();
    for what in ["pv/two", "pvc/two"] {
        kubectl(&["annotate", what, ALLOWED]).success();
        kubectl(&["delete", what, "--wait=false"]).success();
        kubectl(&["annotate", what, "kubectl-finalizers/allow-delete-"]).success();
        try_to_delete(what).success();
    }
    kubectl(&["annotate", "pv/three", "kubectl-finalizers/allow-delete=false"]).success();
    assert_ne!(try_to_delete("pv/three").code, 0);
    assert_ne!(try_to_delete("pvc/three").code, 0);
    cluster
        .kubectl(["label", &format!("ns/{place}"), ALLOWED])
        .success();
    wait("the namespace is left out", SOON, || {
        try_to_delete("pvc/three").code == 0
    });
}
