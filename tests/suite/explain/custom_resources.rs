//! Custom resources of real products. Types, finalizers and fields are those that the products' charts and
//! controllers write. A controller that must run has a Deployment, with the real controllers of Deployments
//! around it.

use serde_json::{Value, json};

use crate::{
    explain::{
        holder::{Operator, WORLD},
        told::SOON,
    },
    harness::{Cluster, wait},
};

/// Defines a namespaced type with one version and without a schema.
pub fn define(group: &str, version: &str, plural: &str, kind: &str) {
    define_in("Namespaced", group, version, plural, kind);
}

/// Defines such a type with scope `Namespaced` or `Cluster`.
pub fn define_in(scope: &str, group: &str, version: &str, plural: &str, kind: &str) {
    add_definition(&WORLD, scope, [group, version, plural, kind]);
}

/// The same in another cluster.
pub fn add_definition(cluster: &Cluster, scope: &str, [group, version, plural, kind]: [&str; 4]) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        // The API server requires this annotation for groups below k8s.io and kubernetes.io.
        "metadata": {"name": format!("{plural}.{group}"), "annotations": {"api-approved.kubernetes.io": "unapproved, as in the wild"}},
        "spec": {"group": group, "scope": scope,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    });
    cluster.apply(&definition.to_string());
    let path = format!("/apis/{group}/{version}/{plural}");
    wait("the new type is served", SOON, || cluster.serves(&path));
}

#[track_caller]
pub fn apply(object: &Value) {
    WORLD.apply(&object.to_string());
}

/// Creates an object and deletes it. Its deletion timestamp is set to `minutes` ago in etcd. Returns its
/// target, `TYPE.GROUP/NAME`.
#[track_caller]
pub fn going(plural: &str, object: &Value, minutes: i64) -> String {
    going_in(&WORLD, plural, object, minutes)
}

/// The same in another cluster.
#[track_caller]
pub fn going_in(cluster: &Cluster, plural: &str, object: &Value, minutes: i64) -> String {
    cluster.apply(&object.to_string());
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let target = format!("{plural}.{group}/{name}");
    cluster.delete(&target, namespace);
    let place = if namespace.is_empty() {
        String::new()
    } else {
        format!("{namespace}/")
    };
    cluster.deleted_earlier(&format!("{group}/{plural}/{place}{name}"), 60 * minutes);
    target
}

/// A controller that runs and has all rights on the types of this group.
pub fn running(
    namespace: &'static str,
    name: &'static str,
    labels: Value,
    group: &'static str,
) -> Operator<'static> {
    running_in(&WORLD, namespace, name, labels, group)
}

/// The same in another cluster.
pub fn running_in<'a>(
    cluster: &'a Cluster,
    namespace: &'a str,
    name: &'a str,
    labels: Value,
    group: &'a str,
) -> Operator<'a> {
    let operator = Operator {
        cluster,
        namespace,
        name,
        labels,
        group,
        resources: json!(["*"]),
        verbs: json!(["*"]),
    };
    operator.install();
    operator.runs();
    operator
}

/// A condition as a controller writes it when it cannot do its work.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    let now = jiff::Timestamp::now();
    json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": format!("{now:.0}")})
}

/// Writes the status as a person does. These types have no status subresource.
#[track_caller]
pub fn status(target: &str, namespace: &str, status: &Value) {
    status_by("kubectl-patch", target, namespace, status);
}

/// Writes the status under the name of a controller.
#[track_caller]
pub fn status_by(manager: &str, target: &str, namespace: &str, status: &Value) {
    add_status(&WORLD, manager, target, namespace, status);
}

/// The same in another cluster.
#[track_caller]
pub fn add_status(cluster: &Cluster, manager: &str, target: &str, namespace: &str, status: &Value) {
    let place = format!("--namespace={namespace}");
    let words = [target, &place];
    let words = if namespace.is_empty() {
        &words[..1]
    } else {
        &words[..]
    };
    cluster.patch_by(manager, words.iter().copied(), &json!({"status": status}));
}
