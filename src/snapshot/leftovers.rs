//! Leftover objects: objects in namespaces that do not exist. A scan counts them as it reads. There may be many, so it
//! names only the first of each type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Seen, Why};
use crate::object::{ObjectRef, ResourceType};

/// How many objects of one type and namespace are named.
const MAX_NAMED: usize = 3;

/// Whether it is known which namespaces exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Namespaces {
    /// The scan did not read Namespaces, or only some of them.
    #[default]
    NotAsked,
    /// Namespaces could not be listed.
    Unknown(Why),
    /// Every Namespace is known.
    Known,
}

/// Objects of one type in one namespace that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftoverCount {
    /// How many objects.
    pub objects: u64,
    /// How many of them are being deleted.
    pub terminating: u64,
    /// The first objects. A dump does not keep the names of objects without finalizers and deletion mark, so they are
    /// missing here.
    pub first: Vec<ObjectRef>,
    /// One object that is being deleted, to explain what blocks it.
    pub held: Option<ObjectRef>,
}

/// The leftover objects: namespace → `plural.group` → objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceLeftovers(pub BTreeMap<String, BTreeMap<String, LeftoverCount>>);

impl NamespaceLeftovers {
    pub(super) fn count(&mut self, namespace: &str, seen: &Seen) {
        let types = self.0.entry(namespace.to_owned()).or_default();
        let leftovers = types.entry(seen.object.type_name.clone()).or_default();
        leftovers.objects += 1;
        if seen.deletion.is_some() {
            leftovers.terminating += 1;
            leftovers.held.get_or_insert_with(|| seen.object.clone());
        }
        if leftovers.first.len() < MAX_NAMED && !seen.object.name.is_empty() {
            leftovers.first.push(seen.object.clone());
        }
    }

    /// How many leftover objects of a type a namespace has.
    pub(super) fn count_of(&self, namespace: &str, type_name: &str) -> u64 {
        let types = self.0.get(namespace);
        types
            .and_then(|types| types.get(type_name))
            .map_or(0, |leftovers| leftovers.objects)
    }

    /// Adds objects whose names are not known.
    pub(super) fn add(&mut self, namespace: &str, type_name: &str, more: u64) {
        if let Some(leftovers) = self
            .0
            .get_mut(namespace)
            .and_then(|types| types.get_mut(type_name))
        {
            leftovers.objects += more;
        }
    }

    pub(super) fn absorb(&mut self, other: NamespaceLeftovers) {
        for (namespace, types) in other.0 {
            let known = self.0.entry(namespace).or_default();
            for (name, more) in types {
                let leftovers = known.entry(name).or_default();
                leftovers.objects += more.objects;
                leftovers.terminating += more.terminating;
                leftovers.first.extend(more.first);
                leftovers.first.truncate(MAX_NAMED);
                leftovers.held = leftovers.held.take().or(more.held);
            }
        }
    }
}

/// The note for a scan of a namespace that does not exist.
pub fn missing_namespace_note(name: &str, objects: u64) -> String {
    if objects == 0 {
        format!("there is no namespace {name}, and nothing was found in it; is the name right?")
    } else {
        format!("namespace {name} does not exist; the objects found in it were left behind when it went")
    }
}

/// Whether objects of this type expire: events are stored with a time to live
/// (`kubernetes/kubernetes:pkg/registry/core/event/storage/storage.go`).
pub(super) fn expires(ty: &ResourceType) -> bool {
    ty.is("", "events") || ty.is("events.k8s.io", "events")
}
