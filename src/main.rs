//! kubectl-finalizers: parses the command line, runs it, prints an error, and sets the exit code. The library does the
//! rest.

use std::process::ExitCode;

use kubectl_finalizers::{cli, exit::Exit, run};

fn main() -> ExitCode {
    // Install the provider first: with a second provider in the dependency tree, rustls cannot choose and panics. An
    // error means that a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());

    if run::answer_shell() {
        return ExitCode::SUCCESS;
    }
    let cli = match cli::parse(std::env::args_os()) {
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
