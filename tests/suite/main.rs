//! All tests that need a cluster, in one binary so that they can share it.

// A test may fail loudly, and its helpers are nobody's API.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, unreachable_pub)]

#[path = "../harness/mod.rs"]
mod harness;

mod connect;
mod controlplane;
mod explain;
mod layers;
mod playground;
mod stuck;
