//! Pods in their grace period, and those that a kubelet makes again.

use serde_json::json;

use super::{KUBELET, node};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{delete, told},
    },
    harness::Cluster,
};

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
    assert!(story.0.get("atRisk").is_none(), "{story}");
    let scanned = || cluster.plugin(["scan", "-n", ns.name()]).run().success();
    let slow = scanned();
    assert!(
        slow.contains("SLOW      1 object in the grace period, not stuck."),
        "{slow}"
    );

    // The same Pod, once its kubelet falls silent.
    let conditions = json!([{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]);
    cluster.patch_status(["node", &node], &json!({"conditions": conditions}));
    let story = told(cluster, "pod/p", ns.name());
    assert!(
        story.0["headline"]
            .as_str()
            .is_some_and(|text| text.ends_with("At risk: stuck soon.")),
        "{story}"
    );
    story.never_says("not stuck");
    let at_risk = scanned();
    assert!(
        at_risk.contains("Nothing is stuck.\n\n   AT RISK   1 object in the grace period, and stuck soon."),
        "{at_risk}"
    );
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
