//! The catalogue of known finalizers: who removes each, what it waits for, what is lost if it is removed by
//! hand.
//!
//! Pure: no cluster, no clock, no files. People write the data in `knowledge/*.yaml`; `build.rs` checks it
//! and embeds it. A user's own files arrive as text and pass the same checks.
//!
//! This module answers four questions. What is known about this name on this object ([`Knowledge::lookup`])?
//! Which names did the user paste, and which entries match ([`paste::names`], [`Knowledge::recognise`])? What
//! does a name suggest that nobody described ([`Knowledge::deduce`])? Which entries exist
//! ([`Knowledge::catalog`])?

mod builtin;
mod catalog;
mod convert;
mod deduce;
mod lookup;
pub mod paste;
mod public;
pub mod schema;
mod shortnames;
mod surroundings;
#[cfg(test)]
mod tests;
mod user;

pub use catalog::Filter;
pub use deduce::{Deduced, Look, Propagation, is_of_one_project};
pub use lookup::Recognised;
pub use schema::{
    Area, Consequence, Deployer, Entry, FixStep, FoundBy, GroupKind, HolderDescription, IfHolder, IfRemoved,
    Judged, KindPattern, Label, Lease, Left, List, Match, Mistake, OF_OBJECT, Platform, Right, Runs, SameAs,
    Topic, Wait, WaitsFor, While, WorkloadDescription, WorkloadKind,
};
pub use surroundings::{deployer_named, deployers, losses, topics};

use std::collections::BTreeSet;

use schema::Located;

/// The built-in catalogue and the user's own entries, which take precedence.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// In the order of the given files.
    user: Vec<Located>,
}

impl Knowledge {
    /// The built-in catalogue. This costs nothing, because entries are unpacked and parsed on demand.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Number of built-in entries.
    pub fn builtin_len() -> usize {
        builtin::len()
    }

    /// Size of their packed texts in bytes.
    pub fn builtin_bytes() -> usize {
        builtin::size()
    }

    /// Size of their texts in bytes once they are unpacked.
    pub fn builtin_unpacked_bytes() -> usize {
        builtin::unpacked_size()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        if self.user.is_empty() {
            builtin::len()
        } else {
            self.all().count()
        }
    }

    /// Number of projects that the entries belong to.
    pub fn projects(&self) -> usize {
        let projects: BTreeSet<&str> = self.all().map(|entry| &*entry.project).collect();
        projects.len()
    }

    /// The day of the newest upstream commit in which a built-in entry was verified.
    pub fn verified_until() -> String {
        let entries = (0..builtin::len()).filter_map(builtin::entry);
        let days = entries.flat_map(|entry| &entry.verified_in);
        days.map(|place| &place.date).max().cloned().unwrap_or_default()
    }

    /// Whether there are no entries, which never happens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every entry, the user's first, without the built-in entries that the user replaces.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        let own = self.user.iter().map(|located| &located.entry);
        let ours = (0..builtin::len()).filter_map(|at| -> Option<&Entry> { builtin::entry(at) });
        own.chain(ours.filter(|entry| !self.replaces(entry)))
    }
}
