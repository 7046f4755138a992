//! Tests with a Challenge of cert-manager: with cert-manager, without it, and in situations that look similar.

mod entries;
mod gone;
mod life;
mod rights;
mod signs;
mod silence;
mod undescribed;

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, Safety, Verdict, holder,
        holder::{Liveness, Tells},
        model::{Step, StepKind},
        testing::{
            told::command_line,
            world::{World, object},
        },
    },
    knowledge::{Entry, Knowledge, Runs, WorkloadKind},
    object::{Finalizer, List},
    snapshot::facts::{Facts, Object},
};

const FINALIZER: &str = "finalizer.acme.cert-manager.io";
const LABELS: &str = "app.kubernetes.io/name";

fn challenge() -> Object {
    object(
        "acme.cert-manager.io",
        "challenges",
        "Challenge",
        json!({
            "metadata": {"name": "api-cert", "namespace": "pay", "finalizers": [FINALIZER],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0},
            "spec": {"dnsName": "api.example.com"},
        }),
    )
}

fn definition() -> Object {
    object(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        json!({"metadata": {"name": "challenges.acme.cert-manager.io", "annotations": {
            "meta.helm.sh/release-name": "cert-manager", "meta.helm.sh/release-namespace": "cert-manager"}},
            "spec": {"group": "acme.cert-manager.io"}}),
    )
}

fn labels() -> Value {
    json!({LABELS: "cert-manager", "app.kubernetes.io/component": "controller"})
}

fn deployment(namespace: &str, labels: &Value, replicas: u32, ready: u32) -> Object {
    object(
        "apps",
        "deployments",
        "Deployment",
        json!({
            "metadata": {"name": "cert-manager", "namespace": namespace, "labels": labels, "uid": format!("d-{namespace}")},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": "cert-manager"}}},
            "status": {"readyReplicas": ready},
        }),
    )
}

fn account(namespace: &str, name: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": namespace}});
    object("", "serviceaccounts", "ServiceAccount", value)
}

/// The RBAC objects that allow an account to change challenges.
fn rights(namespace: &str, name: &str) -> [Object; 2] {
    let group = "rbac.authorization.k8s.io";
    [
        object(
            group,
            "clusterroles",
            "ClusterRole",
            json!({"metadata": {"name": "challenges"}, "rules": [{"apiGroups": ["acme.cert-manager.io"],
                "resources": ["challenges"], "verbs": ["get", "update"]}]}),
        ),
        object(
            group,
            "clusterrolebindings",
            "ClusterRoleBinding",
            json!({"metadata": {"name": "challenges"}, "roleRef": {"kind": "ClusterRole", "name": "challenges"},
                "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}]}),
        ),
    ]
}

fn lease(renewed: &str) -> Object {
    object(
        "coordination.k8s.io",
        "leases",
        "Lease",
        json!({"metadata": {"name": "cert-manager-controller", "namespace": "kube-system"},
            "spec": {"renewTime": renewed, "leaseDurationSeconds": 60}}),
    )
}

/// A complete installation of cert-manager.
fn installed() -> World {
    let mut all = vec![
        definition(),
        deployment("cert-manager", &labels(), 1, 1),
        account("cert-manager", "cert-manager"),
        lease("2026-01-01T11:59:55Z"),
    ];
    all.extend(rights("cert-manager", "cert-manager"));
    World::of(all)
}

fn verdict(diagnosis: &Diagnosis) -> Verdict {
    diagnosis.waits[0].verdict
}

/// The first step that does more than look.
fn first_change(diagnosis: &Diagnosis) -> &Step {
    let mut steps = diagnosis.steps.iter();
    steps
        .find(|step| step.safety != Safety::ReadOnly)
        .expect("a step that changes something")
}

/// Whether a step removes the finalizer.
fn advises_removal(diagnosis: &Diagnosis) -> bool {
    diagnosis
        .steps
        .iter()
        .any(|step| step.kind() == StepKind::RemoveFinalizer)
}

/// An object with a finalizer that the catalogue does not describe.
fn widget() -> Object {
    object(
        "widgets.test",
        "widgets",
        "Widget",
        json!({"metadata": {"name": "w", "namespace": "n", "finalizers": ["widgets.test/clean"],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": {}}),
    )
}

fn widget_rights(namespace: &str, name: &str) -> [Object; 2] {
    let mut both = rights(namespace, name);
    both[0].value["rules"][0]["apiGroups"] = json!(["widgets.test"]);
    both[0].value["rules"][0]["resources"] = json!(["*"]);
    both
}

fn granted(role: &str, resources: &Value, subjects: &Value) -> [Object; 2] {
    let [mut granted, mut bound] = rights("", "");
    granted.value["metadata"]["name"] = role.into();
    granted.value["rules"] =
        json!([{"apiGroups": ["widgets.test"], "resources": resources, "verbs": ["update"]}]);
    bound.value["metadata"]["name"] = role.into();
    bound.value["roleRef"]["name"] = role.into();
    bound.value["subjects"] = subjects.clone();
    [granted, bound]
}
