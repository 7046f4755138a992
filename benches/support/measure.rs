//! Runs a process and measures its time and its peak memory.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::harness::Cluster;

/// The program to measure.
pub const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub took: Duration,
    /// The kernel's high-water mark of resident memory, read for the last time before the process ended.
    pub peak_kib: u64,
}

/// Runs a program to its end and throws away its output; fails if the program does.
pub fn process(program: &str, arguments: &[&str], environment: &[(&str, String)]) -> Measured {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(environment.iter().cloned())
        .env("LANG", "C.UTF-8");
    watch(command)
}

/// Runs the common shell loop with the harness's kubectl.
pub fn pasted_loop(cluster: &Cluster) -> Measured {
    let kubectl = cluster.kubectl_program();
    let mut command = Command::new("sh");
    command
        .env("KUBECONFIG", cluster.kubeconfig())
        .arg("-c")
        .arg(format!(
            "{k} api-resources --verbs=list -o name | \
         xargs -n 1 {k} get --all-namespaces --show-kind --ignore-not-found -o json",
            k = kubectl.display()
        ));
    watch(command)
}

fn watch(mut command: Command) -> Measured {
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let peak_kib = peak(&mut child);
    let took = began.elapsed();
    let status = child.wait().unwrap();
    assert!(status.success(), "{command:?} ended with {status}");
    Measured { took, peak_kib }
}

fn peak(child: &mut Child) -> u64 {
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(peak_kib(child.id()).unwrap_or(0));
        thread::sleep(Duration::from_millis(1));
    }
    peak
}

/// The kernel's high-water mark of the resident memory of a process; none once it has ended.
pub fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Minimum, median and maximum, and the largest peak.
pub fn summary(runs: &[Measured]) -> String {
    let mut times: Vec<f64> = runs.iter().map(|run| run.took.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    let peak = runs.iter().map(|run| run.peak_kib).max().unwrap_or(0) as f64 / 1024.0;
    let (least, most) = (times[0], times[times.len() - 1]);
    format!(
        "{:8.1} ms  ({least:.1} to {most:.1}), peak {peak:.1} MiB",
        median(runs)
    )
}

/// How many times longer one took than the other, as the median of adjacent pairs, so that a busy machine
/// affects both equally.
pub fn ratio(one: &[Measured], other: &[Measured]) -> f64 {
    let mut ratios: Vec<f64> = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.took.as_secs_f64() / other.took.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn median(runs: &[Measured]) -> f64 {
    let mut times: Vec<f64> = runs.iter().map(|run| run.took.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
