//! Custom resources of real products. Types, finalizers and fields are those that the products' charts and
//! controllers write. A controller that must run has a Deployment, with the real controllers of Deployments
//! around it.

use serde_json::{Value, json};

use crate::{
    explain::{
        holder::{Operator, WORLD},
        told::{SOON, delete},
    },
    harness::wait,
};

/// Defines a namespaced type with one version and without a schema.
pub fn define(group: &str, version: &str, plural: &str, kind: &str) {
    define_in("Namespaced", group, version, plural, kind);
}

/// Defines such a type with scope `Namespaced` or `Cluster`.
pub fn define_in(scope: &str, group: &str, version: &str, plural: &str, kind: &str) {
    apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        // The API server requires this annotation for groups below k8s.io and kubernetes.io.
        "metadata": {"name": format!("{plural}.{group}"), "annotations": {"api-approved.kubernetes.io": "unapproved, as in the wild"}},
        "spec": {"group": group, "scope": scope,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    }));
    wait("the new type is served", SOON, || {
        let path = format!("/apis/{group}/{version}/{plural}");
        WORLD.kubectl(["get", "--raw", &path]).code == 0
    });
}

#[track_caller]
pub fn apply(object: &Value) {
    WORLD.apply(&object.to_string());
}

/// Creates an object and deletes it. Its deletion timestamp is set to `minutes` ago in etcd. Returns its
/// target, `TYPE.GROUP/NAME`.
#[track_caller]
pub fn going(plural: &str, object: &Value, minutes: i64) -> String {
    apply(object);
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let target = format!("{plural}.{group}/{name}");
    delete(&WORLD, &target, namespace);
    let place = if namespace.is_empty() {
        String::new()
    } else {
        format!("{namespace}/")
    };
    let key = format!("/registry/{group}/{plural}/{place}{name}");
    let stored = WORLD.etcdctl(["get", "--print-value-only", &key]).success();
    let mut stored: Value = serde_json::from_str(&stored).expect("custom objects are stored as JSON");
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
    stored["metadata"]["deletionTimestamp"] = then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    WORLD.etcdctl(["put", &key, &stored.to_string()]).success();
    target
}

/// A controller that runs and has all rights on the types of this group.
pub fn running(
    namespace: &'static str,
    name: &'static str,
    labels: Value,
    group: &'static str,
) -> Operator<'static> {
    let operator = Operator {
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
    let patch = json!({"status": status}).to_string();
    let (place, by) = (
        format!("--namespace={namespace}"),
        format!("--field-manager={manager}"),
    );
    WORLD
        .kubectl(["patch", target, &place, &by, "--type=merge", "--patch", &patch])
        .success();
}
