//! Finds who must remove a finalizer, and whether that controller is alive, with the evidence.
//!
//! [`life`] reads the Lease alone, for causes that know their controller by name. [`described`] and
//! [`undescribed`] search by everything that a controller leaves in a cluster. [`find`] calls one of the two.

mod account;
mod bystander;
mod driver;
mod driver_installation;
mod found;
mod lease;
mod names;
mod node;
mod off;
pub mod paused;
mod platform;
mod pod_template;
mod product;
mod program;
pub mod rbac;
mod reach;
mod rights;
mod search;
mod silence;
mod standing;
#[cfg(test)]
mod tests;
pub mod trace;
mod workload;
mod writer;

pub use driver::distinguishing_driver;
pub(super) use driver_installation::DriverInstallation;
pub use driver_installation::registers;
pub use found::{FoundHolder, find};
pub(super) use lease::life_of_lease;
pub use lease::{Leader, Life, leader_of_domain, life};
pub use names::{Names, is_telling};
pub use product::installer;
pub use reach::{Reach, reach};
pub use search::{described, lacking_for_work, may_be_another, sidecar_of, undescribed};
pub use trace::{Holder, Sign, Tells, Trace};

pub use super::model::Liveness;
pub use workload::{could_be_holder, is_of_each_instance, sidecar};
pub use writer::{author_and_last_change, author_and_successor, authors, is_silent, is_tool_on, makers};
