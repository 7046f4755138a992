//! Finalizer → who must remove it → whether that somebody is alive, with what shows it.
//!
//! [`life`] asks the Lease alone, for the rules that know their controller by name. [`described`] and [`undescribed`]
//! look for whoever it is, by everything that it leaves in a cluster. [`find`] does one or the other.

mod account;
mod driver;
mod found;
mod lease;
mod node;
mod off;
pub mod paused;
mod product;
pub mod rbac;
mod reach;
mod search;
mod standing;
#[cfg(test)]
mod tests;
pub mod trace;
mod workload;
mod writer;

pub use driver::{apart, registers};
pub use found::{Found, find};
pub(super) use lease::of;
pub use lease::{Life, life};
pub use product::installer;
pub use reach::{Reach, reach};
pub use search::{described, undescribed};
pub use trace::{Holder, Sign, State, Tells, Trace};
pub use workload::{is_of_each_instance, labels, may_be, sidecar};
pub use writer::{authors, succeeded};
