//! What a fleet costs: one `scan` of many clusters, and the metrics that their exporters send. `scripts/long fleet` runs it, and
//! docs/fleet.md has its figures.

use std::{
    env,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::server::{Fake, Kind, Running, cluster_object, object};

const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");
/// How often the scan is measured; the median counts.
const ROUNDS: usize = 3;
/// Types of operators in each cluster, ten objects each.
const OPERATORS: usize = 40;

/// A small cluster of 45 types and 820 objects. In every tenth one, five objects of one operator are stuck.
fn cluster(number: usize) -> Running {
    let namespace = |index: usize| format!("team-{}", index % 20);
    let mut fake = Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
        .with_type(Kind::new("", "v1", "nodes").kind("Node"))
        .with_type(Kind::new("", "v1", "pods").kind("Pod").namespaced())
        .with_type(Kind::new("", "v1", "persistentvolumes").kind("PersistentVolume"))
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .generate("namespaces", 20, move |index| cluster_object(&namespace(index)))
        .generate("nodes", 20, |index| cluster_object(&format!("node-{index}")))
        .generate("pods", 300, move |index| {
            object(&namespace(index), &format!("web-{index}")).usual_managed_fields()
        })
        .generate("persistentvolumes", 40, |index| {
            cluster_object(&format!("pv-{index}")).finalizer("kubernetes.io/pv-protection")
        })
        .generate("persistentvolumeclaims", 40, move |index| {
            object(&namespace(index), &format!("data-{index}")).finalizer("kubernetes.io/pvc-protection")
        });
    for operator in 0..OPERATORS {
        let group = format!("operator-{operator}.example.com");
        let finalizer = format!("{group}/cleanup");
        let is_stuck = number.is_multiple_of(10) && operator == 0;
        fake = fake
            .with_type(Kind::new(&group, "v1", "things").namespaced())
            .generate(&format!("things.{group}"), 10, move |index| {
                let thing = object(&namespace(index), &format!("thing-{index}")).usual_managed_fields();
                match index {
                    0..5 if is_stuck => thing.finalizer(&finalizer).deleting("2026-01-01T00:00:00Z"),
                    0..5 => thing.finalizer(&finalizer),
                    _ => thing,
                }
            });
    }
    fake.start()
}

/// A kubeconfig with all of them.
fn kubeconfig(servers: &[Running]) -> String {
    let (mut clusters, mut contexts) = (String::new(), String::new());
    for (number, server) in servers.iter().enumerate() {
        let url = server.url();
        writeln!(clusters, "- {{name: c{number}, cluster: {{server: '{url}'}}}}").unwrap();
        writeln!(
            contexts,
            "- {{name: c{number}, context: {{cluster: c{number}, user: me}}}}"
        )
        .unwrap();
    }
    format!(
        "apiVersion: v1\nkind: Config\nusers: [{{name: me, user: {{}}}}]\nclusters:\n{clusters}contexts:\n{contexts}"
    )
}

fn plugin(kubeconfig: &Path, words: &[&str]) -> Command {
    let mut plugin = Command::new(PLUGIN);
    plugin
        .args(words)
        .env("KUBECONFIG", kubeconfig)
        .env("LC_ALL", "C");
    plugin
}

fn scan(kubeconfig: &Path, words: &[&str]) -> (Duration, Value) {
    let began = Instant::now();
    let out = plugin(kubeconfig, &[&["scan", "-o", "json"], words].concat())
        .output()
        .unwrap();
    let took = began.elapsed();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    (took, serde_json::from_slice(&out.stdout).unwrap())
}

fn median(mut times: Vec<Duration>) -> u128 {
    times.sort();
    times[times.len() / 2].as_millis()
}

/// An exporter, which ends when it is dropped.
struct Exporter(Child);

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The metrics of a cluster after the first look.
fn metrics(server: &Running) -> String {
    let mut process = plugin(server.kubeconfig(), &["exporter", "--listen", "127.0.0.1:0"]);
    let mut exporter = Exporter(process.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    let stderr = exporter.0.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut said).unwrap();
    let address = said.split_once("http://").unwrap().1.split('/').next().unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let patience = Instant::now();
    while !get("/readyz").starts_with("HTTP/1.1 200 ") {
        assert!(patience.elapsed() < Duration::from_secs(30), "{said}");
        std::thread::sleep(Duration::from_millis(10));
    }
    get("/metrics").split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
#[ignore = "scripts/long fleet runs it, and measures"]
fn a_fleet_is_scanned_at_once_and_its_exporters_send_little() {
    let count = env::var("CLUSTERS").map_or(100, |count| count.parse().unwrap());
    let servers: Vec<_> = (0..count).map(cluster).collect();
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("config");
    std::fs::write(&all, kubeconfig(&servers)).unwrap();

    let mut at_once = Vec::new();
    let mut report = Value::Null;
    for _ in 0..ROUNDS {
        let (took, found) = scan(&all, &["--all-contexts"]);
        at_once.push(took);
        report = found;
    }
    assert_eq!(report["complete"], true);
    assert_eq!(report["totals"]["clusters"], count);
    let stuck = count.div_ceil(10) * 5;
    assert_eq!(report["totals"]["stuck"], stuck);
    let requests: usize = servers.iter().map(|server| server.requests().len()).sum();
    let requests = requests / ROUNDS / count;
    let each: Vec<_> = servers
        .iter()
        .map(|server| scan(server.kubeconfig(), &[]).0)
        .collect();
    let one_by_one: Duration = each.iter().sum();

    let texts: Vec<_> = servers.iter().map(metrics).collect();
    let samples: usize = texts
        .iter()
        .map(|text| text.lines().filter(|line| !line.starts_with('#')).count())
        .sum();
    let bytes: usize = texts.iter().map(String::len).sum();
    eprintln!(
        "counted: clusters={count} stuck={stuck} scan-ms={} one-by-one-ms={} requests-each={requests} series={samples} bytes={bytes}",
        median(at_once),
        one_by_one.as_millis(),
    );
}
