//! The plugin as a process, alone or as kubectl runs it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Output, Session, User, binaries, output::Running, terminal::End};

/// The program under test.
const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");

/// A run that has not started. Its environment has only the variables that are set here. So a developer's own
/// settings (`KUBECONFIG`, `NO_COLOR`, proxies) cannot change the result.
pub struct Plugin {
    arguments: Vec<String>,
    environment: BTreeMap<String, OsString>,
    stdin: Option<String>,
    through_kubectl: bool,
    room: Option<u32>,
    stdout: End,
    stderr: End,
    limit: Duration,
}

impl Plugin {
    /// The plugin without any cluster, as for `--from`.
    pub fn new<S: Into<String>>(arguments: impl IntoIterator<Item = S>) -> Self {
        Self {
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: BTreeMap::new(),
            stdin: None,
            through_kubectl: false,
            room: None,
            stdout: End::Pipe,
            stderr: End::Pipe,
            limit: Duration::from_secs(60),
        }
        .env("LANG", "C.UTF-8")
        // Excludes a developer's own entries for the catalogue.
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
    }

    /// Connects as this user.
    pub fn as_user(self, user: &User) -> Self {
        self.kubeconfig(user.kubeconfig())
    }

    /// Reads this kubeconfig.
    pub fn kubeconfig(self, path: &Path) -> Self {
        self.env("KUBECONFIG", path)
    }

    /// Uses this home directory.
    pub fn home(self, path: &Path) -> Self {
        self.env("HOME", path)
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// The standard input of the plugin, which is empty by default.
    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = Some(text.to_owned());
        self
    }

    /// Where standard output goes; by default a pipe.
    pub fn stdout_to(mut self, end: End) -> Self {
        self.stdout = end;
        self
    }

    /// Where standard error goes; by default a pipe.
    pub fn stderr_to(mut self, end: End) -> Self {
        self.stderr = end;
        self
    }

    /// Runs `kubectl finalizers …`, with the plugin's directory first on PATH.
    pub fn through_kubectl(mut self) -> Self {
        self.through_kubectl = true;
        self
    }

    /// Limits each written file to this many blocks of 512 bytes, as on a nearly full disk.
    pub fn with_room(mut self, blocks: u32) -> Self {
        self.room = Some(blocks);
        self
    }

    /// How long the run may take before it is killed and the test fails; by default a minute.
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the plugin to its end.
    pub fn run(self) -> Output {
        self.spawn().finish()
    }

    /// Starts the plugin on a terminal of its own, with a user at the keyboard.
    pub fn at_terminal(self) -> Session {
        // The tests may run below nohup, and an ignored signal is inherited.
        let mut command = Command::new("/usr/bin/env");
        command.args(["--default-signal=HUP", BINARY]);
        command.args(&self.arguments).env_clear().envs(&self.environment);
        Session::start(command, self.limit)
    }

    /// Starts the plugin, so that the test can interrupt it.
    pub fn spawn(self) -> RunningPlugin {
        let mut command = if self.through_kubectl {
            let mut command = Command::new(binaries::program("kubectl"));
            command.arg("finalizers");
            command
        } else if let Some(blocks) = self.room {
            let mut command = Command::new("sh");
            // With the signal ignored, a write fails as on a full disk.
            let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            command.args(["-c", &limited, BINARY]);
            command
        } else {
            Command::new(BINARY)
        };
        command.args(&self.arguments).env_clear().envs(&self.environment);
        if self.through_kubectl {
            let mut path: Vec<PathBuf> = vec![
                Path::new(BINARY)
                    .parent()
                    .expect("the program is in a folder")
                    .into(),
            ];
            path.extend(
                self.environment
                    .get("PATH")
                    .map(std::env::split_paths)
                    .into_iter()
                    .flatten(),
            );
            command.env(
                "PATH",
                std::env::join_paths(path).expect("folders on PATH hold no colon"),
            );
        }
        RunningPlugin {
            running: Running::start_with(command, self.stdin.as_deref(), self.stdout, self.stderr),
            limit: self.limit,
        }
    }
}

/// A running plugin.
pub struct RunningPlugin {
    running: Running,
    limit: Duration,
}

impl RunningPlugin {
    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.running.child.id()
    }

    /// Sends a signal, such as `Signal::INT` for Ctrl-C.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.running.child);
        kill_process(pid, signal).unwrap_or_else(|error| panic!("cannot send {signal:?}: {error}"));
    }

    /// Waits for its end.
    pub fn finish(self) -> Output {
        self.running.finish(self.limit)
    }
}
