//! The part of a dump or a snapshot file that the user asks for.

use jiff::Timestamp;

use super::Filter;

/// The objects to load.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// One namespace; none for all namespaces and cluster-scoped objects.
    pub namespace: Option<&'a str>,
    /// The types, as the user typed them; empty for all.
    pub types: &'a [String],
    /// The types to leave out, as the user typed them.
    pub exclude: &'a [String],
    /// Keep every object with a finalizer, not only objects that are being deleted.
    pub all: bool,
    /// Whether the result is grouped by controller.
    pub by_holder: bool,
    /// Which objects count.
    pub filter: &'a Filter,
    /// The current time, for a dump from a pipe, which has no time of its own.
    pub now: Timestamp,
}
