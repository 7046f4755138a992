//! Objects that the API server can no longer read from its store: the key is lost, or the bytes are damaged.
//!
//! **Recognises** the server's words for it in what a list or the namespace controller was told. **Why:** one such
//! object fails the list of its type in its namespace, and the watch cache of the type in all of them, so that no
//! namespace at all is found empty. Source: `kubernetes/apiserver:pkg/storage/etcd3/store.go`,
//! `pkg/storage/etcd3/corrupt_obj_deleter.go`, `pkg/storage/cacher/`. **Wants** nothing more. **Concludes** `failing`,
//! and names the object where the words hold its key. **Advises** to bring the key back; the unsafe delete of KEP-3926
//! only for what is certainly lost; never to delete keys in etcd.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        model::{Blocker, Finding, Safety, Step, Verdict},
        view::View,
    },
    object::{ObjectRef, ResourceType},
};

/// The store could not decrypt or decode: without and with `AllowUnsafeMalformedObjectDeletion`.
const SIGNS: [&str; 5] = [
    "unable to transform key \"",
    "StorageError: corrupt object",
    "data from the storage is not transformable",
    "object not decodable",
    "failed to read one or more ",
];
const BODY: &str =
    r#"{"kind":"DeleteOptions","apiVersion":"v1","ignoreStoreReadErrorWithClusterBreakingPotential":true}"#;
/// Where the key in etcd is not the plural (`kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go`).
const KEYS: [(&str, &str); 3] = [
    ("controllers", "replicationcontrollers"),
    ("specs", "services"),
    ("ingress", "ingresses"),
];

/// Whether this text says that something in the store cannot be read.
pub(crate) fn is_told(text: &str) -> bool {
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// Says so, and what is to be done, once for all these texts.
pub(crate) fn add_unreadable_objects<'a>(
    finding: &mut Finding,
    texts: impl Iterator<Item = &'a str>,
    view: &View<'_>,
) {
    let texts: Vec<_> = texts.filter(|text| is_told(text)).collect();
    if texts.is_empty() {
        return;
    }
    finding.wait.verdict = Verdict::Failing;
    let found: BTreeSet<_> = texts.iter().flat_map(|text| keys(text)).collect();
    let objects: Vec<_> = found
        .into_iter()
        .filter_map(|key| Stored::of(key, view))
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
        when: "what to do",
        text: "if the encryption keys were changed: give the API server its old key (or KMS) again, as one more provider of \
               the EncryptionConfiguration, and restart it; then all can be read, and the deletion goes on by itself"
            .into(),
        command: objects.first().map(|object| {
            let ty = object.ty.name();
            format!("kubectl get {ty}{} -o name", object.place())
        }),
        safety: Safety::Safe,
    });
    for object in &objects {
        finding.steps.push(Step {
            when: "lost for good?",
            text: format!(
                "DATA LOSS, and whatever its finalizers protect is left behind: only if the key is certainly lost, or a \
                 backup of etcd has nothing better, delete {} unread (KEP-3926). It needs the feature gate \
                 AllowUnsafeMalformedObjectDeletion on the API server, without which it fails as before, and the verb \
                 unsafe-delete-ignore-read-errors",
                object.name
            ),
            command: Some(format!(
                "printf %s '{BODY}' | kubectl delete --raw {} -f -",
                object.path()
            )),
            safety: Safety::Destructive,
        });
    }
    finding.do_not.push(
        "delete the key in etcd by hand: nobody is told, caches keep the object, and a key that is found again is of no \
         use then (DATA LOSS)"
            .into(),
    );
}

/// Every key of etcd in a text: `key "/registry/…"` or `Key: /registry/…,`.
fn keys(text: &str) -> Vec<&str> {
    ["unable to transform key \"", "Key: "]
        .into_iter()
        .flat_map(|before| text.split(before).skip(1))
        .filter_map(|rest| rest.split(['"', ',', ' ']).next())
        .filter(|key| key.starts_with('/'))
        .collect()
}

/// An object by its key in etcd.
struct Stored<'a> {
    ty: &'a ResourceType,
    namespace: Option<&'a str>,
    name: &'a str,
}

impl<'a> Stored<'a> {
    /// None if the key is of no type that the server has, or of several, or is no name.
    fn of(key: &'a str, view: &View<'a>) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:/".contains(c);
        // A message that was cut short ends in dots.
        if !key.chars().all(plain) || key.ends_with("...") {
            return None;
        }
        let fits = |ty: &'a ResourceType| {
            let mut parts = key.rsplit('/');
            let name = parts.next()?;
            let namespace = if ty.namespaced { Some(parts.next()?) } else { None };
            let plural = parts.next()?;
            let plural = KEYS
                .iter()
                .find(|(key, _)| *key == plural)
                .map_or(plural, |(_, plural)| plural);
            // Custom resources have their group in the key, and most others have none.
            let exact = parts.next() == Some(&ty.group);
            (plural == ty.plural).then_some((exact, Stored { ty, namespace, name }))
        };
        let mut found: Vec<_> = view.types().iter().filter_map(fits).collect();
        if found.iter().any(|(exact, _)| *exact) {
            found.retain(|(exact, _)| *exact);
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

    fn place(&self) -> String {
        self.namespace
            .map(|name| format!(" -n {name}"))
            .unwrap_or_default()
    }

    fn path(&self) -> String {
        format!("{}/{}", self.ty.path(&self.ty.version, self.namespace), self.name)
    }
}
