//! Causes inside the API server: admission, definitions, stored objects, etcd, and a controller manager that does not run.

mod admission_policy;
mod builtin_groups;
mod controller_manager;
mod crd_instances;
mod etcd_not_writable;
mod invalid_object;
mod stored_version;
pub mod unreadable_object;
mod update_rejected;
mod update_rejected_oracle;
