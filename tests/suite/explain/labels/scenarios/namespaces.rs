//! Namespaces that are stuck, and what is left of a namespace that was forced to go.

use serde_json::json;

use super::{Scenario, Stage, Target, deleted, namespace, object, scenario, target};
use crate::{
    explain::{
        namespaces::content_remaining::{keep, veto},
        told::{SOON, condition, finalize_by_force},
    },
    harness::{Cluster, wait},
    stuck::dead_api_group_called,
};

/// A type that [`super::api_machinery::prepare`] defines.
const WIDGETS: &str = "labels.example.test/v1";

pub(super) const ALL: &[Scenario] = &[
    scenario("left", namespace_with_an_object).tells(&["namespaces/content_remaining"]),
    scenario("trapped", namespace_with_a_pod),
    scenario("rancher", empty_namespace_of_a_manager).steps(1, 1),
    scenario("audited", namespace_with_an_unknown_entry)
        .steps(1, 1)
        .tells(&["namespaces/finalizer_lists"]),
    scenario("stranded", namespace_whose_controller_is_off_the_list),
    scenario("vetoed", namespace_behind_a_webhook)
        .steps(1, 1)
        .tells(&["namespaces/content_deletion_failure"]),
    scenario("policed", namespace_behind_a_policy),
    scenario("survivor", object_in_a_forced_namespace)
        .steps(2, 1)
        .tells(&["namespaces/missing_namespace"]),
];

/// An API group that does not answer stops every namespace, so there is one copy.
pub(super) const DEAD_API_GROUP: Stage = Stage {
    scenarios: &[&[scenario("dormant", namespace_of_a_dead_api_group)
        .steps(1, 1)
        .tells(&["namespaces/discovery_failure"])]],
    before: |_| {},
};

fn gone(cluster: &Cluster, name: &str) -> Target {
    target(cluster, &format!("ns/{name}"), "")
}

fn namespace_with_an_object(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: last, finalizers: [example.test/keep]}, data: {a: b}}");
    gone(cluster, name)
}

fn namespace_with_a_pod(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [example.test/keep]}, spec: {containers: [{name: c, image: i}]}}",
    );
    ns.patch_status(["pod", "p"], &json!({"phase": "Failed"}));
    gone(cluster, name)
}

fn empty_namespace_of_a_manager(cluster: &Cluster, name: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, finalizers: [controller.cattle.io/namespace-auth]}}}}"
    ));
    let target = gone(cluster, name);
    wait("only that finalizer is left", SOON, || {
        cluster.get(["namespace", name]).unwrap()["spec"]["finalizers"].is_null()
    });
    cluster.deleted_earlier(&format!("namespaces/{name}"), 600);
    target
}

fn namespace_with_an_unknown_entry(cluster: &Cluster, name: &str) -> Target {
    let entry = "company.example.test/audit";
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}, spec: {{finalizers: [kubernetes, {entry}]}}}}"
    ));
    let target = gone(cluster, name);
    wait("only that entry is left", SOON, || {
        cluster.get(["namespace", name]).unwrap()["spec"]["finalizers"] == json!([entry])
    });
    // What is unknown is not removed in the first minutes.
    cluster.deleted_earlier(&format!("namespaces/{name}"), 600);
    target
}

/// Somebody took the entry of Kubernetes off while content is left.
fn namespace_whose_controller_is_off_the_list(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: last, finalizers: [example.test/keep]}}");
    let target = gone(cluster, name);
    condition(cluster, name, "NamespaceFinalizersRemaining", "True");
    finalize_by_force(cluster, name, r#"["example.test/a"]"#);
    target
}

fn namespace_behind_a_webhook(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply(&object([WIDGETS, "Widget", "w"], name, &[]).to_string());
    veto(cluster, name, name, "labels.example.test");
    let target = gone(cluster, name);
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");
    target
}

fn namespace_behind_a_policy(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}");
    keep(cluster, name, name);
    let target = gone(cluster, name);
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");
    target
}

fn object_in_a_forced_namespace(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let held = object([WIDGETS, "Widget", "w"], name, &["widgets.example.test/clean"]);
    let target = deleted(cluster, "widgets", &held);
    cluster.delete(&format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceFinalizersRemaining", "True");
    finalize_by_force(cluster, name, "[]");
    wait("the namespace goes", SOON, || {
        cluster.get(["namespace", name]).is_none()
    });
    target
}

fn namespace_of_a_dead_api_group(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    dead_api_group_called(cluster, &format!("{name}.example.test"));
    let target = gone(cluster, name);
    condition(cluster, name, "NamespaceDeletionDiscoveryFailure", "True");
    target
}
