//! Namespaces that are stuck in Terminating, and objects that cannot be created in them.

mod content_deletion_failure;
pub mod content_remaining;
mod creation_forbidden;
mod discovery_failure;
mod finalizer_lists;
mod missing_namespace;
