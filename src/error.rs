//! The errors that end a run. Each says what was attempted, why it failed, and what to try.
//!
//! Only a fault that ends the whole run is an error. Data that could not be read is a gap in the result.

use std::{io, path::PathBuf};

/// An error that ends the run. Messages start in lower case and fit after "error: ".
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
    /// The API server could not be reached, or it refused the first request.
    #[error("{message}")]
    Server {
        /// What was attempted and why it failed.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// The API server does not accept the credentials.
    #[error("{message}")]
    Unauthorized {
        /// Which credentials, and why.
        message: String,
        /// How to get others.
        hint: Option<String>,
    },
    /// The API server did not answer in time.
    #[error("{message}")]
    TimedOut {
        /// Which server.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A file or directory could not be read at all.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file, as the user named it.
        path: PathBuf,
        /// The operating system's error.
        cause: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file, as the user named it.
        path: PathBuf,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The files given with `--knowledge` have mistakes.
    #[error("{} in what --knowledge names; nothing was done", count(mistakes))]
    Knowledge {
        /// Every mistake of every file, as `file:line:column: …`.
        mistakes: Vec<String>,
    },
    /// A guard refused to act.
    #[error("{message}")]
    Refused {
        /// What was refused, and why.
        message: String,
        /// What must hold before the action is allowed.
        hint: Option<String>,
    },
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Error {
    /// The hint: what to try, if there is something.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Usage { hint, .. }
            | Error::Config { hint, .. }
            | Error::Server { hint, .. }
            | Error::Unauthorized { hint, .. }
            | Error::TimedOut { hint, .. }
            | Error::Refused { hint, .. } => hint.as_deref(),
            Error::Knowledge { .. } => Some("every key and word: knowledge/README.md"),
            Error::Read { .. } | Error::Write { .. } | Error::Output(_) => None,
        }
    }

    /// One line for each mistake, in the form that editors understand (`file:line:column: …`).
    pub fn details(&self) -> &[String] {
        match self {
            Error::Knowledge { mistakes } => mistakes,
            _ => &[],
        }
    }
}

fn count(mistakes: &[String]) -> String {
    match mistakes.len() {
        1 => "a mistake".into(),
        more => format!("{more} mistakes"),
    }
}
