//! The garbage collector, owners and dependents: foreground deletion, orphaned dependents, and owners that are gone.

pub(crate) mod absent_owners;
pub(crate) mod foreground_deletion;
pub(crate) mod orphan_dependents;
