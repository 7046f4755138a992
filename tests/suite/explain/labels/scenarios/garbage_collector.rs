//! Owners and dependents.

use serde_json::{Value, json};

use super::{Scenario, Stage, Target, namespace, scenario};
use crate::{
    explain::{
        garbage_collector::{absent_owners, foreground_deletion::owned},
        told::{SOON, is_going},
    },
    harness::{Cluster, Namespace, wait},
};

pub(super) const ALL: &[Scenario] = &[
    scenario("owner", owner_of_a_held_object).tells(&["garbage_collector/foreground_deletion"]),
    scenario("chained", deployment_of_a_held_pod),
    scenario("far", owner_without_a_namespace),
    scenario("copied", object_with_an_owner_elsewhere)
        .adds(&[("garbage_collector/absent_owners", "exists in namespace")]),
];

/// No garbage collector runs.
pub(super) const STOPPED: Stage = Stage {
    scenarios: &[&[
        scenario("orphaning", owner_that_orphans)
            .steps(1, 1)
            .tells(&["garbage_collector/orphan_dependents"]),
        scenario("waiting", owner_that_waits),
        scenario("empty", owner_of_nothing).steps(1, 1),
    ]],
    before: |_| {},
};

fn owner(ns: &Namespace) -> Value {
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}, data: {a: b}}");
    ns.get(["configmap", "owner"]).unwrap()
}

fn owner_of_a_held_object(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let owner = owner(&ns);
    owned(&ns, "held", &owner, true);
    ns.delete_with("foreground", "configmap/owner");
    wait("the garbage collector deletes the dependent", SOON, || {
        is_going(&ns, "secret/held")
    });
    ["configmap/owner".to_owned(), name.to_owned()]
}

fn deployment_of_a_held_pod(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}, finalizers: [example.test/drain]}, spec: {containers: [{name: c, image: i}]}}}}",
    );
    let pod = || {
        let pods = ns.get(["pods"]).unwrap_or_default();
        Some(format!("pod/{}", pods["items"][0]["metadata"]["name"].as_str()?))
    };
    wait("the pod exists", SOON, || pod().is_some());
    let pod = pod().unwrap();
    let failed = json!({"phase": "Failed"});
    ns.delete_with("foreground", "deployment/web");
    wait("its pod is deleted", SOON, || is_going(&ns, &pod));
    // The Pod garbage collector would mark it so at any time.
    ns.patch_status([&*pod], &failed);
    ["deployment/web".to_owned(), name.to_owned()]
}

fn owner_without_a_namespace(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    cluster.apply(&format!(
        "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: 1}}"
    ));
    let owner = cluster.get(["priorityclass", name]).unwrap();
    owned(&ns, "held", &owner, true);
    let target = format!("priorityclass/{name}");
    cluster.delete_with("foreground", &target, "");
    wait("the garbage collector deletes the dependent", SOON, || {
        is_going(&ns, "secret/held")
    });
    [target, String::new()]
}

/// A copy from another namespace, with its owner references: the garbage collector deletes it.
fn object_with_an_owner_elsewhere(cluster: &Cluster, name: &str) -> Target {
    let home = namespace(cluster, &format!("{name}-home"));
    let ns = namespace(cluster, name);
    let uid = owner(&home)["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
    absent_owners::owned(&ns, "copied", &owner);
    wait("the garbage collector deletes the copy", SOON, || {
        is_going(&ns, "pvc/copied")
    });
    ["pvc/copied".to_owned(), name.to_owned()]
}

/// The deletion is old enough for a garbage collector to be late.
fn late(cluster: &Cluster, name: &str, cascade: &str) -> Target {
    cluster.delete_with(cascade, "configmap/owner", name);
    cluster.deleted_earlier(&format!("configmaps/{name}/owner"), 62);
    ["configmap/owner".to_owned(), name.to_owned()]
}

fn owner_that_orphans(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    owned(&ns, "held", &owner(&ns), true);
    late(cluster, name, "orphan")
}

fn owner_that_waits(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    owned(&ns, "held", &owner(&ns), true);
    late(cluster, name, "foreground")
}

fn owner_of_nothing(cluster: &Cluster, name: &str) -> Target {
    owner(&namespace(cluster, name));
    late(cluster, name, "foreground")
}
