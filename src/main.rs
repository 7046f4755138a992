//! kubectl-finalizers: parse, run, error text, exit code. Everything else is in the library.

use std::process::ExitCode;

use clap::Parser;
use kubectl_finalizers::{
    cli::{self, Cli},
    exit::Exit,
    run,
};

fn main() -> ExitCode {
    // Before anything else: with a second provider somewhere in the tree rustls cannot choose and panics.
    // An error here means that one is installed already, which is just as good.
    drop(rustls::crypto::ring::default_provider().install_default());

    let cli = match Cli::try_parse_from(cli::protect_pasted_lines(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return run::usage(&error).into(),
    };
    match run::run(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            run::complain(&error);
            Exit::from(&error).into()
        }
    }
}
