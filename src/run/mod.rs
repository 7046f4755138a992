//! One file a verb; each reads as its steps. Only here do all layers meet, and only here are stdout and stderr
//! written to.

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

use std::io::Write;

use crate::{
    cli::{Cli, Verb},
    error::Error,
    exit::Exit,
    output::safe::harmless,
    settings,
};

/// Does what was asked for.
pub fn run(cli: Cli) -> Result<Exit, Error> {
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
    }
}

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn usage(error: &clap::Error) -> Exit {
    // The reader of a pipe may be gone; help that nobody reads is not an error.
    drop(error.print());
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

/// Says what ended the run. Says nothing if only the reader went away.
pub fn complain(error: &Error) {
    if Exit::from(error) == Exit::Done {
        return;
    }
    let mut stderr = std::io::stderr().lock();
    // With stderr gone too there is nobody left to tell.
    drop(writeln!(stderr, "error: {}", harmless(&error.to_string())));
    for line in error.details() {
        drop(writeln!(stderr, "{}", harmless(&line)));
    }
    if let Some(hint) = error.hint() {
        drop(writeln!(stderr, "hint: {}", harmless(hint)));
    }
}

/// Says how it went, beside the output.
fn inform(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{}", harmless(text)));
}

/// Says what the output cannot.
fn warn(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "warning: {}", harmless(text)));
}

/// Runs a future to its end on this thread. One thread is enough: pages decode faster than servers send them.
fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Output)?;
    runtime.block_on(future)
}
