//! Start and end of clusters when something fails. These tests run the test binary itself again.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use crate::harness::{Cluster, cache_directory, wait};

const SOON: Duration = Duration::from_secs(20);

/// Runs one test of this binary in a process of its own.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        &format!("controlplane::{test}"),
        "--exact",
        "--include-ignored",
        "--nocapture",
    ]);
    command.env_remove("KUBEBUILDER_ASSETS");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// An empty folder that exists as long as the shared cluster.
fn folder(name: &str) -> PathBuf {
    let folder = Cluster::shared().directory().join(name);
    fs::create_dir(&folder).unwrap();
    folder
}

#[test]
fn no_process_survives_a_killed_test() {
    let mut test = again("lifetime::holds_a_cluster")
        .env("HOLD_A_CLUSTER", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(test.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let facts = lines
        .find_map(|line| Some(line.split_once("holds: ")?.1.to_owned()))
        .expect("the program starts");
    let facts: Vec<_> = facts.split(' ').collect();
    let (directory, port, pids) = (Path::new(facts[0]), facts[1].parse::<u16>().unwrap(), &facts[2..]);
    let running = || {
        pids.iter()
            .filter(|pid| Path::new("/proc").join(pid).exists())
            .count()
    };
    assert!(directory.exists());
    assert_eq!(running(), 3);

    test.kill().unwrap();
    test.wait().unwrap();
    wait("the three programs are gone, even the paused one", SOON, || {
        running() == 0
    });
    wait("its directory is gone", SOON, || !directory.exists());
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
}

#[test]
#[ignore = "a part of no_process_survives_a_killed_test, which kills it"]
fn holds_a_cluster() {
    if std::env::var_os("HOLD_A_CLUSTER").is_none() {
        return; // a run with --include-ignored, which is not meant for this
    }
    let cluster = Cluster::start();
    cluster.etcd().pause();
    let components = [cluster.etcd(), cluster.api_server(), cluster.controller_manager()];
    let pids = components
        .map(|component| component.pid().unwrap().to_string())
        .join(" ");
    let port = cluster.url().rsplit(':').next().unwrap().to_owned();
    // Not println!, because the test runner may buffer it.
    writeln!(
        std::io::stdout(),
        "holds: {} {port} {pids}",
        cluster.directory().display()
    )
    .unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn the_logs_of_a_failed_test_are_kept() {
    let test = format!("a_failing_test.{}", std::process::id());
    let fails = || {
        let _ns = Cluster::shared().namespace("doomed");
        panic!("meant to fail");
    };
    thread::Builder::new()
        .name(format!("suite::{test}"))
        .spawn(fails)
        .unwrap()
        .join()
        .unwrap_err();
    let kept = cache_directory().join(format!("logs/suite.{test}"));
    for program in ["etcd", "kube-apiserver", "kube-controller-manager"] {
        assert!(fs::metadata(kept.join(format!("{program}.log"))).unwrap().len() > 0);
    }
    fs::remove_dir_all(kept).unwrap();
}

#[test]
fn without_go_a_test_fails_with_one_clear_sentence() {
    let output = again("kubectl_reaches_the_cluster")
        .env("PATH", "")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = said(&output);
    assert!(
        text.contains("need Go 1.26 or newer on PATH (https://go.dev/dl)"),
        "{text}"
    );
}

#[test]
fn programs_of_kubebuilder_assets_are_preferred() {
    let assets = folder("assets");
    let fake = assets.join("kube-apiserver");
    fs::write(&fake, "#!/bin/sh\necho ready-made\nexit 3\n").unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let output = again("kubectl_reaches_the_cluster")
        .env("KUBEBUILDER_ASSETS", assets)
        .output()
        .unwrap();
    let text = said(&output);
    assert!(
        text.contains("kube-apiserver ended (exit status 3):\nready-made"),
        "{text}"
    );
}

#[test]
fn a_killed_build_leaves_no_files() {
    let cache = folder("cold-cache");
    let mut test = again("kubectl_reaches_the_cluster")
        .env("FINALIZERS_CONTROLPLANE_CACHE", &cache)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(test.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    lines
        .find(|line| line.contains("building kubernetes"))
        .expect("progress is reported during the build");
    test.kill().unwrap();
    test.wait().unwrap();
    let left = || -> Vec<_> {
        let entries = fs::read_dir(&cache)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries
            .filter(|name| name != "lock" && !name.starts_with("reaper-"))
            .collect()
    };
    wait("the compiler and its files are gone", SOON, || left().is_empty());
}
