//! A mistake in a knowledge file, with its place.

use std::fmt;

/// What is wrong, and where. Lines and columns count from 1; 0 means that the place is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file, by the name that the user knows.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// What is wrong and, if that helps, what would be right. Starts in lower case.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for Mistake {}
