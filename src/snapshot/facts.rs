//! The facts of a diagnosis: what it has read of the objects that it asked for, and what it could not read.
//!
//! A diagnosis does no I/O. It returns [`Query`]s, the caller answers them, and the diagnosis runs again. A query
//! without an answer is neither empty nor a gap: it is not asked yet.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Why, field::field};
use crate::object::{Deletion, Finalizer, List, ObjectRef, ResourceType};

/// A type, by the two names that never change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// API group, empty for core.
    pub group: String,
    /// Plural.
    pub plural: String,
}

impl Resource {
    /// The type with this group and plural.
    pub fn new(group: &str, plural: &str) -> Self {
        Resource {
            group: group.to_owned(),
            plural: plural.to_owned(),
        }
    }

    /// The type with this `plural.group`, as [`Resource::name`] returns it.
    pub fn named(type_name: &str) -> Self {
        let (plural, group) = type_name.split_once('.').unwrap_or((type_name, ""));
        Resource::new(group, plural)
    }

    /// `plural.group`.
    pub fn name(&self) -> String {
        crate::object::join_group(&self.plural, &self.group)
    }
}

/// One query of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Query {
    /// One object.
    Object {
        /// Its type.
        resource: Resource,
        /// Its namespace, if it has one.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
    /// All whole objects of a type, in one namespace or everywhere.
    List {
        /// The type.
        resource: Resource,
        /// The namespace; none for everywhere.
        namespace: Option<String>,
    },
    /// The objects of a type with one name or with some labels. It answers like a list, at a lower cost.
    Search {
        /// The type.
        resource: Resource,
        /// The namespace; none for everywhere.
        namespace: Option<String>,
        /// Which objects of the type.
        by: By,
    },
    /// Events about one object. They expire after about an hour, so a missing event proves nothing.
    Events {
        /// Kind of the object.
        kind: String,
        /// Its namespace; events about cluster-scoped objects are kept in `default`.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
    /// The content of a namespace: metadata of everything that can be listed there.
    Content {
        /// The namespace.
        namespace: String,
    },
    /// Metadata of the objects that have owners, of every type except events.
    Owned(Where),
    /// The version of the API server. It ends with the platform that built it, such as `-eks-…`.
    Version,
}

impl Query {
    /// The query for one object.
    pub fn of(object: &ObjectRef) -> Self {
        Query::Object {
            resource: Resource::named(&object.type_name),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }
}

/// Where to search for dependents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Where {
    /// All objects with owners in a namespace. One list serves every owner in it.
    Namespace(String),
    /// The objects everywhere whose owner has this uid. All objects with owners would be too many.
    Owner(String),
}

/// Which objects of a type to search for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// `metadata.name`.
    Name(String),
    /// A label selector.
    Labels(String),
    /// The Pods on the node with this name.
    Node(String),
    /// Metadata of the objects with a finalizer. No selector can select by finalizer, and a type may have many objects.
    Held,
}

/// The answer to a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// The object; none if it does not exist.
    Object(Option<Box<Object>>),
    /// The objects.
    List(Vec<Object>),
    /// The content of a namespace.
    Content(Box<Content>),
    /// The objects with owners.
    Owned(Owned),
    /// The version, as in `gitVersion`.
    Version(String),
}

/// The objects with owners, as far as they could be listed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Owned {
    /// The objects, with only the metadata that identifies them, their finalizers and their owners.
    pub objects: Vec<Object>,
    /// What could not be listed.
    pub gaps: Vec<super::Gap>,
}

/// The content of a namespace, as far as it could be listed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Content {
    /// The number of objects by `plural.group`.
    pub counts: BTreeMap<String, u64>,
    /// The objects that have finalizers or are being deleted.
    pub kept: Vec<super::Seen>,
    /// What could not be listed.
    pub gaps: Vec<super::Gap>,
}

/// All answers so far.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The time on the server's clock.
    pub now: Timestamp,
    /// Whether names of objects are replaced, so that no other text has them.
    pub redacted: bool,
    /// The server's types.
    pub types: Vec<ResourceType>,
    /// Gaps of discovery.
    pub gaps: Vec<super::Gap>,
    /// The answer to each query, or why there is none.
    pub answers: BTreeMap<Query, Result<Answer, Why>>,
    /// About how many bytes a server sent for the answers.
    pub kept: usize,
}

impl Facts {
    /// The facts before the first query.
    #[must_use]
    pub fn unasked(&self) -> Facts {
        Facts {
            now: self.now,
            redacted: self.redacted,
            types: self.types.clone(),
            gaps: self.gaps.clone(),
            answers: BTreeMap::new(),
            kept: 0,
        }
    }

    /// The type, if the server has it.
    pub fn resource_type(&self, resource: &Resource) -> Option<&ResourceType> {
        self.types
            .iter()
            .find(|ty| ty.is(&resource.group, &resource.plural))
    }
}

/// One whole object, as the server sent it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Object {
    /// `plural.group` of its type.
    pub resource: Resource,
    /// Kind of its type.
    pub kind: String,
    /// `apiVersion` that it was read in.
    pub api_version: String,
    /// The object.
    pub value: Value,
}

impl From<&super::Seen> for Object {
    /// An object with the metadata that was read.
    fn from(seen: &super::Seen) -> Self {
        let names: Vec<&str> = seen.in_list(List::Metadata).collect();
        let mut metadata = serde_json::Map::new();
        let mut set = |field: &str, value: Value| metadata.insert(field.to_owned(), value);
        set("name", seen.object.name.as_str().into());
        set("uid", seen.object.uid.as_str().into());
        set("finalizers", names.into());
        if let Some(namespace) = &seen.object.namespace {
            set("namespace", namespace.as_str().into());
        }
        if let Some(deletion) = seen.deletion {
            set("deletionTimestamp", deletion.timestamp.to_string().into());
            set("deletionGracePeriodSeconds", deletion.grace_seconds.into());
        }
        Object {
            resource: Resource::named(&seen.object.type_name),
            kind: seen.object.kind.clone(),
            api_version: seen.object.api_version.clone(),
            value: serde_json::json!({ "metadata": metadata }),
        }
    }
}

impl Object {
    /// A part of it by JSON pointer.
    pub fn field(&self, pointer: &str) -> Option<&Value> {
        field(&self.value, pointer)
    }

    /// A string by JSON pointer; empty if it is missing or no string.
    pub fn text(&self, pointer: &str) -> &str {
        self.field(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number by JSON pointer.
    pub fn number(&self, pointer: &str) -> Option<i64> {
        self.field(pointer).and_then(Value::as_i64)
    }

    /// A time by JSON pointer.
    pub fn time(&self, pointer: &str) -> Option<Timestamp> {
        self.text(pointer).parse().ok()
    }

    /// The elements of an array by JSON pointer; none if there is no array.
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.field(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Its labels.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let labels = self.field("/metadata/labels").and_then(Value::as_object);
        labels
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    /// The keys of its annotations and labels.
    pub fn marks(&self) -> impl Iterator<Item = &str> {
        ["/metadata/annotations", "/metadata/labels"]
            .into_iter()
            .filter_map(|all| self.field(all)?.as_object())
            .flat_map(|all| all.keys().map(String::as_str))
    }

    /// An annotation; empty if it is missing.
    pub fn annotation(&self, name: &str) -> &str {
        self.some_annotation(name).unwrap_or_default()
    }

    /// Whether it has an annotation, which may be empty.
    pub fn has_annotation(&self, name: &str) -> bool {
        self.some_annotation(name).is_some()
    }

    /// Its annotations.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        let annotations = self.field("/metadata/annotations").and_then(Value::as_object);
        let all = annotations.into_iter().flatten();
        all.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    fn some_annotation(&self, name: &str) -> Option<&str> {
        let annotations = self.field("/metadata/annotations");
        annotations.and_then(|all| all.get(name)?.as_str())
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// `metadata.namespace`, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }

    /// `metadata.resourceVersion`; empty if only a part of the metadata was read.
    pub fn resource_version(&self) -> &str {
        self.text("/metadata/resourceVersion")
    }

    /// When it was made.
    pub fn created(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// Whether it is of this type.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.resource.group == group && self.resource.plural == plural
    }

    /// The deletion, if the object is being deleted.
    pub fn deletion(&self) -> Option<Deletion> {
        let timestamp = self.time("/metadata/deletionTimestamp")?;
        let grace_seconds = self
            .number("/metadata/deletionGracePeriodSeconds")
            .unwrap_or_default();
        Some(Deletion {
            timestamp,
            grace_seconds,
        })
    }

    /// All finalizers of both lists, `metadata` first.
    pub fn finalizers(&self) -> Vec<Finalizer> {
        let names = |pointer: &str| {
            self.list(pointer)
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let mut all: Vec<_> = names("/metadata/finalizers")
            .into_iter()
            .map(|name| Finalizer {
                list: List::Metadata,
                name,
            })
            .collect();
        if self.is("", "namespaces") {
            all.extend(names("/spec/finalizers").into_iter().map(|name| Finalizer {
                list: List::Spec,
                name,
            }));
        }
        all
    }

    /// Whether the object itself was read. Of an object that a scan only listed there is no more than metadata.
    pub fn was_read(&self) -> bool {
        self.value
            .as_object()
            .is_some_and(|fields| fields.keys().any(|key| key != "metadata"))
    }

    /// Whether it has a finalizer of this name, in any list.
    pub fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers().iter().any(|finalizer| finalizer.name == name)
    }

    /// A copy of it as it would be in this namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        let mut copy = self.clone();
        if let Some(field) = copy.value.pointer_mut("/metadata/namespace") {
            *field = namespace.into();
        }
        copy
    }

    /// Whether it is an event about an object with this kind and name.
    pub fn is_about(&self, kind: &str, name: &str) -> bool {
        self.text("/involvedObject/kind") == kind && self.text("/involvedObject/name") == name
    }

    /// Its conditions.
    pub fn conditions(&self) -> &[Value] {
        self.list("/status/conditions")
    }

    /// A condition: status, reason, message.
    pub fn condition(&self, kind: &str) -> Option<(&str, &str, &str)> {
        let found = self
            .conditions()
            .iter()
            .find(|c| c.get("type").and_then(Value::as_str) == Some(kind))?;
        let field = |name: &str| found.get(name).and_then(Value::as_str).unwrap_or_default();
        Some((field("status"), field("reason"), field("message")))
    }

    /// The references to its owners.
    pub fn owners(&self) -> &[Value] {
        self.list("/metadata/ownerReferences")
    }

    /// The owner that is its controller: kind and name.
    pub fn controller(&self) -> Option<(&str, &str)> {
        let owner = self
            .owners()
            .iter()
            .find(|o| o.get("controller") == Some(&Value::Bool(true)))?;
        let field = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        Some((field("kind"), field("name")))
    }

    /// The object with only the metadata that names it, its times, its owners and its finalizers.
    #[must_use]
    pub fn as_owned(&self) -> Object {
        const FIELDS: [&str; 8] = [
            "name",
            "namespace",
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "finalizers",
            "ownerReferences",
        ];
        let metadata: serde_json::Map<_, _> = FIELDS
            .iter()
            .filter_map(|field| {
                let value = self.field("/metadata")?.get(*field)?;
                Some(((*field).to_owned(), value.clone()))
            })
            .collect();
        Object {
            resource: self.resource.clone(),
            kind: self.kind.clone(),
            api_version: self.api_version.clone(),
            value: serde_json::json!({ "metadata": metadata }),
        }
    }

    /// Whether objects of this type can be dependents. The garbage collector ignores events
    /// (`kubernetes/kubernetes:pkg/controller/garbagecollector/graph_builder.go`).
    pub fn may_be_owned(ty: &ResourceType) -> bool {
        !(ty.plural == "events" && matches!(&*ty.group, "" | "events.k8s.io"))
    }

    /// Whether the object with this uid owns it.
    pub fn is_owned_by(&self, uid: &str) -> bool {
        let mut uids = self.owners().iter().map(|owner| owner.get("uid"));
        uids.any(|owner| owner.and_then(Value::as_str) == Some(uid))
    }

    /// The full reference to the object.
    pub fn reference(&self) -> ObjectRef {
        ObjectRef {
            type_name: self.resource.name(),
            kind: self.kind.clone(),
            api_version: self.api_version.clone(),
            namespace: Some(self.namespace().to_owned()).filter(|namespace| !namespace.is_empty()),
            name: self.name().to_owned(),
            uid: self.uid().to_owned(),
        }
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::core::v1 as core,
        apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time},
    };

    use super::*;

    fn object(value: impl Serialize) -> Object {
        Object {
            resource: Resource::new("", "pods"),
            kind: "Pod".into(),
            api_version: "v1".into(),
            value: serde_json::to_value(value).expect("an object as JSON"),
        }
    }

    #[test]
    fn metadata_of_an_object_is_read() {
        let created: Timestamp = "2026-01-01T10:00:00Z".parse().expect("a time");
        let pod = object(core::Pod {
            metadata: ObjectMeta {
                resource_version: Some("7".into()),
                creation_timestamp: Some(Time(created)),
                annotations: Some([("note".to_owned(), String::new())].into()),
                owner_references: Some(vec![OwnerReference {
                    uid: "u-1".into(),
                    ..Default::default()
                }]),
                ..Default::default()
            },
            ..Default::default()
        });
        assert_eq!(pod.resource_version(), "7");
        assert_eq!(pod.created(), Some(created));
        assert!(pod.has_annotation("note") && !pod.has_annotation("other"));
        assert_eq!(pod.owners().len(), 1);
        assert!(pod.is_owned_by("u-1") && !pod.is_owned_by("u-2"));
    }

    #[test]
    fn an_event_is_about_one_object() {
        let event = object(core::Event {
            involved_object: core::ObjectReference {
                kind: Some("Pod".into()),
                name: Some("web".into()),
                ..Default::default()
            },
            ..Default::default()
        });
        assert!(event.is_about("Pod", "web"));
        assert!(!event.is_about("Pod", "db") && !event.is_about("Job", "web"));
    }
}
