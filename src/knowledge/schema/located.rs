//! An entry with its place in a knowledge file.

use super::Entry;

/// An entry and its place.
#[derive(Debug, Clone)]
pub struct Located {
    /// The entry.
    pub entry: Entry,
    /// The file.
    pub file: String,
    /// The first line, from 1.
    pub line: u64,
}
