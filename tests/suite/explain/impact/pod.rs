//! Pods and workloads with ephemeral volumes.

use serde_json::{Value, json};

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, told},
    },
    harness::wait,
};

const DRIVER: &str = "scratches.example.test";

/// An ephemeral volume, which is created with its Pod.
fn ephemeral() -> Value {
    json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": DRIVER,
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}}})
}

fn spec(volumes: &[Value]) -> Value {
    json!({"terminationGracePeriodSeconds": 0, "volumes": volumes, "containers": [{"name": "c", "image": "i"}]})
}

#[test]
fn a_pod_takes_its_ephemeral_volumes_along() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("scratch");
    let driver = cluster.csi_driver(DRIVER).start();
    let pod = |name: &str, volumes: &[Value]| {
        ns.apply(
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec(volumes)})
                .to_string(),
        );
    };
    // A claim of that name without an owner reference is not the Pod's. The Pod does not start then.
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "late-scratch"},
        "spec": ephemeral()["ephemeral"]["volumeClaimTemplate"]["spec"]});
    ns.apply(&claim.to_string());
    pod("sorter", &[ephemeral(), json!({"name": "tmp", "emptyDir": {}})]);
    pod("late", &[ephemeral()]);
    let labels = json!({"app": "sorters"});
    ns.apply(
        &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "sorters"}, "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"volumes": [ephemeral()],
                "containers": [{"name": "c", "image": "i"}]}}}})
        .to_string(),
    );
    let mut volume = String::new();
    wait(
        "the pod's claim is bound, and the Deployment has its pod",
        SOON,
        || {
            let claim = ns.get(["pvc", "sorter-scratch"]).unwrap_or_default();
            claim["spec"]["volumeName"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut volume);
            claim["status"]["phase"] == "Bound"
                && ns.get(["deployment", "sorters"]).unwrap()["status"]["replicas"] == 1
        },
    );
    let story = told(cluster, "pod/sorter", ns.name());
    story
        .fates("released", "claims of its ephemeral volumes: 1; they have it as their owner and are deleted with it: sorter-scratch")
        .fates("destroyed", &format!("disks behind its ephemeral volumes: 1, of 1Mi in all; their reclaim policy is Delete: {volume}"))
        .fates("destroyed", "what it keeps in emptyDir volumes")
        .fates("destroyed", "no controller makes it again")
        .is_careful();
    withstands_less(cluster, "pod/sorter", ns.name(), 20);
    told(cluster, "pod/late", ns.name())
        .never_says("late-scratch")
        .never_says("claims of its ephemeral");

    let sorters = told(cluster, "deploy/sorters", ns.name());
    sorters
        .fates("destroyed", "what its pods keep in ephemeral volumes")
        .is_careful();
    withstands_less(cluster, "deploy/sorters", ns.name(), 30);
    sorters.follow(cluster, "delete deployments.apps/sorters");
    goes(cluster, "deploy/sorters", ns.name());

    // After the advised step the disk outlives the Pod.
    story.follow(cluster, "--only-retain");
    cluster
        .kubectl(["delete", "pod", "sorter", "--namespace", ns.name()])
        .success();
    goes(cluster, "pvc/sorter-scratch", ns.name());
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    assert!(
        !driver.calls().contains(&format!("DeleteVolume {volume}")),
        "{:?}",
        driver.calls()
    );
    assert!(ns.get(["pvc", "late-scratch"]).is_some());
}

#[test]
fn a_deletion_goes_around_the_budget_of_a_pod() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("budget");
    let labels = json!({"app": "web"});
    let pod = |name: &str, labels: &Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec(&[])}).to_string()
    };
    ns.apply(&pod("web", &labels));
    ns.apply(&pod("other", &json!({"app": "other"})));
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}});
    ns.apply(&budget.to_string());
    wait("the budget is counted", SOON, || {
        let budget = ns.get(["poddisruptionbudget", "web"]).unwrap_or_default();
        budget["status"]["expectedPods"] == 1
    });
    let story = told(cluster, "pod/web", ns.name());
    let says = "a deletion goes around its budget. PodDisruptionBudget web allows no disruption (0 of 1 healthy, 1 must be)";
    story.fates("broken", says).is_careful();
    withstands_less(cluster, "pod/web", ns.name(), 20);
    told(cluster, "pod/other", ns.name()).never_says("PodDisruptionBudget");
    // The API server refuses an eviction, and no deletion.
    ns.kubectl(["delete", "pod", "web"]).success();
    goes(cluster, "pod/web", ns.name());
}
