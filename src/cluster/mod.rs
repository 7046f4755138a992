//! The only module that talks to an API server: it connects, discovers types, lists and decodes. Only [`crate::act`]
//! hands it something to write.

mod ask;
pub mod connect;
pub mod decode;
mod discovery;
mod each;
pub mod follow;
pub mod followed;
mod list;
mod pages;
mod paths;
mod request;
mod rights;
mod same;
mod scan;
mod version;
pub mod watch;
mod write;

pub use self::{
    ask::{answer, answer_and_tell, initial_facts, metadata, names, whole},
    each::each,
    request::Server,
    rights::{may, myself},
    same::identity,
    scan::{Progress, Reading, scan},
    version::version,
    write::Written,
};

/// How many requests run at once. kube speaks HTTP/1.1, so each is a connection with its own TLS handshake. API
/// Priority and Fairness gives a single user little more anyway.
const PARALLEL: usize = 8;
