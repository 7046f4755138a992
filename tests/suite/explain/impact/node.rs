//! A Node with Pods, local volumes and attachments.

use serde_json::json;

use super::WORLD;
use crate::explain::{
    less_is_weaker::withstands_less,
    told::{goes, release, told},
};

fn node(name: &str) {
    WORLD.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}}}"
    ));
}

/// Creates a volume that only these Nodes can use.
fn local(name: &str, nodes: &[&str]) {
    WORLD.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
            "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": "/mnt/disk"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]}}}})
        .to_string(),
    );
}

#[test]
fn a_node_takes_its_pods_along_and_its_local_data() {
    let cluster = &*WORLD;
    for name in ["leaving-node", "staying-node"] {
        node(name);
    }
    let ns = cluster.namespace("moved");
    let pod = |name: &str, node: &str, volumes: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 0, \
             containers: [{{name: c, image: i}}], volumes: [{volumes}]}}}}"
        )
    };
    ns.apply(&pod("cache", "leaving-node", "{name: scratch, emptyDir: {}}"));
    ns.apply(&pod("neighbour", "staying-node", ""));
    // A claim without a class would take the volume of another test.
    let claim =
        "{storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}";
    let brought = format!("{{name: brought, ephemeral: {{volumeClaimTemplate: {{spec: {claim}}}}}}}");
    ns.apply(&pod("sorter", "leaving-node", &brought));
    local("only-here", &["leaving-node"]);
    local("on-both", &["leaving-node", "staying-node"]);
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: at-leaving}, spec: {attacher: none.example.test, \
         nodeName: leaving-node, source: {persistentVolumeName: only-here}}}",
    );

    let target = "node/leaving-node";
    let story = told(cluster, target, "");
    story
        .fates("released", "pods on it: 2")
        .fates("released", "attachments of volumes to it: 1")
        .fates("destroyed", "pods on it that no controller makes again: 2: cache sorter")
        .fates("destroyed", "what pods on it keep in emptyDir volumes: 1 pods: cache")
        .fates("destroyed", "what pods on it keep in ephemeral volumes, whose claims are deleted with the pods: 1 pods: sorter")
        .says("DATA LOSS (pods that nobody makes again, what is in emptyDir volumes, what is in ephemeral volumes)")
        .fates("broken", "volumes that no other node can reach: 1, of 5Gi in all")
        .fates("broken", "only-here")
        .never_says("on-both")
        .never_says("neighbour")
        .is_careful();
    withstands_less(cluster, target, "", 10);

    story.follow(cluster, "drain leaving-node");
    assert!(ns.get(["pod", "cache"]).is_none() && ns.get(["pod", "neighbour"]).is_some());
    goes(cluster, "pvc/sorter-brought", ns.name());
    let held = r#"{"metadata":{"finalizers":["karpenter.sh/termination"]}}"#;
    cluster
        .kubectl(["patch", target, "--type=merge", "--patch", held])
        .success();
    let held = told(cluster, target, "");
    // No name of Karpenter exists, and the API server has none of its types.
    assert_eq!(held.verdict("karpenter.sh/termination"), "orphaned", "{held}");
    held.says("It is gone")
        .says("types of karpenter.sh: the API server has none");
    release(cluster, target, "default");
    story.follow(cluster, "delete node/leaving-node");
    goes(cluster, target, "");

    let story = told(cluster, "node/staying-node", "");
    assert!(
        !story.effects_with("broken").concat().contains("only-here"),
        "{story}"
    );
}
