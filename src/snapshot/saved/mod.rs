//! A snapshot in a file: what `scan` and `explain` read of a cluster, to be looked at later and elsewhere.
//!
//! What is kept is what was *read*, not what was concluded: answers, and the gaps where there was none, with the
//! server's time. So a replay is the same diagnosis of the same facts, and a later version of this program may say
//! more about an old file.
//!
//! The file is gzip over lines of JSON, each one record, so that it is written and read without holding it twice.
//! The last record counts those before it: a file without it was cut short. What is damaged on the way is found by
//! gzip's own checksum, and what was edited by hand has to be JSON that fits.

mod read;
mod record;
mod redact;
mod replay;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{read::Fault, write::Writer};
use super::{
    Gap, Namespaces, Seen, Strays, Why,
    facts::{Answer, Facts, Query, Resource},
    suspects::Suspects,
};
use crate::object::ResourceType;

/// What the first line says that the file is.
pub const FORMAT: &str = "kubectl-finalizers/snapshot";
/// The form of the records. Another number is for records that this program would misread, not for new ones: those
/// it refuses by their name.
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
    /// Whether names were replaced.
    pub redacted: bool,
    /// The address of the API server.
    pub source: String,
    /// The one namespace that was read; none for all.
    pub namespace: Option<String>,
    /// The namespace of objects that are named without one.
    pub default_namespace: String,
    /// When the scan was made, by the server's clock.
    pub observed_at: Timestamp,
    /// When the objects were looked at one by one, by the server's clock.
    pub looked_at: Timestamp,
    /// Whether the user stopped it before everything was read.
    pub interrupted: bool,
}

/// All that a snapshot file holds.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Where, when and by what it was taken.
    pub head: Head,
    /// The server's types, in its order.
    pub types: Vec<ResourceType>,
    /// What the server could not say of its types.
    pub type_gaps: Vec<Gap>,
    /// The types that the scan read, and how many objects of each.
    pub counts: Vec<Counted>,
    /// What the scan could not read.
    pub gaps: Vec<Gap>,
    /// What is worth knowing about how it was read.
    pub notes: Vec<String>,
    /// Every object that is being deleted or has a finalizer.
    pub kept: Vec<Seen>,
    /// What may have been left behind; none in files of a program that did not look for it.
    pub remains: Option<Remains>,
    /// What the diagnoses asked for, and what came of it.
    pub answers: BTreeMap<Query, Result<Answer, Why>>,
}

/// What may have been left behind though nobody is deleting it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Remains {
    /// Whether it was known which namespaces exist.
    pub namespaces: Namespaces,
    /// Types that could be listed only in namespaces that exist.
    pub only_within: Vec<String>,
    /// What is in namespaces that do not exist.
    pub strays: Strays,
    /// Volumes and attachments.
    pub suspects: Suspects,
}

/// How many objects of a type there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The type.
    pub ty: ResourceType,
    /// All objects of it.
    pub objects: u64,
    /// Those in each namespace.
    pub in_namespaces: BTreeMap<String, u64>,
}

impl Saved {
    /// The facts of a first look: the types, and nothing asked for yet.
    pub fn first_look(&self) -> Facts {
        Facts {
            now: self.head.looked_at,
            types: self.types.clone(),
            gaps: self.type_gaps.clone(),
            answers: BTreeMap::new(),
        }
    }

    /// What was answered when the snapshot was taken. What was not asked then is not known now.
    pub fn answer(&self, query: &Query) -> Option<&Result<Answer, Why>> {
        self.answers.get(query)
    }

    /// Namespace and name of those objects of a type that are in the file: not all that there were.
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

#[cfg(test)]
mod tests;
