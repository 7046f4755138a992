//! Owners, dependents and the real garbage collector.

mod absent_owners;
mod foreground_deletion;
mod unlistable_type;
