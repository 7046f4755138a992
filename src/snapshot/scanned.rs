//! The result of one scan.

use jiff::Timestamp;

use super::{Gap, Namespaces, Tally};
use crate::object::ResourceType;

/// What one scan of a cluster, or of a set of files, found and did not find.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time on the server's clock. It makes ages right if the local clock is wrong.
    pub observed_at: Timestamp,
    /// The source: the server's address, or the files as named.
    pub source: String,
    /// The version of the API server, if anybody asked for it.
    pub server_version: Option<String>,
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
