//! The content of a snapshot file.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    object::ResourceType,
    snapshot::{
        Gap, NamespaceLeftovers, Namespaces, Seen, Why,
        facts::{Answer, Facts, Object, Query, Resource},
        storage_leftovers::StorageLeftovers,
    },
};

/// The format name in the first line.
pub const FORMAT: &str = "kubectl-finalizers/snapshot";
/// The version of the records. It changes when an older program would misread them. New kinds of records keep it: an
/// older program rejects those by name.
pub const VERSION: u32 = 1;

/// The first record: where, when, and by what a snapshot was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// Whether names are redacted.
    pub redacted: bool,
    /// The address of the API server.
    pub source: String,
    /// The only namespace that was read; none for all.
    pub namespace: Option<String>,
    /// The namespace for objects that the user names without one.
    pub default_namespace: String,
    /// The time of the scan, on the server's clock.
    pub observed_at: Timestamp,
    /// The time at which single objects were read, on the server's clock.
    pub looked_at: Timestamp,
    /// Whether the user stopped the scan early.
    pub interrupted: bool,
}

/// The content of a snapshot file.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The first record.
    pub head: Head,
    /// The server's types, in its order.
    pub types: Vec<ResourceType>,
    /// Types that the server could not list.
    pub type_gaps: Vec<Gap>,
    /// The types that the scan read, with their object counts.
    pub counts: Vec<Counted>,
    /// What the scan could not read.
    pub gaps: Vec<Gap>,
    /// Notes on how it was read.
    pub notes: Vec<String>,
    /// Every object that is being deleted or has a finalizer.
    pub kept: Vec<Seen>,
    /// Leftover objects; none in files of versions that did not search for them.
    pub leftovers: Option<Leftovers>,
    /// The queries of the diagnoses, with their answers.
    pub answers: BTreeMap<Query, Result<Answer, Why>>,
}

/// Objects that look leftover though nobody deletes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Leftovers {
    /// Whether every Namespace was known.
    pub namespaces: Namespaces,
    /// Types that could be listed only in the namespaces that exist.
    pub only_within: Vec<String>,
    /// Objects in namespaces that do not exist.
    #[serde(rename = "strays")]
    pub in_namespaces: NamespaceLeftovers,
    /// Leftover volumes and attachments.
    #[serde(rename = "suspects")]
    pub storage: StorageLeftovers,
}

/// The object count of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The type.
    pub ty: ResourceType,
    /// Objects in the whole cluster.
    pub objects: u64,
    /// Objects in each namespace.
    pub in_namespaces: BTreeMap<String, u64>,
}

impl Saved {
    /// The version of the API server, if anybody asked for it.
    pub fn server_version(&self) -> Option<String> {
        match self.answer(&Query::Version) {
            Some(Ok(Answer::Version(version))) => Some(version.clone()),
            _ => None,
        }
    }

    /// An object that nobody asked for by its name, from a list that has it.
    pub fn listed(&self, query: &Query) -> Option<&Object> {
        let Query::Object {
            resource,
            namespace,
            name,
        } = query
        else {
            return None;
        };
        let is_it = |object: &&Object| {
            object.name() == name && object.namespace() == namespace.as_deref().unwrap_or_default()
        };
        self.answers
            .iter()
            .find_map(|(asked, answer)| match (asked, answer) {
                (Query::List { resource: of, .. }, Ok(Answer::List(all))) if of == resource => {
                    all.iter().find(is_it)
                }
                _ => None,
            })
    }

    /// The facts before the first query: the types and their gaps.
    pub fn initial_facts(&self) -> Facts {
        Facts {
            now: self.head.looked_at,
            redacted: self.head.redacted,
            types: self.types.clone(),
            gaps: self.type_gaps.clone(),
            answers: BTreeMap::new(),
            kept: 0,
        }
    }

    /// The answer at the time of the snapshot; none if the query was not asked then.
    pub fn answer(&self, query: &Query) -> Option<&Result<Answer, Why>> {
        self.answers.get(query)
    }

    /// Namespace and name of the objects of a type in this file. The cluster may have had more.
    pub fn names(&self, resource: &Resource) -> Vec<(String, String)> {
        let type_name = resource.name();
        let kept = self.kept.iter().map(|seen| &seen.object);
        let kept = kept
            .filter(|object| object.type_name == type_name)
            .map(|object| (object.namespace.clone().unwrap_or_default(), object.name.clone()));
        let asked = self
            .answers
            .iter()
            .filter_map(|(query, answer)| match (query, answer) {
                (Query::Object { resource: of, .. }, Ok(Answer::Object(Some(object)))) if of == resource => {
                    Some((object.namespace().to_owned(), object.name().to_owned()))
                }
                _ => None,
            });
        kept.chain(asked).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
