//! Exit codes: part of the public contract, documented in README.md.

use std::process::ExitCode;

use crate::error::Error;

/// How a run ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done. Also when the reader of a pipe went away.
    Done,
    /// Something failed; the message is on stderr.
    Failed,
    /// The command line is wrong, or names what does not exist.
    Usage,
    /// A guard refused to act.
    Refused,
    /// With `--exit-code`: something is stuck.
    Stuck,
    /// With `--exit-code`: nothing stuck was found, but not everything could be read.
    Incomplete,
    /// Ctrl-C: 128 + SIGINT, as a shell reports it.
    Interrupted,
}

impl Exit {
    /// The number that the process exits with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Stuck => 4,
            Exit::Incomplete => 5,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::Usage { .. } => Exit::Usage,
            Error::Refused { .. } => Exit::Refused,
            Error::Output(cause) if cause.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
            _ => Exit::Failed,
        }
    }
}
