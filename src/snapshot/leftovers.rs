//! Objects in namespaces that do not exist, counted as they go by. There may be any number of them, so only the
//! first of each type are named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Seen, Why};
use crate::object::{ObjectRef, ResourceType};

/// Objects of a type and namespace that are named.
const NAMED: usize = 3;

/// Whether it is known which namespaces exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Namespaces {
    /// They were not among what was asked for, or only some of them were.
    #[default]
    NotAsked,
    /// They could not be listed.
    Unknown(Why),
    /// All of them are.
    Known,
}

/// Objects of one type in one namespace that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stray {
    /// How many.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// The first ones by name; a dump does not keep the names of what has nothing to say.
    pub first: Vec<ObjectRef>,
    /// One that is being deleted: what holds it can be told.
    pub held: Option<ObjectRef>,
}

/// Namespace → `plural.group` → objects there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strays(pub BTreeMap<String, BTreeMap<String, Stray>>);

impl Strays {
    pub(super) fn count(&mut self, namespace: &str, seen: &Seen) {
        let types = self.0.entry(namespace.to_owned()).or_default();
        let stray = types.entry(seen.object.type_name.clone()).or_default();
        stray.objects += 1;
        if seen.deletion.is_some() {
            stray.terminating += 1;
            stray.held.get_or_insert_with(|| seen.object.clone());
        }
        if stray.first.len() < NAMED && !seen.object.name.is_empty() {
            stray.first.push(seen.object.clone());
        }
    }

    /// How many there are of a type.
    pub(super) fn count_of(&self, namespace: &str, type_name: &str) -> u64 {
        let types = self.0.get(namespace);
        types
            .and_then(|types| types.get(type_name))
            .map_or(0, |stray| stray.objects)
    }

    /// Adds others without names.
    pub(super) fn add(&mut self, namespace: &str, type_name: &str, more: u64) {
        if let Some(stray) = self
            .0
            .get_mut(namespace)
            .and_then(|types| types.get_mut(type_name))
        {
            stray.objects += more;
        }
    }

    pub(super) fn absorb(&mut self, other: Strays) {
        for (namespace, types) in other.0 {
            let known = self.0.entry(namespace).or_default();
            for (name, more) in types {
                let stray = known.entry(name).or_default();
                stray.objects += more.objects;
                stray.terminating += more.terminating;
                stray.first.extend(more.first);
                stray.first.truncate(NAMED);
                stray.held = stray.held.take().or(more.held);
            }
        }
    }
}

/// What is worth knowing when the namespace that was asked for does not exist.
pub fn missing_namespace(name: &str, objects: u64) -> String {
    if objects == 0 {
        format!("there is no namespace {name}, and nothing was found in it; is the name right?")
    } else {
        format!("namespace {name} does not exist; the objects found in it were left behind when it went")
    }
}

/// Whether objects of this type go by themselves: events are stored with a time to live
/// (`kubernetes/kubernetes:pkg/registry/core/event/storage/storage.go`).
pub(super) fn expires(ty: &ResourceType) -> bool {
    ty.is("", "events") || ty.is("events.k8s.io", "events")
}
