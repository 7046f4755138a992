//! The workflows of GitHub, as far as they can be tried here.

use std::{fs, os::unix::fs::symlink, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::{PACKAGE, read, root};
use crate::harness::program;

/// What actionlint says of a file, and whether it accepts it. It runs no other checkers.
fn linted(file: &std::path::Path) -> (bool, String) {
    let out = Command::new(program("actionlint"))
        .args(["-shellcheck=", "-pyflakes=", "-no-color"])
        .arg(file)
        .output()
        .unwrap();
    (out.status.success(), String::from_utf8(out.stdout).unwrap())
}

#[test]
fn actionlint_accepts_the_workflows() {
    let folder = TempDir::new().unwrap();
    let mut checked = 0;
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let (accepted, said) = linted(&path);
        assert!(accepted, "{said}");
        checked += 1;

        // It finds a fault in each.
        let faulty = folder.path().join(path.file_name().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&faulty, text.replace("runs-on:", "run-on:")).unwrap();
        let (accepted, said) = linted(&faulty);
        assert!(!accepted && said.contains("runs-on"), "{said}");
    }
    assert!(checked >= 2, "only {checked} workflows were found");
}

/// The commands of a step by its name.
fn step(workflow: &Value, job: &str, name: &str) -> String {
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name);
    step.unwrap_or_else(|| panic!("{job} has no step {name}"))["run"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The step that tries an archive runs on the archive for this machine. The other steps need a runner's zig, tokens or a
/// release.
#[test]
fn the_step_that_tries_an_archive_runs() {
    let workflow = read(&root().join(".github/workflows/release.yml"));
    let commands = step(&workflow, "archive", "Try the archive where it was made");
    let place = TempDir::new().unwrap();
    fs::create_dir(place.path().join("out")).unwrap();
    let name = PACKAGE.archive.file_name().unwrap();
    symlink(&PACKAGE.archive, place.path().join("out").join(name)).unwrap();
    symlink(root().join("examples"), place.path().join("examples")).unwrap();
    let run = |commands: &str| {
        // As GitHub runs `shell: bash`.
        Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", commands])
            .current_dir(place.path())
            .env("TARGET", "x86_64-unknown-linux-gnu")
            .output()
            .unwrap()
    };
    let out = run(&commands);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(
        said.starts_with("kubectl finalizers ")
            && said.contains("objects stuck")
            && said.contains("pv-protection"),
        "{said}"
    );
    fs::remove_dir_all(place.path().join("try")).unwrap();
    let out = run(&commands.replace("kubectl-finalizers", "no-such-program"));
    assert!(!out.status.success());
}
