//! A snapshot: what was read, when, and what could not be read. It is a plain value, from a server or from files.
//!
//! A scan does not hold a large cluster in memory. It counts each object as it reads it:
//! * an object with neither finalizer nor deletion mark is only counted;
//! * an object with a finalizer is counted by finalizer;
//! * only objects that are printed are kept.

pub mod confidential;
pub mod crowd;
pub mod driver;
pub mod facts;
pub mod filter;
pub mod gap;
pub mod glob;
pub mod json;
pub mod leftovers;
#[allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a parser that borrows; tests give it any bytes, and no verb that writes reads files"
)]
pub mod load;
#[allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "it walks its own records; tests give it any bytes, and no verb that writes reads files"
)]
pub mod saved;
pub mod select;
pub mod selector;
pub mod storage;
pub mod storage_leftovers;
pub mod tally;
pub mod usage;

use std::{collections::BTreeMap, mem};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    crowd::{Crowd, CrowdKey, Crowds},
    filter::{Filter, Item, NamespaceOnly},
    gap::{Gap, What, Why},
    leftovers::{LeftoverCount, NamespaceLeftovers, Namespaces},
    storage::Storage,
    tally::{Keep, Room, Tally},
    usage::{OnType, Usage},
};
use crate::object::{Deletion, Finalizer, List, ObjectRef, ResourceType};

/// What one scan of a cluster, or of a set of files, found and did not find.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time on the server's clock. It makes ages right if the local clock is wrong.
    pub observed_at: Timestamp,
    /// The source: the server's address, or the files as named.
    pub source: String,
    /// Every type that was read, with its object count.
    pub types: Vec<TypeRead>,
    /// What was counted.
    pub tally: Tally,
    /// Whether every Namespace is known. Without that, no object counts as leftover in a missing namespace.
    pub namespaces: Namespaces,
    /// Types that the user may list only namespace by namespace. They are unknown outside the namespaces that exist.
    pub only_within: Vec<String>,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// Notes on how it was read. Nothing is missing because of them.
    pub notes: Vec<String>,
    /// Whether the user stopped the scan.
    pub interrupted: bool,
}

/// One type that was read.
#[derive(Clone, Debug)]
pub struct TypeRead {
    /// The type.
    pub ty: ResourceType,
    /// How many objects of this type were read.
    pub objects: u64,
}

/// The metadata of one object, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seen {
    /// Which object.
    pub object: ObjectRef,
    /// The creation time, if the source has it.
    pub created: Option<Timestamp>,
    /// The deletion, if the object is being deleted.
    pub deletion: Option<Deletion>,
    /// Both lists of finalizers, in the object's own order, `metadata` first.
    pub finalizers: Vec<Finalizer>,
    /// The conditions of a Namespace. Empty for every other type: their status is not read.
    pub conditions: Vec<Condition>,
    /// The CSI driver that the object belongs to, if it names one and the scan reads that.
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
    /// `message`, verbatim, because people search for it.
    pub message: String,
    /// `lastTransitionTime`.
    pub since: Option<Timestamp>,
}

impl Seen {
    /// About how many bytes it holds.
    fn size(&self) -> usize {
        let condition = |one: &Condition| one.reason.len() + one.message.len();
        mem::size_of::<Self>()
            + self.object.name.len()
            + self.object.uid.len()
            + self.object.namespace.as_ref().map_or(0, String::len)
            + self.driver.as_ref().map_or(0, String::len)
            + self.conditions.iter().map(condition).sum::<usize>()
            + self
                .finalizers
                .iter()
                .map(|finalizer| mem::size_of::<Finalizer>() + finalizer.name.len())
                .sum::<usize>()
    }

    /// The finalizers in one of the two lists.
    pub fn in_list(&self, list: List) -> impl Iterator<Item = &str> {
        self.finalizers
            .iter()
            .filter(move |finalizer| finalizer.list == list)
            .map(|finalizer| finalizer.name.as_str())
    }
}

/// The remaining content of each namespace that is being deleted: namespace → type → objects. The scan lists it itself.
/// The namespace's conditions may say that all content is gone while it is not
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`, 1.33 and later).
pub type RemainingContent = BTreeMap<String, BTreeMap<String, u64>>;
