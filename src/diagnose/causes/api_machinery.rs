//! The API server, etcd and the controller manager: what keeps an update from being made or an object from being read.

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
pub(crate) mod webhook_backend;

/// Whether the server's words say that the definition of a type keeps its objects from being read.
pub fn is_of_definition(text: &str) -> bool {
    conversion_webhook::failed(text) || stored_version::is_told(text)
}
