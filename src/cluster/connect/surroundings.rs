//! What a run inherits: the environment, the terminal, the service account of a pod.
//!
//! All of it is handed in, so that nothing deep inside reads the process environment: a test sets what it
//! needs without touching its neighbours, and what decides a connection can be seen in one value.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

/// Looks a variable up.
pub type Env<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// What a run inherits.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The environment.
    pub env: Env<'a>,
    /// Whether somebody can answer a credential plugin's questions.
    pub stdin_is_terminal: bool,
    /// Where a pod finds its token, its CA and its namespace.
    pub service_account: &'a Path,
}

impl Surroundings<'static> {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        Surroundings {
            env: &|name| std::env::var(name).ok(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            service_account: Path::new("/var/run/secrets/kubernetes.io/serviceaccount"),
        }
    }
}

impl Surroundings<'_> {
    /// A variable, if it is set to something.
    pub(super) fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }

    /// The first of these that is set to something.
    pub(super) fn any_var(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.var(name)?)))
    }

    /// Where `.kube` is. client-go asks for `HOME` first on every system, and only on Windows for more.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.any_var(&["HOME", "USERPROFILE"])
            .map(|(_, home)| home.into())
    }
}
