//! The folder of built programs and of failed tests' logs, and messages about them.

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

/// Replaces `target/controlplane`, so that several checkouts can share the builds.
const CACHE_VARIABLE: &str = "FINALIZERS_CONTROLPLANE_CACHE";

/// The cache folder. Creates it if necessary.
pub fn directory() -> PathBuf {
    let path = match env::var_os(CACHE_VARIABLE) {
        // Builds run in the folder of their module, where a relative path would be wrong.
        Some(path) => std::path::absolute(path).expect("the cache directory has a name"),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("controlplane"),
    };
    fs::create_dir_all(&path)
        .unwrap_or_else(|error| panic!("cannot make the cache directory {}: {error}", path.display()));
    path
}

/// Only one test process builds at a time. The kernel releases the lock when its holder ends in any way.
pub fn lock() -> File {
    let path = directory().join("lock");
    let file = File::create(&path).unwrap_or_else(|error| panic!("cannot open {}: {error}", path.display()));
    if file.try_lock().is_err() {
        say("waiting for another test run that is building the control plane …");
        file.lock()
            .unwrap_or_else(|error| panic!("cannot lock {}: {error}", path.display()));
    }
    file
}

/// Writes a line to the real standard error. The test runner hides `eprintln!` until a test fails, and minutes
/// of silence look like a hang.
pub fn say(line: &str) {
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "control plane: {line}");
}
