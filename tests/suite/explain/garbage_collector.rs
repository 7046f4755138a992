//! Owners, dependents and the real garbage collector.

pub mod absent_owners;
pub mod foreground_deletion;
mod orphan_dependents;
mod unlistable_type;

use std::sync::LazyLock;

use crate::harness::{Cluster, Options};

/// A cluster in which no garbage collector runs.
static STOPPED: LazyLock<Cluster> = LazyLock::new(|| {
    Cluster::with(&Options {
        controller_manager_args: &["--controllers=*,-garbage-collector-controller"],
        ..Options::default()
    })
});
