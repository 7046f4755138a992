//! The API server can no longer read an object from etcd: the encryption key is lost, or the bytes are damaged.
//!
//! # Symptom
//!
//! A list fails with `unable to transform key`, `no matching prefix found` or `failed to decrypt`. Namespaces stay
//! `Terminating` with this message in a condition.
//!
//! ```text
//! $ kubectl finalizers explain ns/vault --from tests/causes/api_machinery.yaml
//! ```
//!
//! # Why
//!
//! One such object fails the list of its type in its namespace. It also fails the watch cache of the type in all
//! namespaces. So no namespace at all is found empty.
//!
//! # Before you act
//!
//! Find out whether the encryption keys were changed, and look for the old key in backups of the control plane.
//!
//! # If it was a mistake
//!
//! With the old key the object can be read again. Do not delete anything before you have looked for it.
//!
//! # If it was intended
//!
//! Give the API server its old key as one more provider of the EncryptionConfiguration, and restart it. Only for what
//! is certainly lost: the unsafe delete of KEP-3926 (kubectl has no flag for it).
//!
//! # Do not
//!
//! Do not delete keys in etcd by hand. Caches keep the object, and a key that is found later is of no use then.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the object cannot be read; it is named if the message contains its key |
//!
//! # What it reads
//!
//! Nothing more than the messages of the server.
//!
//! # Sources
//!
//! - `kubernetes/apiserver:pkg/storage/etcd3/store.go`
//! - `kubernetes/apiserver:pkg/storage/etcd3/corrupt_obj_deleter.go`
//! - `kubernetes/apiserver:pkg/storage/cacher/`

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        model::{Blocker, Finding, Page, Safety, Step, Verdict, When},
        view::View,
    },
    object::{ObjectRef, ResourceType},
};

/// The messages for an object that cannot be decrypted or decoded, without and with the feature gate
/// `AllowUnsafeMalformedObjectDeletion`.
const MESSAGES: [&str; 5] = [
    "unable to transform key \"",
    "StorageError: corrupt object",
    "data from the storage is not transformable",
    "object not decodable",
    "failed to read one or more ",
];
const UNSAFE_DELETE: &str =
    r#"{"kind":"DeleteOptions","apiVersion":"v1","ignoreStoreReadErrorWithClusterBreakingPotential":true}"#;
/// The types whose key in etcd does not contain the plural
/// (`kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go`).
const PLURAL_OF_KEY: [(&str, &str); 3] = [
    ("controllers", "replicationcontrollers"),
    ("specs", "services"),
    ("ingress", "ingresses"),
];

/// Whether this message reports an object in etcd that cannot be read.
pub(crate) fn is_reported(message: &str) -> bool {
    MESSAGES.iter().any(|sign| message.contains(sign))
}

/// Adds the unreadable objects of these messages, and the steps that repair them, each once.
pub(crate) fn add_unreadable_objects<'a>(
    finding: &mut Finding,
    messages: impl Iterator<Item = &'a str>,
    view: &View<'_>,
) {
    let messages: Vec<_> = messages.filter(|message| is_reported(message)).collect();
    if messages.is_empty() {
        return;
    }
    finding.tell_of(Page::of(module_path!()));
    finding.wait.verdict = Verdict::Failing;
    let found: BTreeSet<_> = messages.iter().flat_map(|message| etcd_keys(message)).collect();
    let objects: Vec<_> = found
        .into_iter()
        .filter_map(|key| StoredObject::of(key, view))
        .collect();
    let says = "the API server cannot read it from its store, and one such object fails the lists of its type, which stops the \
                deletion of every namespace";
    for object in &objects {
        finding.wait.on.push(Blocker::new(Some(object.reference()), says));
    }
    if objects.is_empty() {
        finding.wait.on.push(Blocker::new(
            None,
            "the API server cannot read an object from its store (which one is not known here, but its log names it), and one \
             such object stops the deletion of every namespace",
        ));
    }
    finding.steps.push(Step {
        when: When::Now,
        text: "see whether the encryption keys were changed. Once the API server has its old key (or KMS) again, as one more \
               provider of the EncryptionConfiguration, all can be read, and the deletion goes on"
            .into(),
        command: objects.first().map(|object| {
            let ty = object.ty.name();
            Command::of(
                "kubectl get {} -n {} -o name",
                [&ty, object.namespace.unwrap_or_default()],
            )
        }),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    for object in &objects {
        finding.steps.push(Step {
            when: When::LostForGood,
            text: format!(
                "DATA LOSS, and whatever its finalizers protect is left behind: only if the key is certainly lost, or a \
                 backup of etcd has nothing better, delete {} unread (KEP-3926). It needs the feature gate \
                 AllowUnsafeMalformedObjectDeletion on the API server, without which it fails as before, and the verb \
                 unsafe-delete-ignore-read-errors",
                object.name
            ),
            command: Some(Command::of(
                "printf %s {} | kubectl delete --raw {} -f -",
                [UNSAFE_DELETE, &object.path()],
            )),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        });
    }
    finding.do_not.push(
        "delete the key in etcd by hand: nobody is told, caches keep the object, and a key that is found again is of no \
         use then (DATA LOSS)"
            .into(),
    );
}

/// Every key of etcd in a message: `key "/registry/…"` or `Key: /registry/…,`.
fn etcd_keys(message: &str) -> Vec<&str> {
    ["unable to transform key \"", "Key: "]
        .into_iter()
        .flat_map(|before| message.split(before).skip(1))
        .filter_map(|rest| rest.split(['"', ',', ' ']).next())
        .filter(|key| key.starts_with('/'))
        .collect()
}

/// An object that is known by its key in etcd.
struct StoredObject<'a> {
    ty: &'a ResourceType,
    namespace: Option<&'a str>,
    name: &'a str,
}

impl<'a> StoredObject<'a> {
    /// None if the key fits no type of the server or several types, or if it is not a name.
    fn of(key: &'a str, view: &View<'a>) -> Option<Self> {
        let is_name_character = |c: char| c.is_ascii_alphanumeric() || "-._:/".contains(c);
        // A message that was cut short ends with dots.
        if !key.chars().all(is_name_character) || key.ends_with("...") {
            return None;
        }
        let by_type = |ty: &'a ResourceType| {
            let mut parts = key.rsplit('/');
            let name = parts.next()?;
            let namespace = if ty.namespaced { Some(parts.next()?) } else { None };
            let plural = parts.next()?;
            let plural = PLURAL_OF_KEY
                .iter()
                .find(|(key, _)| *key == plural)
                .map_or(plural, |(_, plural)| plural);
            // The key of a custom resource contains its group. The keys of most other types do not.
            let has_group = parts.next() == Some(&ty.group);
            (plural == ty.plural).then_some((has_group, StoredObject { ty, namespace, name }))
        };
        let mut found: Vec<_> = view.types().iter().filter_map(by_type).collect();
        if found.iter().any(|(has_group, _)| *has_group) {
            found.retain(|(has_group, _)| *has_group);
        }
        match found.pop() {
            Some((_, stored)) if found.is_empty() => Some(stored),
            _ => None,
        }
    }

    fn reference(&self) -> ObjectRef {
        ObjectRef {
            type_name: self.ty.name(),
            kind: self.ty.kind.clone(),
            api_version: self.ty.api_version(),
            namespace: self.namespace.map(str::to_owned),
            name: self.name.to_owned(),
            uid: String::new(),
        }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.ty.path(&self.ty.version, self.namespace), self.name)
    }
}
