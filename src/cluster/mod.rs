//! The only place that talks to an API server: connect, discover, list, decode.

pub mod decode;
