//! What was seen, when, and what was not. A value, whether it came from a server or from files.
//!
//! A scan of a large cluster must not hold the cluster: each object is *noted* as it goes by. What carries
//! neither a deletion mark nor a finalizer is only counted, what carries only a finalizer is counted by
//! finalizer, and only what will be printed is kept.

pub mod crowd;
pub mod driver;
pub mod facts;
pub mod filter;
pub mod gap;
pub mod glob;
pub mod json;
pub mod load;
pub mod saved;
pub mod select;
pub mod selector;
pub mod storage;
pub mod stray;
pub mod suspects;
pub mod tally;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    crowd::{Alike, Crowd, Crowds},
    filter::{Filter, Item, NamespaceOnly},
    gap::{Gap, What, Why},
    storage::Storage,
    stray::{Namespaces, Stray, Strays},
    tally::{Keep, OnType, Tally, Usage},
};
use crate::object::{Deletion, Finalizer, List, ObjectRef, ResourceType};

/// What one reading of a cluster, or of a set of files, found and did not find.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time by the server's clock, so that ages are right on a laptop whose clock is not.
    pub observed_at: Timestamp,
    /// Where it was read: the server's address, or the files as named.
    pub source: String,
    /// Every type that was asked for, with what came of it.
    pub types: Vec<TypeRead>,
    /// Everything noted on the way.
    pub tally: Tally,
    /// Whether it is known which namespaces exist, without which no object is known to be left behind in one that
    /// does not.
    pub namespaces: Namespaces,
    /// Types that may be listed only namespace by namespace, and so were not looked for outside of those that exist.
    pub only_within: Vec<String>,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// What is worth knowing about how it was read, though nothing is missing for it.
    pub notes: Vec<String>,
    /// Whether it was cut short by the user.
    pub interrupted: bool,
}

/// One type that was read.
#[derive(Clone, Debug)]
pub struct TypeRead {
    /// The type.
    pub ty: ResourceType,
    /// How many objects of it went by.
    pub objects: u64,
}

/// The metadata of one object that is worth keeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seen {
    /// Which object.
    pub object: ObjectRef,
    /// When it was created, if the source says.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub deletion: Option<Deletion>,
    /// Both lists of finalizers, in the object's own order, `metadata` first.
    pub finalizers: Vec<Finalizer>,
    /// A Namespace's conditions; empty for every other type, whose status is never asked for.
    pub conditions: Vec<Condition>,
    /// The CSI driver that it belongs to, if it says so and somebody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// One entry of `status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    /// `type`.
    pub kind: String,
    /// `status`: `True`, `False` or `Unknown`.
    pub status: String,
    /// `reason`.
    pub reason: String,
    /// `message`, literally, because people search for it.
    pub message: String,
    /// `lastTransitionTime`.
    pub since: Option<Timestamp>,
}

impl Seen {
    /// Its finalizers in one of the lists.
    pub fn in_list(&self, list: List) -> impl Iterator<Item = &str> {
        self.finalizers
            .iter()
            .filter(move |finalizer| finalizer.list == list)
            .map(|finalizer| finalizer.name.as_str())
    }
}

/// What is left in each namespace that is being deleted: namespace → type → objects. Listed by us, because
/// the namespace's own conditions can say that all is gone while it is not
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`, 1.33 and later).
pub type Left = BTreeMap<String, BTreeMap<String, u64>>;
