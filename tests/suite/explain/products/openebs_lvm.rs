//! OpenEBS LVM: a volume on a node that is gone, while the agents of all other nodes are ready.

use serde_json::{Value, json};

use crate::{
    explain::{
        custom_resources::{apply, define, going},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, release, told},
    },
    harness::{Namespace, wait},
};

const RBAC: &str = "rbac.authorization.k8s.io";

/// The agent on every node with this label, as the chart installs it.
fn agents(ns: &Namespace, label: &str) {
    let (name, labels) = (
        "openebs-lvm-node",
        json!({"openebs.io/component-name": "openebs-lvm-node", "of": label}),
    );
    let metadata = json!({"name": name, "namespace": ns.name(), "labels": labels});
    let role = json!({"name": format!("{name}-{label}")});
    let items = json!([
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole", "metadata": role,
            "rules": [{"apiGroups": ["local.openebs.io"], "resources": ["*"], "verbs": ["*"]}]},
        {"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRoleBinding", "metadata": role,
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": ns.name()}]},
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name, "nodeSelector": {"disks": label},
                "containers": [{"name": "openebs-lvm-plugin", "image": "registry.example/lvm-driver:1"}]}}}},
    ]);
    apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}));
}

/// Does the work of the scheduler and the kubelets: binds each Pod to its node and makes it ready. Returns the
/// Pods with their nodes.
fn start(ns: &Namespace, count: usize) -> Vec<(String, String)> {
    let pods = || {
        let all = ns.get(["pods"]).unwrap_or_default();
        all["items"].as_array().cloned().unwrap_or_default()
    };
    wait("every node has its Pod", SOON, || pods().len() == count);
    let terms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    let started = |pod: &Value| {
        let text = |pointer: &str| {
            pod.pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (name, node) = (text("/metadata/name"), text(terms));
        let file = WORLD.directory().join(format!("{name}-binding"));
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
        std::fs::write(&file, binding.to_string()).unwrap();
        let path = format!("/api/v1/namespaces/{}/pods/{name}/binding", ns.name());
        let file = file.display().to_string();
        WORLD.kubectl(["create", "--raw", &path, "-f", &file]).success();
        ns.patch_status(
            ["pod", &name],
            &json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
        );
        (name, node)
    };
    pods().iter().map(started).collect()
}

#[test]
fn a_volume_on_a_missing_node_names_that_node() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("local.openebs.io", "lvm.openebs.io/finalizer");
    define(group, "v1alpha1", "lvmvolumes", "LVMVolume");
    let ns = cluster.namespace("openebs");
    let place = ns.name();
    for _ in 0..2 {
        let node = format!("node/{}", cluster.node());
        cluster
            .kubectl(["label", &node, &format!("disks={place}")])
            .success();
    }
    agents(&ns, place);
    let started = start(&ns, 2);
    let (pod, node) = &started[0];
    let target = going(
        "lvmvolumes",
        &json!({"apiVersion": "local.openebs.io/v1alpha1", "kind": "LVMVolume",
            "metadata": {"name": "pvc-4711", "namespace": place, "finalizers": [finalizer]},
            "spec": {"ownerNodeID": node, "volGroup": "lvmvg", "capacity": "1073741824"}}),
        10,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story.says(&format!("It runs. Pod {place}/{pod}: ready"));
    withstands_less(cluster, &target, place, 30);

    delete(cluster, &format!("node/{node}"), "");
    let words = ["delete", "pod", pod, "--force", "--grace-period=0"];
    ns.kubectl(words).success();
    goes(cluster, &format!("pod/{pod}"), place);
    wait("no other Pod is wanted", SOON, || {
        let daemons = ns.get(["daemonset", "openebs-lvm-node"]).unwrap();
        daemons["status"]["desiredNumberScheduled"] == 1 && daemons["status"]["numberReady"] == 1
    });
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .has_root(&format!("Node {node}"))
        .says(&format!(
            "does not exist, and only the Pod of DaemonSet {place}/openebs-lvm-node on it can act"
        ))
        .says("This has nowhere to run, and is probably it")
        .never_says("It runs")
        .never_advises("--raw")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    // scan lists one object for the whole type, and other objects of it may be on other nodes.
    let words = [
        "scan",
        "lvmvolumes.local.openebs.io",
        "--by=holder",
        "--output=json",
    ];
    let report: Value = serde_json::from_str(&cluster.plugin(words).run().success()).unwrap();
    let row = &report["holders"][0];
    assert_eq!(row["name"], "OpenEBS LVM LocalPV of each node", "{report:#}");
    assert_eq!(row["state"], "unknown", "{report:#}");
    assert!(
        row["says"]
            .as_str()
            .unwrap_or_default()
            .contains("each node has its own"),
        "{report:#}"
    );
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
