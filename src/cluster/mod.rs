//! The only place that talks to an API server.

pub mod connect;
