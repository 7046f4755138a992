//! One program of the cluster, to be stopped, killed, paused and started again.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::reaper::Reaper;

/// How long a program may take to begin or to end before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program with fixed arguments: starting it again is a restart of the same thing.
pub struct Component {
    name: String,
    argv: Vec<String>,
    log: PathBuf,
    reaper: Arc<Reaper>,
    ready: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Component {
    /// Describes a program; nothing runs yet. `name` is unique within the cluster and names the log.
    pub(super) fn new(reaper: &Arc<Reaper>, name: &str, program: &Path, arguments: Vec<String>) -> Self {
        let mut argv = vec![program.display().to_string()];
        argv.extend(arguments);
        let log = reaper.directory().join("logs").join(format!("{name}.log"));
        Self {
            name: name.to_owned(),
            argv,
            log,
            reaper: Arc::clone(reaper),
            ready: None,
        }
    }

    /// What must hold before `start` returns.
    pub(super) fn ready_when(mut self, ready: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.ready = Some(Box::new(ready));
        self
    }

    /// Starts the program and waits until it is ready, where it can be asked. Fails with its last words.
    pub fn start(&self) {
        self.try_start().unwrap_or_else(|why| panic!("{why}"));
    }

    pub(super) fn try_start(&self) -> Result<(), String> {
        assert!(!self.is_running(), "{} is already running", self.name);
        self.reaper.run(&self.name, &self.argv, &[], None, &self.log);
        let began = Instant::now();
        while let Some(ready) = &self.ready {
            if ready() {
                break;
            }
            if self
                .reaper
                .wait_for_exit(&self.name, Duration::from_millis(100))
                .is_some()
            {
                return Err(self.epitaph().unwrap_or_default());
            }
            if began.elapsed() > PATIENCE {
                return Err(format!(
                    "{} is not ready after {PATIENCE:?}:\n{}",
                    self.name,
                    self.last_words()
                ));
            }
        }
        Ok(())
    }

    /// How it ended, if it did, and its last words.
    pub(super) fn epitaph(&self) -> Option<String> {
        let how = self.reaper.wait_for_exit(&self.name, Duration::ZERO)?;
        Some(format!("{} ended ({how}):\n{}", self.name, self.last_words()))
    }

    /// Asks the program to end (SIGTERM) and waits until it has.
    pub fn stop(&self) {
        self.end(Signal::TERM);
    }

    /// Ends the program at once (SIGKILL), as a crash or an out-of-memory kill would.
    pub fn kill(&self) {
        self.end(Signal::KILL);
    }

    fn end(&self, signal: Signal) {
        self.reaper.signal(&self.name, signal);
        self.reaper
            .wait_for_exit(&self.name, PATIENCE)
            .unwrap_or_else(|| panic!("{} still runs {PATIENCE:?} after {signal:?}", self.name));
    }

    /// Freezes the program (SIGSTOP): it holds its connections and answers nothing.
    pub fn pause(&self) {
        self.reaper.signal(&self.name, Signal::STOP);
    }

    /// Lets a paused program go on.
    pub fn resume(&self) {
        self.reaper.signal(&self.name, Signal::CONT);
    }

    /// Whether the process exists; a paused one does.
    pub fn is_running(&self) -> bool {
        self.pid().is_some()
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.reaper.pid(&self.name)
    }

    /// All that the program has printed since the cluster began.
    pub fn log(&self) -> String {
        fs::read(&self.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    fn last_words(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}
