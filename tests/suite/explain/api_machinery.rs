//! Causes in the API server, etcd and the controller manager: admission, definitions and stored objects.

mod admission_policy;
mod builtin_groups;
mod controller_manager;
pub mod conversion_webhook;
mod crd_instances;
mod etcd_not_writable;
mod invalid_object;
mod no_finalizers;
pub mod stored_version;
mod unreadable_object;
pub mod update_rejected;
mod update_rejected_oracle;
