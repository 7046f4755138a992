//! A fake API server, for two things that a real one will not do: misbehave on demand, and hold a million objects
//! in no memory. Everything else is asked of the real control plane, because a fake only repeats what we believe.
//!
//! It speaks plain HTTP on a free port of 127.0.0.1, on a thread of its own with a runtime of its own, so that it
//! serves the plugin run as a process as well as a client in the same test. It is written on the bare socket rather
//! than on an HTTP library because half of its trade is sending what such a library refuses to send.
//!
//! ```ignore
//! #[path = "../fake/server/mod.rs"]
//! mod fake;
//! use fake::{Fake, Fault, Kind, object};
//!
//! let server = Fake::new()
//!     .with_type(Kind::new("", "v1", "pods").namespaced().short("po").category("all"))
//!     .object("pods", object("db", "web-1").finalizer("a/b").deleting("2026-01-01T00:00:00Z"))
//!     .on("/api/v1/pods", Fault::TruncateBody.page(2).times(1))
//!     .start();
//! // run the plugin with KUBECONFIG = server.kubeconfig(), then look at server.requests()
//! ```
#![allow(
    dead_code,
    unused_imports,
    reason = "tests and benches include this file and use different halves of it"
)]
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::struct_field_names,
    reason = "test code"
)]

mod accept;
mod answer;
mod builder;
mod connection;
mod discovery;
mod fault;
pub mod hostile;
pub mod json;
mod kind;
mod list;
mod malformed;
mod object;
mod page;
pub mod protobuf;
mod reply;
mod request;
mod rights;
mod route;
mod rule;
mod running;
mod status;
mod store;

pub use builder::{Discovery, Fake};
pub use fault::Fault;
pub use kind::Kind;
pub use malformed::Malformed;
pub use object::{ManagedFields, Object, cluster_object, object};
pub use request::Recorded;
pub use rule::Rule;
pub use running::Running;
pub use status::{Status, status};
