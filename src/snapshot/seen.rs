//! The metadata of one object that a scan keeps.

use std::mem;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::object::{Deletion, Finalizer, List, ObjectRef};

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
    pub(super) fn size(&self) -> usize {
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
