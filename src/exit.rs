//! The exit codes. They are a public contract, documented in docs/automation.md.

use std::process::ExitCode;

use crate::error::Error;

/// How a run ended, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success. Also if the reader of a pipe closed it.
    Done,
    /// Something failed; the message is on stderr.
    Failed,
    /// The command line is wrong, or names something that does not exist.
    Usage,
    /// A guard refused to act.
    Refused,
    /// With `--exit-code`: an object is stuck. With `watch --timeout`: one is not gone yet.
    Stuck,
    /// With `--exit-code`, or `watch` without a target: nothing is left as far as known, but not everything could be read.
    Incomplete,
    /// Ctrl-C: 128 + SIGINT, as in a shell.
    Interrupted,
}

impl Exit {
    /// The exit code of the process.
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
