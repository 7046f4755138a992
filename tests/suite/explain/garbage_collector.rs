//! Owners, dependents and the real garbage collector.

pub mod absent_owners;
pub mod foreground_deletion;
mod unlistable_type;
