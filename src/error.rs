//! What stops a run: what was attempted, why it failed, and what to try.
//!
//! Only what ends the whole run is an error. What could not be read on the way is a
//! [`Gap`] and part of the result.

use std::{io, path::PathBuf};

use crate::{
    knowledge::Mistake,
    snapshot::{Gap, select::Unknown},
};

/// An error that ends the run. Messages start lower case and fit after "error: ".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line, or a name on it, is wrong.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to type instead.
        hint: Option<String>,
    },
    /// The kubeconfig or a connection flag cannot be used.
    #[error("{message}")]
    Config {
        /// What is wrong, with the file or flag it is about.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// The API server could not be reached, or refused us before anything was read.
    #[error("{message}")]
    Server {
        /// What was attempted and why it failed.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A file or directory could not be read at all.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file, as the user named it.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file, as the user named it.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// Files that were given with `--knowledge` are not as they must be.
    #[error("{} in what --knowledge names; nothing was done", count(mistakes))]
    Knowledge {
        /// Every mistake of every file.
        mistakes: Vec<Mistake>,
    },
    /// A guard refused to act.
    #[error("{message}")]
    Refused {
        /// What was refused, and why.
        message: String,
        /// What would have to be true.
        hint: Option<String>,
    },
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Error {
    /// A type that does not exist, with what was probably meant. Where groups could not be read the type may
    /// be in one of them, and that is said instead of more than is known.
    pub fn unknown_type(unknown: &Unknown, gaps: &[Gap]) -> Self {
        let silent: Vec<_> = gaps.iter().filter_map(|gap| gap.what.silent_group()).collect();
        let message = format!("there is no type {:?} that can be listed", unknown.word);
        Error::Usage {
            message: if silent.is_empty() {
                message
            } else {
                format!(
                    "{message}, unless it belongs to what did not answer: {}",
                    silent.join(", ")
                )
            },
            hint: Some(if unknown.near.is_empty() {
                "kubectl api-resources lists the types".into()
            } else {
                format!("did you mean {}?", unknown.near.join(" or "))
            }),
        }
    }

    /// The line that says what to try, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Usage { hint, .. }
            | Error::Config { hint, .. }
            | Error::Server { hint, .. }
            | Error::Refused { hint, .. } => hint.as_deref(),
            Error::Knowledge { .. } => Some("every key and word: knowledge/README.md"),
            Error::Read { .. } | Error::Write { .. } | Error::Output(_) => None,
        }
    }

    /// What belongs to it, a line each, in the form that editors understand (`file:line:column: …`).
    pub fn details(&self) -> Vec<String> {
        match self {
            Error::Knowledge { mistakes } => mistakes.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }
}

fn count(mistakes: &[Mistake]) -> String {
    match mistakes.len() {
        1 => "a mistake".into(),
        more => format!("{more} mistakes"),
    }
}
