//! Where built programs and the logs of failed tests are kept, and how people hear about it.

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

/// Replaces `target/controlplane`, so that several checkouts can share one build.
const CACHE_VARIABLE: &str = "FINALIZERS_CONTROLPLANE_CACHE";

/// The cache directory; it exists when this returns.
pub fn directory() -> PathBuf {
    let path = match env::var_os(CACHE_VARIABLE) {
        // Builds run in their module's folder, where a relative path would mean something else.
        Some(path) => std::path::absolute(path).expect("the cache directory has a name"),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("controlplane"),
    };
    fs::create_dir_all(&path)
        .unwrap_or_else(|error| panic!("cannot make the cache directory {}: {error}", path.display()));
    path
}

/// Only one test process at a time builds; the kernel drops the lock when its holder ends, however it ends.
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

/// Writes a line to the real standard error: the test runner swallows what `eprintln!` says until a test
/// fails, and a silent wait of minutes looks like a hang.
pub fn say(line: &str) {
    // Nobody to tell is no reason to fail.
    let _ = writeln!(std::io::stderr(), "control plane: {line}");
}
