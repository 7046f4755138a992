//! One file for each command; each file reads as its steps. Only this module knows all layers, and only this
//! module writes to stdout and stderr.

mod catalog;
mod complete;
mod dumped;
mod etcd_commands;
mod explain;
mod exporter;
mod guarded;
mod knowledge;
mod look;
mod messages;
mod print;
mod progress;
mod runtime;
mod scan;
mod snapshot;
mod target;
mod terminal;
mod timing;
mod version;
mod watch;
mod witness;

#[cfg(test)]
pub(crate) use look::agreement;

pub use complete::answer_shell;
pub use messages::complain;

use self::{
    messages::{inform, warn},
    runtime::block_on,
};

use std::io::Write;

use clap::{builder::StyledStr, error::ErrorKind};

use crate::{
    cli::{self, Cli, PasteInto, SharedArgs, Verb},
    command::Shell,
    error::Error,
    exit::Exit,
    settings,
};

/// Runs the command.
pub fn run(cli: Cli) -> Result<Exit, Error> {
    let SharedArgs {
        knowledge: files,
        color,
        shell,
        connection,
    } = cli.shared;
    terminal::choose(color);
    match shell {
        Some(PasteInto::Posix) => Shell::Posix,
        Some(PasteInto::Powershell) => Shell::PowerShell,
        None => Shell::USUAL,
    }
    .choose();
    match cli.verb {
        Verb::Scan(words) => {
            let scan = settings::Scan::new(words, connection)?;
            scan::run(&scan, &knowledge::load(&files)?)
        }
        Verb::Explain(words) => {
            let explain = settings::Explain::new(words, connection)?;
            explain::run(&explain, &knowledge::load(&files)?)
        }
        Verb::Watch(words) => {
            let watch = settings::Watch::new(&words, connection)?;
            watch::run(&watch, &knowledge::load(&files)?)
        }
        Verb::Exporter(words) => {
            let exporter = settings::Exporter::new(&words, connection)?;
            exporter::run(&exporter, &knowledge::load(&files)?)
        }
        Verb::Catalog(words) => {
            settings::without_cluster(&connection)?;
            let catalog = settings::Catalog::new(words)?;
            catalog::run(&catalog, &knowledge::load(&files)?)
        }
        Verb::Snapshot(words) => {
            let snapshot = settings::Snapshot::new(words, connection)?;
            snapshot::run(&snapshot, &knowledge::load(&files)?)
        }
        Verb::Remove(words) => {
            let remove = settings::Guarded::remove(words, connection)?;
            guarded::run(&remove, &knowledge::load(&files)?)
        }
        Verb::Finalize(words) => {
            let finalize = settings::Guarded::finalize(words, connection)?;
            guarded::run(&finalize, &knowledge::load(&files)?)
        }
        Verb::Nudge(words) => {
            let nudge = settings::Guarded::nudge(words, connection)?;
            guarded::run(&nudge, &knowledge::load(&files)?)
        }
        Verb::Rescue(words) if words.etcd.print_etcd_commands => {
            let commands = settings::EtcdCommands::new(&words, connection)?;
            etcd_commands::run(&commands, &knowledge::load(&files)?)
        }
        Verb::Rescue(words) => {
            let rescue = settings::Guarded::rescue(words, connection)?;
            guarded::run(&rescue, &knowledge::load(&files)?)
        }
        Verb::Version(words) => {
            let version = settings::Version::new(&words, connection)?;
            version::run(&version, &knowledge::load(&files)?)
        }
        Verb::Completion(words) => {
            settings::without_cluster(&connection)?;
            complete::script(words.shell)
        }
        Verb::Complete { words } => complete::answer_kubectl(words),
        Verb::Options => {
            settings::without_cluster(&connection)?;
            print(&cli::options())
        }
    }
}

/// Prints the error in the command line, or the requested help. The program alone is a request for help, as in kubectl.
pub fn usage(error: &clap::Error) -> Exit {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return print(&error.render()).unwrap_or(Exit::Done);
    }
    // The reader of a pipe can be gone. Help that nobody reads is not an error.
    drop(error.print());
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

/// Prints help to stdout.
fn print(page: &StyledStr) -> Result<Exit, Error> {
    writeln!(
        anstream::stdout().lock(),
        "{}",
        page.ansi().to_string().trim_end()
    )?;
    Ok(Exit::Done)
}
