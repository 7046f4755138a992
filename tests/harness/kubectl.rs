//! The real kubectl as one user.

use std::{path::PathBuf, process::Command, time::Duration};

use super::output::{Output, Running};

/// Longer than any kubectl command of a test. Only a paused server takes so long.
const LIMIT: Duration = Duration::from_secs(60);

/// kubectl with its own kubeconfig, and its own home for the cache.
#[derive(Clone)]
pub struct Kubectl {
    pub program: PathBuf,
    pub kubeconfig: PathBuf,
    pub home: PathBuf,
}

impl Kubectl {
    pub fn run<S: Into<String>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        stdin: Option<&str>,
    ) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments.into_iter().map(Into::into)).env_clear();
        command
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", &self.home);
        Running::start(command, stdin).finish(LIMIT)
    }
}
