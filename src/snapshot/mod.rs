//! A snapshot: what was read, when, and what could not be read. It is a plain value, from a server or from files.
//!
//! A scan does not hold a large cluster in memory. It counts each object as it reads it. An object with a finalizer is
//! counted by finalizer. Only objects that are printed are kept.

pub mod confidential;
pub mod crowd;
pub mod driver;
pub mod facts;
pub mod field;
pub mod filter;
pub mod gap;
pub mod glob;
pub mod json;
pub mod leftovers;
pub mod load;
pub mod saved;
mod scanned;
mod seen;
pub mod select;
pub mod selector;
pub mod storage;
pub mod storage_leftovers;
pub mod tally;
pub mod usage;
mod wanted;

pub use self::{
    crowd::{Crowd, CrowdKey, Crowds},
    filter::{Filter, Item, NamespaceOnly},
    gap::{Gap, What, Why},
    leftovers::{LeftoverCount, NamespaceLeftovers, Namespaces},
    scanned::{Snapshot, TypeRead},
    seen::{Condition, Seen},
    storage::Storage,
    tally::{Keep, RemainingContent, Room, Tally},
    usage::{OnType, Usage},
    wanted::Wanted,
};
