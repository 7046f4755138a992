//! The only place that talks to an API server: connect, discover, list, decode. What is to be written is handed to it
//! by [`crate::act`], and by nobody else.

mod ask;
pub mod connect;
pub mod decode;
mod discovery;
mod each;
mod list;
mod request;
mod rights;
mod scan;
mod write;

pub use self::{
    ask::{answer, answer_and_tell, first_look, names, whole},
    each::each,
    request::Server,
    rights::{may, myself},
    scan::{Progress, Reading, scan},
    write::Written,
};

/// Requests under way at once. kube speaks HTTP/1.1, so each is a connection with a TLS handshake of its own;
/// API Priority and Fairness gives a single user little more anyway.
const PARALLEL: usize = 8;
