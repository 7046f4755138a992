//! A program of the cluster that can be stopped, killed, paused and restarted.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::reaper::Reaper;

/// How long a program may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Go collects garbage when the heap has doubled. These programs live for minutes on a machine with memory to spare, so
/// it may grow to five times its size first: the tests then wait less for the processors.
const COLLECTS_LESS: &str = "GOGC=400";

/// A program with fixed arguments, so that a start is always a restart of the same program.
pub struct Component {
    name: String,
    argv: Vec<String>,
    log: PathBuf,
    reaper: Arc<Reaper>,
    ready: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Component {
    /// Describes a program without starting it. `name` is unique in the cluster and names the log.
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

    /// A condition that must hold before `start` returns.
    pub(super) fn ready_when(mut self, ready: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.ready = Some(Box::new(ready));
        self
    }

    /// Starts the program and waits until it is ready, if it has a condition. On failure it prints the end of
    /// the log.
    pub fn start(&self) {
        self.try_start().unwrap_or_else(|why| panic!("{why}"));
    }

    pub(super) fn try_start(&self) -> Result<(), String> {
        assert!(!self.is_running(), "{} is already running", self.name);
        self.reaper.run(
            &self.name,
            &self.argv,
            &[COLLECTS_LESS.to_owned()],
            None,
            &self.log,
        );
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
                return Err(self.exit_report().unwrap_or_default());
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

    /// How the program ended, if it did, and the end of its log.
    pub(super) fn exit_report(&self) -> Option<String> {
        let how = self.reaper.wait_for_exit(&self.name, Duration::ZERO)?;
        Some(format!("{} ended ({how}):\n{}", self.name, self.last_words()))
    }

    /// Stops the program with SIGTERM and waits for its end.
    pub fn stop(&self) {
        self.end(Signal::TERM);
    }

    /// Kills the program with SIGKILL, as a crash or the OOM killer does.
    pub fn kill(&self) {
        self.end(Signal::KILL);
    }

    fn end(&self, signal: Signal) {
        self.reaper.signal(&self.name, signal);
        self.reaper
            .wait_for_exit(&self.name, PATIENCE)
            .unwrap_or_else(|| panic!("{} still runs {PATIENCE:?} after {signal:?}", self.name));
    }

    /// Pauses the program with SIGSTOP: it keeps its connections and does not respond.
    pub fn pause(&self) {
        self.reaper.signal(&self.name, Signal::STOP);
    }

    /// Resumes a paused program.
    pub fn resume(&self) {
        self.reaper.signal(&self.name, Signal::CONT);
    }

    /// Replaces a paused program by a new process. A program with a Lease that was paused for longer than the Lease
    /// is valid has lost it, and ends as soon as it resumes.
    pub fn replace(&self) {
        self.kill();
        self.start();
    }

    /// Whether the process exists, even if paused.
    pub fn is_running(&self) -> bool {
        self.pid().is_some()
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.reaper.pid(&self.name)
    }

    /// The whole log since the cluster started.
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
