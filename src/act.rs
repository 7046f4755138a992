//! The only place that writes: into the cluster, and onto the disk what must be there before and after.
//!
//! It carries out what a [`crate::plan`] says and decides nothing: the request that was confirmed is the request that is
//! sent, once. Before it comes a copy of the object, then a line in the receipt; after it a look at what really
//! happened, because an answer that is lost says nothing, and one that is good does not say that the object is gone.

mod backup;
mod files;
mod look;
mod receipt;
mod send;

pub use self::{
    backup::backup,
    files::{Place, place},
    look::{After, Look, added_by},
    receipt::{Receipt, Receipts},
    send::{Trial, leave_event, send, try_event, try_out},
};
