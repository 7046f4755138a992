//! Keeps the logs of a failed test after its cluster is gone.

use std::{cell::Cell, fs, path::Path, thread};

use super::cache;

/// If this thread is panicking, copies the components' logs to `target/controlplane/logs/<test>` and says so.
///
/// Called where clusters, namespaces and drivers are dropped, because the shared cluster itself is never
/// dropped.
pub fn keep_if_failing(directory: &Path) {
    thread_local!(static KEPT: Cell<bool> = const { Cell::new(false) });
    if !thread::panicking() || KEPT.replace(true) {
        return;
    }
    let current = thread::current();
    let test = current.name().unwrap_or("unnamed").replace("::", ".");
    let goal = cache::directory().join("logs").join(test);
    // Logs of an earlier failure would mislead.
    let _ = fs::remove_dir_all(&goal);
    match copy(&directory.join("logs"), &goal) {
        Ok(()) => cache::say(&format!("logs of the failed test: {}", goal.display())),
        // A second panic while unwinding would abort the whole test run.
        Err(error) => cache::say(&format!("cannot keep the logs in {}: {error}", goal.display())),
    }
}

fn copy(logs: &Path, goal: &Path) -> std::io::Result<()> {
    fs::create_dir_all(goal)?;
    for log in fs::read_dir(logs)? {
        let log = log?;
        fs::copy(log.path(), goal.join(log.file_name()))?;
    }
    Ok(())
}
