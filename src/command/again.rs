//! The flags that lead a second command to what a first one read.

use super::Command;

/// Where a run read: the files, or how it reached the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// `--from`.
    pub from: Vec<String>,
    /// `--kubeconfig`.
    pub kubeconfig: Option<String>,
    /// `--context`.
    pub context: Option<String>,
}

impl Again {
    /// Whether another run can read the same. What came in on standard input is gone.
    pub fn is_possible(&self) -> bool {
        self.from.iter().all(|path| path != "-")
    }
}

impl Command {
    /// The command of ours, with the flags that lead it there; none if nothing does.
    pub fn again(self, there: &Again) -> Option<Self> {
        let from = there.from.iter().map(|path| ("--from", path));
        let kubeconfig = there.kubeconfig.iter().map(|path| ("--kubeconfig", path));
        let context = there.context.iter().map(|name| ("--context", name));
        let flags = from.chain(kubeconfig).chain(context);
        there
            .is_possible()
            .then(|| flags.fold(self, |command, (flag, value)| command.flag(flag, value)))
    }
}
