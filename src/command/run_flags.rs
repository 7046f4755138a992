//! The flags of a run that its printed commands need too: a command that reads another cluster or another file than the
//! run did would show something else.

use std::path::{Path, PathBuf};

use super::{Command, Part, Word};

/// Where a run read from, as its user typed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFlags {
    /// Each `--from`.
    pub from: Vec<String>,
    /// `--context`.
    pub context: Option<String>,
    /// `--kubeconfig`.
    pub kubeconfig: Option<String>,
}

impl RunFlags {
    /// The flags of a run that read these files, or else the server of this kubeconfig and context.
    pub fn of(from: &[PathBuf], kubeconfig: Option<&Path>, context: Option<&str>) -> Self {
        RunFlags {
            from: from.iter().map(|path| path.display().to_string()).collect(),
            context: context.map(str::to_owned),
            kubeconfig: kubeconfig.map(|path| path.display().to_string()),
        }
    }

    /// Whether another run can read the same. What came in on standard input is gone.
    pub fn is_possible(&self) -> bool {
        self.from.iter().all(|path| path != "-")
    }
}

/// The verbs of ours that read a recording.
const READ_RECORDINGS: [&str; 2] = ["explain", "scan"];

impl Command {
    /// The command with the flags of the run; none if another run cannot read the same.
    pub fn again(self, run: &RunFlags) -> Option<Self> {
        run.is_possible().then(|| self.in_run(run))
    }

    /// The command with the flags of the run. What came in on standard input cannot be read again.
    #[must_use]
    pub fn in_run(mut self, run: &RunFlags) -> Self {
        let mut words = self.words.iter().map(Word::text);
        let is_kubectl = words.next().is_some_and(|program| program == "kubectl");
        let is_ours = words.next().is_some_and(|word| word == "finalizers");
        let reads_recording = is_ours
            && words
                .next()
                .is_some_and(|verb| READ_RECORDINGS.contains(&verb.as_str()));
        if !is_kubectl {
            return self;
        }
        if reads_recording {
            for path in run.from.iter().filter(|path| *path != "-") {
                self = self.flag("--from", path);
            }
        }
        // A program in a Pod would get flags behind `--`.
        if self.words.iter().any(Word::ends_flags) {
            return self;
        }
        if let Some(context) = &run.context {
            self = self.flag("--context", context);
        }
        if let Some(path) = &run.kubeconfig {
            self = self.flag("--kubeconfig", path);
        }
        self
    }
}

impl Word {
    fn ends_flags(&self) -> bool {
        matches!(self.0.as_slice(), [Part::Ours(text)] if text == "--")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_where_the_run_read() {
        let recorded = RunFlags {
            from: vec!["a b.snapshot".into()],
            ..RunFlags::default()
        };
        let line = |command: Command, run: &RunFlags| command.in_run(run).to_string();
        assert_eq!(
            line(Command::explain("pv", "a", ""), &recorded),
            "kubectl finalizers explain pv/a --from 'a b.snapshot'"
        );
        // What changes something, and kubectl itself, cannot read a recording.
        assert_eq!(
            line(Command::nudge("pv", "a", ""), &recorded),
            "kubectl finalizers nudge pv/a"
        );
        let other = RunFlags {
            context: Some("prod".into()),
            ..RunFlags::default()
        };
        assert_eq!(
            line(Command::describe("pv", "-a", ""), &other),
            "kubectl describe pv/-a --context prod"
        );
        let in_pod = Command::of("kubectl -n {} exec {} -- df", ["a", "b"]);
        assert_eq!(line(in_pod, &other), "kubectl exec b -n a -- df");
        let helm = Command::of("helm list -n {}", ["a"]);
        assert_eq!(line(helm, &other), "helm list -n a");
    }
}
