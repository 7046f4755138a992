//! Objects that are not being deleted yet: the steps before their deletion, and the deletion itself.

use serde_json::json;

use super::{DRIVER, Scenario, Target, bound_claim, namespace, object, pod, scenario};
use crate::{
    explain::{custom_resources::running_in, impact::operator_in, told::SOON},
    harness::{Cluster, wait},
    stuck::custom_type,
};

pub(super) const ALL: &[Scenario] = &[
    scenario("intact", claim)
        .steps(2, 2)
        .adds(&[("impact/persistent_volume_claim", "(reclaim policy Delete)")]),
    scenario("bound", volume)
        .steps(2, 2)
        .adds(&[("impact/persistent_volume", "once its claim goes too")]),
    scenario("busy", node_with_pods)
        .steps(2, 2)
        .adds(&[("impact/node", "pods on it: ")]),
    scenario("runner", bare_pod).adds(&[("impact/pod", "no controller makes it again")]),
    scenario("place", namespace_with_a_disk)
        .steps(2, 2)
        .adds(&[("impact/namespace", "disks behind its claims")]),
    scenario("boats", definition_with_objects)
        .steps(2, 2)
        .adds(&[("impact/custom_resource_definition", "all objects of this type")]),
    scenario("tier", storage_class)
        .steps(1, 1)
        .adds(&[("impact/storage_class", "claims without a volume that name it")]),
    scenario("files", csi_driver)
        .steps(1, 1)
        .adds(&[("impact/csi_driver", "new mounts")]),
    scenario("replicas", stateful_set).steps(3, 3).adds(&[(
        "impact/volume_claim_templates",
        "claims of its volumeClaimTemplates",
    )]),
    scenario("webhooks", webhook_of_an_operator).steps(2, 2).adds(&[(
        "impact/api_extensions",
        "until it is deleted too the server refuses",
    )]),
    scenario("keeper", operator_with_objects).steps(2, 2).adds(&[
        ("impact/workload", "its pods: 1; they are stopped"),
        (
            "impact/finalizer_holders",
            "Nobody else was found who removes that",
        ),
    ]),
];

fn claim(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    ["pvc/data".to_owned(), name.to_owned()]
}

fn volume(cluster: &Cluster, name: &str) -> Target {
    let volume = bound_claim(cluster, name, "");
    [format!("pv/{volume}"), String::new()]
}

fn node_with_pods(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    [format!("node/{name}"), String::new()]
}

fn bare_pod(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    pod(cluster, name, "Running");
    ["pod/p".to_owned(), name.to_owned()]
}

fn namespace_with_a_disk(cluster: &Cluster, name: &str) -> Target {
    bound_claim(cluster, name, "");
    [format!("ns/{name}"), String::new()]
}

fn definition_with_objects(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, "boats", "Boat");
    let boat = object(
        [&format!("{group}/v1"), "Boat", "afloat"],
        name,
        &["example.test/anchor"],
    );
    cluster.apply(&boat.to_string());
    [format!("crd/boats.{group}"), String::new()]
}

fn storage_class(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, provisioner: old.example.test}}"
    ));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: waits}}, spec: {{storageClassName: {name}, accessModes: \
         [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    [format!("storageclass/{name}"), String::new()]
}

fn csi_driver(cluster: &Cluster, name: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {{name: {name}}}, spec: {{attachRequired: false, podInfoOnMount: \
         true}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: 1Mi}}, accessModes: \
         [ReadWriteOnce], csi: {{driver: {name}, volumeHandle: disk-{name}}}}}}}"
    ));
    [format!("csidriver/{name}"), String::new()]
}

fn stateful_set(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    crate::explain::impact::volume_claim_templates::set(&ns, DRIVER, "db", 1, "Delete");
    wait("the claim is bound, and owned", SOON, || {
        let claim = ns.get(["pvc", "data-db-0"]).unwrap_or_default();
        claim["status"]["phase"] == "Bound" && claim["metadata"]["ownerReferences"].is_array()
    });
    ["sts/db".to_owned(), name.to_owned()]
}

fn webhook_of_an_operator(cluster: &Cluster, name: &str) -> Target {
    let labels = json!({"app": name});
    operator_in(cluster, name, "guard", &labels);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: guard, namespace: {name}}}, spec: {{clusterIP: None, ports: [{{port: 443}}], selector: \
         {{app: {name}}}}}}}"
    ));
    crate::explain::impact::workload::webhook(cluster, name, [name, "guard"], "Fail");
    ["deploy/guard".to_owned(), name.to_owned()]
}

/// Nobody else may change objects of its type.
fn operator_with_objects(cluster: &Cluster, name: &str) -> Target {
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, "orders", "Order");
    running_in(cluster, name, name, json!({"app": name}), &group);
    let held = format!("{group}/clean");
    let order = object([&format!("{group}/v1"), "Order", "first"], name, &[&held]);
    cluster.apply(&order.to_string());
    [format!("deploy/{name}"), name.to_owned()]
}
