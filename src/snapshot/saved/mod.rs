//! A snapshot in a file: what `scan` and `explain` read from a cluster, for use later and elsewhere.
//!
//! The file keeps what was *read*, not what was concluded: the answers, the gaps, and the server's time. A replay makes
//! the same diagnosis of the same facts. A later version of this program may conclude more from an old file.
//!
//! The file is gzip over lines of JSON. Each line is one record, so that writing and reading need not hold the file
//! twice. The last record counts the records before it: a file without it was cut short. gzip's checksum detects
//! damage. A file that was edited by hand must still be JSON that fits the records.

mod content;
mod read;
mod record;
mod redact;
mod replay;
mod strip;
mod unpack;
mod write;

pub use self::{
    content::{Counted, FORMAT, Head, Leftovers, Saved, VERSION},
    read::Fault,
    redact::Public,
    write::Writer,
};

#[cfg(test)]
mod tests;
