//! One file for each command; each file reads as its steps. Only this module knows all layers, and only this
//! module writes to stdout and stderr.

mod catalog;
mod explain;
mod guarded;
mod knowledge;
mod look;
mod progress;
mod scan;
mod snapshot;
mod target;
mod terminal;
mod witness;

#[cfg(test)]
pub(crate) use look::agreement;

use std::io::Write;

use crate::{
    cli::{Cli, Verb},
    error::Error,
    exit::Exit,
    output::safe::harmless,
    settings,
};

/// Runs the command.
pub fn run(cli: Cli) -> Result<Exit, Error> {
    terminal::choose(cli.color);
    match cli.verb {
        Verb::Scan(words) => {
            let scan = settings::Scan::new(words, cli.connection)?;
            scan::run(&scan, &knowledge::load(&cli.knowledge)?)
        }
        Verb::Explain(words) => {
            let explain = settings::Explain::new(words, cli.connection)?;
            explain::run(&explain, &knowledge::load(&cli.knowledge)?)
        }
        Verb::Catalog(words) => {
            let catalog = settings::Catalog::new(words)?;
            catalog::run(&catalog, &knowledge::load(&cli.knowledge)?)
        }
        Verb::Snapshot(words) => {
            let knowledge = knowledge::load(&cli.knowledge)?;
            let snapshot = settings::Snapshot::new(words, cli.connection, &knowledge)?;
            snapshot::run(&snapshot, &knowledge)
        }
        Verb::Remove(words) => {
            let knowledge = knowledge::load(&cli.knowledge)?;
            let remove = settings::Guarded::remove(words, cli.connection, &knowledge)?;
            guarded::run(&remove, &knowledge)
        }
        Verb::Finalize(words) => {
            let finalize = settings::Guarded::finalize(words, cli.connection)?;
            guarded::run(&finalize, &knowledge::load(&cli.knowledge)?)
        }
        Verb::Nudge(words) => {
            let knowledge = knowledge::load(&cli.knowledge)?;
            let nudge = settings::Guarded::nudge(words, cli.connection, &knowledge)?;
            guarded::run(&nudge, &knowledge)
        }
        Verb::Rescue(words) => {
            let knowledge = knowledge::load(&cli.knowledge)?;
            let rescue = settings::Guarded::rescue(words, cli.connection, &knowledge)?;
            guarded::run(&rescue, &knowledge)
        }
    }
}

/// Prints the error in the command line, or the requested help.
pub fn usage(error: &clap::Error) -> Exit {
    // The reader of a pipe can be gone. Help that nobody reads is not an error.
    drop(error.print());
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

/// Prints the error that ended the run. Prints nothing if the reader of the output closed the pipe.
pub fn complain(error: &Error) {
    if Exit::from(error) == Exit::Done {
        return;
    }
    let mut stderr = std::io::stderr().lock();
    // If stderr is closed too, nobody can read the error.
    drop(writeln!(stderr, "error: {}", harmless(&error.to_string())));
    for line in error.details() {
        drop(writeln!(stderr, "{}", harmless(&line)));
    }
    if let Some(hint) = error.hint() {
        drop(writeln!(stderr, "hint: {}", harmless(hint)));
    }
}

/// Prints information to stderr.
fn inform(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{}", harmless(text)));
}

/// Prints a warning to stderr.
fn warn(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "warning: {}", harmless(text)));
}

/// Runs a future to completion on this thread. One thread is enough: decoding a page is faster than receiving
/// it.
fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Output)?;
    runtime.block_on(future)
}
