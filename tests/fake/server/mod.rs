//! A fake API server, for what a real one cannot do: misbehave on demand, and have a million objects without
//! memory. All other tests use the real control plane, because a fake only repeats our beliefs.
//!
//! It serves plain HTTP on a free port of 127.0.0.1, on a thread and a runtime of its own. So it serves the
//! plugin as a process and clients in the test. It uses a bare socket, because an HTTP library refuses to send
//! what half of the faults need.
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
mod write;

pub use builder::{Discovery, Fake};
pub use fault::Fault;
pub use kind::Kind;
pub use malformed::Malformed;
pub use object::{ManagedFields, Object, cluster_object, object};
pub use request::Recorded;
pub use rule::Rule;
pub use running::Running;
pub use status::{Status, status};
pub use write::Writes;
