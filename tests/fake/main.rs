//! Proof that the fake API server does what its users believe: the plugin's tests stand on it.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "test code")]

mod client;
mod discovery;
mod faults;
mod lists;
mod malformed;
mod protobuf;
mod running;
mod server;
