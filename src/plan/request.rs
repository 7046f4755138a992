//! The exact request: what is dry-run, shown, confirmed and sent.

use serde::Serialize;
use serde_json::{Value, json};

use super::RETAIN;
use crate::{
    characters::is_unclear_in_a_command,
    command::Command,
    object::{Finalizer, ObjectRef, escape},
    snapshot::facts::Object,
};

/// The name of the writer, in `metadata.managedFields` and in the audit log of the API server.
pub const FIELD_MANAGER: &str = "kubectl-finalizers";

const RECLAIM_POLICY: &str = "/spec/persistentVolumeReclaimPolicy";

/// One write to the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// `PATCH`, `PUT` or `POST`.
    pub method: &'static str,
    /// The path without parameters.
    pub path: String,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Value,
}

impl Request {
    /// Removes one entry from `metadata.finalizers`. The tests require the same object, the same version, and
    /// the entry in the same place. The version alone is enough for the API server. The other tests are for
    /// readers of the request, and for a proxy that loses the version.
    pub(super) fn remove_entry(object: &Object, index: usize, name: &str) -> Self {
        let path = format!("/metadata/finalizers/{index}");
        let mut operations = unchanged(object);
        operations.push(json!({"op": "test", "path": path, "value": name}));
        operations.push(json!({"op": "remove", "path": path}));
        Request::patch(object, operations)
    }

    /// Sets an annotation, with the same tests.
    pub(super) fn annotate(object: &Object, name: &str, value: &str) -> Self {
        let mut operations = unchanged(object);
        if object
            .value
            .pointer("/metadata/annotations")
            .is_none_or(Value::is_null)
        {
            operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": {}}));
        }
        // The two characters that mean something in a JSON pointer (RFC 6901).
        let key = name.replace('~', "~0").replace('/', "~1");
        operations.push(json!({"op": "add", "path": format!("/metadata/annotations/{key}"), "value": value}));
        Request::patch(object, operations)
    }

    /// Sets the reclaim policy of a volume to Retain, with the same tests, and only while the policy is still the one
    /// that was shown.
    pub(super) fn set_retain(volume: &Object) -> Self {
        Request::set_policy(volume, RETAIN)
    }

    /// Sets the reclaim policy of a volume in the same way.
    pub(super) fn set_policy(volume: &Object, policy: &str) -> Self {
        let mut operations = unchanged(volume);
        operations.push(json!({"op": "test", "path": RECLAIM_POLICY, "value": volume.text(RECLAIM_POLICY)}));
        operations.push(json!({"op": "replace", "path": RECLAIM_POLICY, "value": policy}));
        Request::patch(volume, operations)
    }

    /// Lets a volume name the claim with this uid, with the same tests. Its name and namespace stay.
    pub(super) fn set_claim(volume: &Object, uid: &str) -> Self {
        const CLAIM: &str = "/spec/claimRef/uid";
        let mut operations = unchanged(volume);
        operations.push(json!({"op": "test", "path": CLAIM, "value": volume.text(CLAIM)}));
        operations.push(json!({"op": "replace", "path": CLAIM, "value": uid}));
        Request::patch(volume, operations)
    }

    /// Removes all finalizers of a volume in one step, with the same tests, and only if they and the policy are as they
    /// were read.
    pub(super) fn let_go(volume: &Object, policy: &str) -> Self {
        const FINALIZERS: &str = "/metadata/finalizers";
        let mut operations = unchanged(volume);
        operations.push(json!({"op": "test", "path": RECLAIM_POLICY, "value": policy}));
        let names = volume.list(FINALIZERS);
        operations.push(json!({"op": "test", "path": FINALIZERS, "value": names}));
        operations.push(json!({"op": "remove", "path": FINALIZERS}));
        Request::patch(volume, operations)
    }

    /// Makes an object of the same type, and in the same namespace.
    pub(super) fn create(like: &Object, body: Value) -> Self {
        Request {
            method: "POST",
            path: collection(like),
            content_type: "application/json",
            body,
        }
    }

    /// Removes one entry from a Namespace's `spec.finalizers`, the first one of that name. The API server checks uid and
    /// version of the body (`kubernetes/kubernetes:pkg/registry/core/namespace/storage/storage.go`).
    pub(super) fn finalize(namespace: &Object, finalizer: &Finalizer) -> Self {
        let mut body = namespace.value.clone();
        if let Some(Value::Array(names)) = body.pointer_mut("/spec/finalizers")
            && let Some(first) = names.iter().position(|one| one.as_str() == Some(&finalizer.name))
        {
            names.remove(first);
        }
        Request {
            method: "PUT",
            path: format!("{}/finalize", path(namespace)),
            content_type: "application/json",
            body,
        }
    }

    fn patch(object: &Object, operations: Vec<Value>) -> Self {
        Request {
            method: "PATCH",
            path: path(object),
            content_type: "application/json-patch+json",
            body: operations.into(),
        }
    }

    /// Whether it makes a new object.
    pub fn makes_an_object(&self) -> bool {
        self.method == "POST"
    }

    /// The object that it makes, with this name if the server chose one. None if it makes none, or if nobody knows its name.
    pub fn made(&self, name: Option<&str>) -> Option<ObjectRef> {
        let text = |pointer: &str| self.body.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name")
            .or(name)
            .filter(|_| self.makes_an_object())?;
        // Only types of the core group are made, and those have their plural as their name.
        let (_, plural) = self.path.rsplit_once('/')?;
        Some(ObjectRef {
            type_name: plural.to_owned(),
            kind: text("/kind")?.to_owned(),
            api_version: text("/apiVersion")?.to_owned(),
            namespace: text("/metadata/namespace").map(str::to_owned),
            name: name.to_owned(),
            uid: String::new(),
        })
    }

    /// Whether an object is as this update would leave it. An object in deletion that lost its finalizers is gone.
    pub fn is_done_in(&self, now: Option<&Object>) -> bool {
        let operations = self.body.as_array().into_iter().flatten();
        let text =
            |operation: &Value, field: &str| operation.get(field).and_then(Value::as_str).map(str::to_owned);
        operations.into_iter().all(|operation| {
            let found = now.and_then(|now| now.value.pointer(&text(operation, "path")?));
            match text(operation, "op").as_deref() {
                Some("test") => true,
                Some("remove") => found.is_none(),
                _ => found.is_some() && found == operation.get("value"),
            }
        })
    }

    /// The path with its parameters.
    pub fn uri(&self, dry_run: bool) -> String {
        let dry_run = if dry_run { "&dryRun=All" } else { "" };
        format!("{}?fieldManager={FIELD_MANAGER}{dry_run}", self.path)
    }

    /// The request as a kubectl command, to read it, and to run it by hand if needed.
    pub fn as_kubectl(&self, object: &Object) -> Command {
        let body = visible(&self.body);
        if self.makes_an_object() {
            return Command::of("printf %s {} | kubectl create -f -", [&body]);
        }
        if self.method == "PUT" {
            return Command::of(
                "printf %s {} | kubectl replace --raw {} -f -",
                [&body, &self.path],
            );
        }
        Command::of(
            "kubectl -n {} patch {} {} --field-manager={} --type=json -p {}",
            [
                object.namespace(),
                &object.resource.name(),
                object.name(),
                FIELD_MANAGER,
                &body,
            ],
        )
    }
}

/// The JSON text, with escapes for characters that nobody sees. A command with such characters is not shown.
fn visible(body: &Value) -> String {
    let mut text = String::new();
    for c in body.to_string().chars() {
        if is_unclear_in_a_command(c) {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            text.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// Tests that it is the same object in the same version.
fn unchanged(object: &Object) -> Vec<Value> {
    let fields = [
        ("/metadata/uid", object.uid()),
        ("/metadata/resourceVersion", object.resource_version()),
    ];
    fields
        .iter()
        .map(|(path, value)| json!({"op": "test", "path": path, "value": value}))
        .collect()
}

fn path(object: &Object) -> String {
    let mut path = collection(object);
    path.push('/');
    escape(object.name(), &mut path);
    path
}

/// The path of all objects of its type, in its namespace.
fn collection(object: &Object) -> String {
    let mut path = if object.resource.group.is_empty() {
        "/api/".to_owned()
    } else {
        "/apis/".to_owned()
    };
    path.push_str(&object.api_version);
    if !object.namespace().is_empty() {
        path.push_str("/namespaces/");
        escape(object.namespace(), &mut path);
    }
    path.extend(["/", &object.resource.plural]);
    path
}
