//! The only module that writes: to the cluster, and to the disk before and after that.
//!
//! It executes a [`crate::plan`] and decides nothing: it sends exactly the confirmed request, once. Before
//! that it saves a copy of the object and writes a receipt. After that it reads the object again: a lost
//! response says nothing, and a good one does not prove that the object is gone.

mod backup;
mod etcd;
mod event;
mod files;
mod look;
mod receipt;
mod send;

pub use self::{
    backup::{backup, backup_claim, backup_stored},
    etcd::{Etcd, Replaced},
    event::event,
    files::{NewFile, Platform, RecordPaths, record_paths},
    look::{After, ReadBack, added_by, policy_set_by},
    receipt::{Receipt, Receipts, Record, unfinished_rescue},
    send::{Trial, leave_event, send, send_step, try_event, try_out, try_steps},
};
