//! Namespaces: their two lists of finalizers, the content that remains in them, and why it is not deleted.

pub(crate) mod conditions;
pub(crate) mod content_deletion_failure;
pub(crate) mod content_groups;
pub(crate) mod content_remaining;
pub(crate) mod discovery_failure;
pub(crate) mod finalizer_lists;
pub(crate) mod missing_namespace;
