//! The surroundings of a run: the environment, the terminal, the service account of a Pod.
//!
//! They are passed in, so that no inner code reads the process environment. A test can set what it needs without
//! affecting other tests, and one value shows everything that decides a connection.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

/// Looks up a variable.
pub type Env<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The surroundings of a run.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The environment.
    pub env: Env<'a>,
    /// Whether somebody can answer the questions of a credential plugin.
    pub stdin_is_terminal: bool,
    /// Whether a credential plugin must not write to the terminal.
    pub is_silent: bool,
    /// The directory with a Pod's token, CA and namespace.
    pub service_account: &'a Path,
}

impl Surroundings<'static> {
    /// The surroundings of this process.
    pub fn of_this_process() -> Self {
        Surroundings {
            env: &|name| std::env::var(name).ok(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            is_silent: false,
            service_account: Path::new("/var/run/secrets/kubernetes.io/serviceaccount"),
        }
    }

    /// The same while a command line is typed: nothing may ask a question or write into it.
    pub fn of_completion() -> Self {
        Surroundings {
            stdin_is_terminal: false,
            is_silent: true,
            ..Self::of_this_process()
        }
    }
}

impl Surroundings<'_> {
    /// A variable, if it is not empty.
    pub(super) fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }

    /// The first of these variables that is not empty.
    pub(super) fn any_var(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.var(name)?)))
    }

    /// The directory that holds `.kube`. client-go reads `HOME` first on every system, and more variables only on
    /// Windows.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.any_var(&["HOME", "USERPROFILE"])
            .map(|(_, home)| home.into())
    }
}
