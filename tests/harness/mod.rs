//! A real Kubernetes control plane for tests and benches, and the plugin run against it.
//!
//! ```ignore
//! let cluster = Cluster::shared();
//! let ns = cluster.namespace("claims");
//! ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
//! let reader = cluster.user("reader").may_in(ns.name(), "get,list", "configmaps").create();
//! let out = cluster.plugin(["scan"]).as_user(&reader).run();
//! assert_eq!(out.code, 0, "{out}");
//! ```
//!
//! Layers, lowest first: [`cache`] and [`go`] build programs from `tests/controlplane/`, and [`binaries`] finds
//! them. [`reaper`] runs them so that none outlives the test, and [`component`] is one of them.
//! [`control_plane`] has their flags, and [`cluster`] combines them. The rest is for tests that use a cluster.
//!
//! Environment: `KUBEBUILDER_ASSETS` names a directory of programs to use instead of built ones.
//! `FINALIZERS_CONTROLPLANE_CACHE` replaces `target/controlplane` as the folder of built programs, so that
//! several checkouts can share it.

// Tests and benches each use only a part of this module.
#![allow(dead_code, unused_imports, unreachable_pub)]
// Methods such as `plugin.as_user(&reader)` mean "act as".
#![allow(clippy::wrong_self_convention)]

mod api;
mod audit;
mod binaries;
mod cache;
mod clock;
mod cluster;
mod component;
mod control_plane;
mod csi;
mod etcd;
mod go;
mod history;
pub mod kubeconfig;
mod kubectl;
mod logs;
mod namespace;
mod operator;
mod output;
mod pki;
mod plugin;
pub mod ports;
mod reaper;
mod restore;
mod session;
mod terminal;
mod types;
mod users;
mod wait;
mod webhook;

pub use api::Api;
pub use audit::Asked;
pub use binaries::{crds, has, installed, is_since, program};
pub use cache::directory as cache_directory;
pub use cluster::{Cluster, Options};
pub use component::Component;
pub use csi::{CsiDriver, CsiSetup};
pub use history::Event;
pub use namespace::Namespace;
pub use operator::{CLUSTER_API, KUEUE, Operator, Product};
pub use output::Output;
pub use plugin::{Plugin, RunningPlugin};
pub use rustix::process::Signal;
pub use session::Session;
pub use terminal::End;
pub use users::{User, UserSetup};
pub use wait::wait;
pub use webhook::{Webhook, patches};
