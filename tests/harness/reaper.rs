//! The client of `tests/controlplane/reaper`, which runs programs that cannot outlive the test process.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// A running reaper and its directory. Dropping it kills its programs and removes the directory.
pub struct Reaper {
    child: Child,
    orders: Mutex<Option<ChildStdin>>,
    directory: PathBuf,
    programs: Arc<Programs>,
}

/// The last message about each program, by name.
#[derive(Default)]
struct Programs {
    known: Mutex<BTreeMap<String, State>>,
    changed: Condvar,
}

#[derive(Clone)]
enum State {
    Running(u32),
    Exited(String),
}

impl Reaper {
    /// Starts a reaper with a new directory in `parent`, or in the folder of temporary files.
    pub fn start(program: &Path, parent: Option<&Path>) -> Self {
        let mut command = Command::new(program);
        if let Some(parent) = parent {
            command.env("REAPER_PARENT", parent);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0) // Ctrl-C ends the test, and the reaper must still clean up
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        let orders = Mutex::new(child.stdin.take());
        let mut events = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let first = next_event(&mut events).expect("the reaper names its directory");
        let directory = first["directory"]
            .as_str()
            .expect("the reaper names its directory")
            .into();
        let programs = Arc::new(Programs::default());
        let heard = Arc::clone(&programs);
        std::thread::spawn(move || heard.listen(events));
        Self {
            child,
            orders,
            directory,
            programs,
        }
    }

    /// The reaper's own directory, which is removed after the last program has ended.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Starts a program under an unused name, or one whose program has exited. Its output goes to `log`.
    pub fn run(&self, name: &str, argv: &[String], env: &[String], folder: Option<&Path>, log: &Path) {
        self.programs.known().remove(name);
        self.order(&json!({"run": name, "argv": argv, "env": env, "dir": folder.unwrap_or(&self.directory), "log": log}));
        let state = self
            .programs
            .wait(Duration::from_secs(10), |known| known.get(name).cloned());
        state.unwrap_or_else(|| panic!("the reaper did not start {name}"));
    }

    /// Sends a signal to a program and its children. Does nothing if it has exited.
    pub fn signal(&self, name: &str, signal: Signal) {
        let group = self.pid(name).and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
        if let Some(group) = group {
            // The program may end between the two lines, which makes no difference.
            let _ = kill_process_group(group, signal);
        }
    }

    /// The process id of a running program.
    pub fn pid(&self, name: &str) -> Option<u32> {
        match self.programs.known().get(name)? {
            State::Running(pid) => Some(*pid),
            State::Exited(_) => None,
        }
    }

    /// How a program ended, such as `signal: killed`; `None` if it still runs after `limit`.
    pub fn wait_for_exit(&self, name: &str, limit: Duration) -> Option<String> {
        self.programs.wait(limit, |known| match known.get(name)? {
            State::Running(_) => None,
            State::Exited(how) => Some(how.clone()),
        })
    }

    fn order(&self, order: &Value) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = orders
            .as_mut()
            .expect("the pipe is open until the reaper is dropped");
        writeln!(orders, "{order}").expect("the reaper listens");
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // The end of its input makes it clean up. The wait ensures that the cluster is gone.
        drop(
            self.orders
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let _ = self.child.wait();
    }
}

impl Programs {
    fn known(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, mut events: BufReader<ChildStdout>) {
        while let Some(event) = next_event(&mut events) {
            let text = |field: &str| event[field].as_str().map(str::to_owned);
            let why = text("why").unwrap_or_default();
            if let Some(name) = text("started") {
                let pid = event["pid"]
                    .as_u64()
                    .and_then(|pid| pid.try_into().ok())
                    .unwrap_or_default();
                self.known().insert(name, State::Running(pid));
            } else if let Some(name) = text("exited").or_else(|| text("failed")) {
                self.known().insert(name, State::Exited(why));
            }
            self.changed.notify_all();
        }
        // A reaper that has ended has killed its programs.
        for state in self.known().values_mut() {
            *state = State::Exited("the reaper is gone".to_owned());
        }
        self.changed.notify_all();
    }

    fn wait<T>(&self, limit: Duration, look: impl Fn(&BTreeMap<String, State>) -> Option<T>) -> Option<T> {
        let until = Instant::now() + limit;
        let mut known = self.known();
        loop {
            if let Some(found) = look(&known) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            known = self
                .changed
                .wait_timeout(known, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

fn next_event(events: &mut impl BufRead) -> Option<Value> {
    let mut line = String::new();
    events.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}
