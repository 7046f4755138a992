//! What the world's finalizers mean: who removes each, what it waits for, what is lost if it is cut.
//!
//! Pure: no cluster, no clock, no files. The data is written by people in `knowledge/*.yaml`, checked by `build.rs`
//! and embedded; a user's own files are handed over as text and checked by the same code.
//!
//! Four questions are answered here: what is known of this name on this object ([`Knowledge::lookup`]); what did
//! this person paste and which entries are meant ([`paste::names`], [`Knowledge::recognise`]); what can be said of
//! a name that nobody described ([`Knowledge::deduce`]); and which entries are there ([`Knowledge::catalog`]).

mod builtin;
mod catalog;
mod convert;
mod deduce;
mod lookup;
pub mod paste;
pub mod schema;
mod shortnames;
#[cfg(test)]
mod tests;
mod user;

pub use catalog::Filter;
pub use deduce::{Deduced, Propagation};
pub use lookup::Recognised;
pub use schema::{
    Area, Consequence, Entry, FoundBy, GroupKind, Holder, IfHolder, IfRemoved, Judged, KindPattern, Lease,
    List, Match, Mistake, OF_OBJECT, Runs, SameAs, Step, Wait, WaitsFor, Workload, WorkloadKind,
};

use schema::Located;

/// The built-in catalogue and the user's own entries on top of it.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// In the order in which their files were given.
    user: Vec<Located>,
}

impl Knowledge {
    /// What the program knows by itself. Costs nothing: entries are read when they are asked for.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// How many entries are built in.
    pub fn builtin_len() -> usize {
        builtin::len()
    }

    /// How many bytes of the program their texts take.
    pub fn builtin_bytes() -> usize {
        builtin::size()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        if self.user.is_empty() {
            builtin::len()
        } else {
            self.all().count()
        }
    }

    /// Whether there is none, which does not happen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every entry, the user's first; built-in ones that the user's replace are left out.
    pub fn all(&self) -> impl Iterator<Item = Entry> {
        let own = self.user.iter().map(|located| located.entry.clone());
        own.chain(
            (0..builtin::len())
                .filter_map(builtin::entry)
                .filter(|entry| !self.replaces(entry)),
        )
    }
}
