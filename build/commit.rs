//! Finds the commit that is built, for `version`. The date is that of the commit. The date of the build would make two
//! builds of one commit differ.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Sets `COMMIT` and `COMMIT_DATE` for the program, as far as they are known.
///
/// Only a release tells its commit. In other builds, each commit would compile everything again.
pub(crate) fn tell() {
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return;
    }
    if let Some((commit, date)) = checked_out() {
        println!("cargo::rustc-env=COMMIT={commit}");
        println!("cargo::rustc-env=COMMIT_DATE={date}");
    } else if let Some(commit) = packaged() {
        println!("cargo::rustc-env=COMMIT={commit}");
    }
}

/// The commit of this checkout and its day. A repository around this folder is another one.
fn checked_out() -> Option<(String, String)> {
    if !Path::new(".git").exists() {
        return None;
    }
    // The first changes with a checkout of another branch, the second with each commit.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let line = git(&["log", "-1", "--format=%H %cs"])?;
    let (commit, date) = line.split_once(' ')?;
    Some((commit.to_owned(), date.to_owned()))
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit that `cargo package` wrote down.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let info: serde_json::Value = serde_json::from_str(&text).ok()?;
    info.pointer("/git/sha1")?.as_str().map(str::to_owned)
}
