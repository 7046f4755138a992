//! What goes to stderr: errors, warnings and information.

use std::io::Write;

use crate::{error::Error, exit::Exit, output::safe::harmless};

/// Prints the error that ended the run. Prints nothing if the reader of the output closed the pipe.
pub fn complain(error: &Error) {
    if Exit::from(error) == Exit::Done {
        return;
    }
    let mut stderr = std::io::stderr().lock();
    // If stderr is closed too, nobody can read the error.
    drop(writeln!(stderr, "error: {}", harmless(&error.to_string())));
    for line in error.details() {
        drop(writeln!(stderr, "{}", harmless(line)));
    }
    if let Some(hint) = error.hint() {
        drop(writeln!(stderr, "hint: {}", harmless(hint)));
    }
}

/// Prints information to stderr.
pub(super) fn inform(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{}", harmless(text)));
}

/// Prints a warning to stderr.
pub(super) fn warn(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "warning: {}", harmless(text)));
}
