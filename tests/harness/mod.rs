//! A real Kubernetes control plane for tests and benches, and the plugin run against it.
//!
//! ```ignore
//! let cluster = Cluster::shared();
//! let ns = cluster.namespace("claims");
//! ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
//! let reader = cluster.user("reader").may_in(&ns, "get,list", "configmaps").create();
//! let out = cluster.plugin(["scan"]).as_user(&reader).run();
//! assert_eq!(out.code, 0, "{out}");
//! ```
//!
//! Layers, lowest first: [`cache`] and [`go`] make programs out of `tests/controlplane/`, [`binaries`] finds
//! them, [`reaper`] runs them so that none survives the test, [`component`] is one of them,
//! [`control_plane`] knows their flags, [`cluster`] puts them together, and the rest is what a test does
//! with a cluster.
//!
//! Environment: `KUBEBUILDER_ASSETS` names a directory of ready programs that win over built ones;
//! `FINALIZERS_CONTROLPLANE_CACHE` replaces `target/controlplane` as the place where built ones are kept,
//! so that several checkouts can share them.

// Tests and benches each use a part of this, and include it as a module of their own.
#![allow(dead_code, unused_imports, unreachable_pub)]
// "as" in the sense of acting as somebody: `plugin.as_user(&reader)`.
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
mod go;
mod history;
mod kubeconfig;
mod kubectl;
mod logs;
mod namespace;
mod output;
mod pki;
mod plugin;
mod ports;
mod reaper;
mod session;
mod terminal;
mod types;
mod users;
mod wait;

pub use audit::Asked;
pub use binaries::program;
pub use cache::directory as cache_directory;
pub use cluster::{Cluster, Options};
pub use component::Component;
pub use csi::{CsiDriver, CsiSetup};
pub use history::Event;
pub use namespace::Namespace;
pub use output::Output;
pub use plugin::{Plugin, RunningPlugin};
pub use rustix::process::Signal;
pub use session::Session;
pub use terminal::End;
pub use users::{User, UserSetup};
pub use wait::wait;
