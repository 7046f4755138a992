//! Tests of the fake API server, which the tests of the plugin rely on.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "test code"
)]

mod client;
mod clusters;
mod discovery;
mod faults;
mod fleet;
mod lists;
mod malformed;
mod protobuf;
mod running;
mod server;
mod writes;
