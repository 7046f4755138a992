//! Causes in the API server, etcd and the controller manager.
//!
//! Every update or read of an object fails. Admission rejects, a definition cannot be converted or served, an object
//! cannot be decoded, etcd takes no writes, or the controller manager is stopped.

pub(crate) mod controller_manager;
pub(crate) mod conversion_webhook;
pub(crate) mod crd_instances;
pub(crate) mod etcd_not_writable;
pub(crate) mod no_finalizers;
pub(crate) mod stored_version;
#[cfg(test)]
mod tests;
pub(crate) mod unreadable_object;
pub(crate) mod update_rejected;

/// Whether this message of the API server blames the definition of a type for objects that cannot be read.
pub fn is_definition_failure(message: &str) -> bool {
    conversion_webhook::is_reported(message) || stored_version::is_reported(message)
}
