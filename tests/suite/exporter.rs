//! `exporter` as a process: what it serves, what it keeps when the cluster is out of reach, and how it ends. The server is
//! the fake, because a real one cannot be killed while others use it.

mod alerts;
mod live;
mod manifests;
mod prometheus;
mod prometheus_operator;
mod rights;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    thread::sleep,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    faults::fake::{Fake, Fault, Kind, Running, cluster_object, object, status},
    harness::{Plugin, RunningPlugin, Signal, ports, wait},
};

const SOON: Duration = Duration::from_secs(20);

/// Two stuck claims, a finalizer that is only in use, and a type that cannot be read.
fn cluster() -> Running {
    let claim = |name: &str| {
        object("db", name)
            .finalizer("kubernetes.io/pvc-protection")
            .deleting("2026-01-01T00:00:00Z")
    };
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
        .with_type(Kind::new("", "v1", "pods").kind("Pod").namespaced())
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .with_type(Kind::new("example.com", "v1", "widgets").namespaced())
        .with_type(Kind::new("example.com", "v1", "hidden"))
        .object("namespaces", cluster_object("db"))
        .object("persistentvolumeclaims", claim("data-0"))
        .object("persistentvolumeclaims", claim("data-1"))
        .object(
            "widgets.example.com",
            object("db", "w").finalizer("example.com/keep"),
        )
        .on(
            "/apis/example.com/v1/hidden",
            Fault::Status(status(403, "Forbidden", "no")),
        )
        .clock_at("2026-01-01T01:00:00Z")
        .start()
}

/// A running exporter.
struct Exporter {
    port: u16,
    process: RunningPlugin,
}

/// The whole answer to a GET, or nothing if nobody listens there yet.
fn get(port: u16, path: &str, accept: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

impl Exporter {
    /// An exporter of a fake server, which answers at once or never.
    fn start(server: &Running, more: &[&str]) -> Self {
        let words = ["--request-timeout", "2s"];
        Exporter::of(server.kubeconfig(), &[&words, more].concat())
    }

    fn of(kubeconfig: &Path, more: &[&str]) -> Self {
        let port = ports::free();
        let listen = format!("127.0.0.1:{port}");
        let words = ["exporter", "--listen", &listen, "--interval", "1s"];
        let process = Plugin::new(words.iter().chain(more).copied())
            .kubeconfig(kubeconfig)
            .spawn();
        Exporter { port, process }
    }

    fn get(&self, path: &str, accept: &str) -> Option<String> {
        get(self.port, path, accept)
    }

    fn metrics(&self) -> String {
        self.get("/metrics", "text/plain").unwrap()
    }

    fn is_ready(&self) -> bool {
        self.get("/readyz", "*/*")
            .is_some_and(|answer| answer.starts_with("HTTP/1.1 200 "))
    }

    fn wait_until_ready(&self) {
        wait("the exporter has looked", SOON, || self.is_ready());
    }

    fn end(self, signal: Signal) {
        self.process.signal(signal);
        let out = self.process.finish();
        assert_eq!((out.code, out.stdout.as_str()), (0, ""), "{out}");
    }
}

/// The metrics of the cluster, without those of the exporter itself.
fn of_the_cluster(metrics: &str) -> Vec<&str> {
    let own = [
        "finalizers_look",
        "finalizers_requests",
        "finalizers_build",
        "finalizers_watched",
        // It grows with the time.
        "finalizers_deletion_oldest",
    ];
    let is_own = |line: &&str| own.iter().any(|name| line.starts_with(name));
    metrics
        .lines()
        .filter(|line| line.starts_with("finalizers_") && !is_own(line))
        .collect()
}

#[test]
fn the_last_values_stay_when_the_cluster_is_out_of_reach() {
    let server = cluster();
    let exporter = Exporter::start(&server, &[]);
    exporter.wait_until_ready();
    let before = exporter.metrics();
    for line in [
        "finalizers_look_succeeded 1",
        "finalizers_look_failures_total 0",
        "finalizers_in_use_objects{finalizer=\"example.com/keep\",resource=\"widgets\",group=\"example.com\"} 1",
        "finalizers_gaps{stage=\"scan\",what=\"type\",name=\"hidden.example.com\",reason=\"Forbidden\"} 1",
    ] {
        assert!(before.lines().any(|found| found == line), "{line}\n{before}");
    }
    let age = before.lines().find_map(|line| {
        line.strip_prefix(
            "finalizers_deletion_oldest_seconds{resource=\"persistentvolumeclaims\",group=\"\",cause=\"storage/pvc_protection\"} ",
        )
    });
    let age: f64 = age.unwrap().parse().unwrap();
    assert!((3600.0..3660.0).contains(&age), "{age}");
    let claims = before
        .lines()
        .find(|line| line.starts_with("finalizers_deletion_objects{"))
        .unwrap();
    assert!(
        claims.contains("resource=\"persistentvolumeclaims\",group=\"\",namespace=\"db\",verdict=\"")
            && claims.contains("cause=\"storage/pvc_protection\"")
            && claims.contains("finalizer=\"kubernetes.io/pvc-protection\"")
            && claims.ends_with("} 2"),
        "{claims}"
    );
    assert!(!before.contains("data-0"), "{before}");
    let writes = server.requests();
    let writes = writes.iter().filter(|request| request.method != "GET");
    assert!(
        writes.clone().all(|request| request.path().contains("reviews")),
        "{:?}",
        writes.collect::<Vec<_>>()
    );

    drop(server);
    wait("a look fails", SOON, || {
        exporter.metrics().contains("finalizers_look_succeeded 0")
    });
    let after = exporter.metrics();
    assert_eq!(of_the_cluster(&before), of_the_cluster(&after));
    assert!(!after.contains("finalizers_look_failures_total 0"), "{after}");
    assert!(exporter.is_ready());
    assert!(
        exporter
            .get("/healthz", "*/*")
            .unwrap()
            .starts_with("HTTP/1.1 200 ")
    );
    exporter.end(Signal::TERM);
}

#[test]
fn the_exporter_tells_what_it_takes_itself() {
    let server = cluster();
    let exporter = Exporter::start(&server, &[]);
    exporter.wait_until_ready();
    let value = |name: &str| -> f64 {
        let metrics = exporter.metrics();
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}\n{metrics}"))
            .trim()
            .parse()
            .unwrap()
    };
    // The kernel counts the same in another file, in kB.
    let status = fs::read_to_string(format!("/proc/{}/status", exporter.process.id())).unwrap();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let resident: f64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    let told = value("process_resident_memory_bytes ") / 1024.0;
    assert!((told / resident - 1.0).abs() < 0.2, "{told} {resident}");

    let before = value("process_cpu_seconds_total ");
    wait("it takes time on a processor", SOON, || {
        value("process_cpu_seconds_total ") > before
    });
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let age = now - value("process_start_time_seconds ");
    assert!((0.0..60.0).contains(&age), "{age}");
    exporter.end(Signal::TERM);
}

#[test]
fn nothing_is_asked_while_nothing_changes() {
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
        .with_type(Kind::new("", "v1", "configmaps").kind("ConfigMap").namespaced())
        .object("namespaces", cluster_object("db"))
        .object(
            "configmaps",
            object("db", "held")
                .finalizer("example.com/held")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .start();
    let exporter = Exporter::start(&server, &[]);
    exporter.wait_until_ready();
    // The first look may begin before the last list has ended.
    sleep(Duration::from_secs(2));
    server.forget_requests();
    sleep(Duration::from_secs(3));
    let asked = server.requests();
    assert!(asked.is_empty(), "{asked:?}");
    let metrics = exporter.metrics();
    assert!(
        metrics.contains("finalizers_deletion_objects{resource=\"configmaps\""),
        "{metrics}"
    );
    exporter.end(Signal::TERM);
}

#[test]
fn the_client_chooses_the_format_and_names_are_there_on_request() {
    let server = cluster();
    let exporter = Exporter::start(&server, &["--names"]);
    exporter.wait_until_ready();
    let text = exporter.metrics();
    assert!(text.contains("content-type: text/plain; version=0.0.4"), "{text}");
    let command = "command=\"kubectl finalizers explain pvc/data-0 -n db\"";
    assert!(text.contains(command), "{text}");
    let open = exporter
        .get("/metrics", "application/openmetrics-text; version=1.0.0")
        .unwrap();
    assert!(
        open.contains("content-type: application/openmetrics-text"),
        "{open}"
    );
    assert!(open.trim_end().ends_with("# EOF"), "{open}");
    exporter.end(Signal::INT);
}

#[test]
fn an_exporter_that_never_saw_the_cluster_says_so() {
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .on("/*", Fault::Status(status(401, "Unauthorized", "no")))
        .start();
    let exporter = Exporter::start(&server, &[]);
    wait("a look fails", SOON, || {
        exporter
            .get("/metrics", "*/*")
            .is_some_and(|metrics| metrics.contains("finalizers_look_succeeded 0"))
    });
    assert!(!exporter.is_ready());
    assert!(of_the_cluster(&exporter.metrics()).is_empty());
    exporter.process.signal(Signal::TERM);
    let out = exporter.process.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(out.stderr.matches("a look failed").count(), 1, "{out}");
}

#[test]
fn a_wrong_flag_or_a_taken_port_ends_it_at_once() {
    let server = cluster();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (words, said) in [
        (["--listen", taken.as_str()], "cannot listen at"),
        (["--interval", "0"], "the shortest is 1s"),
        (["--interval", "soon"], "is not a duration"),
        (["--listen", "9836"], "invalid"),
    ] {
        let out = Plugin::new(["exporter"].into_iter().chain(words))
            .kubeconfig(server.kubeconfig())
            .run();
        assert_eq!(out.code, 2, "{words:?}: {out}");
        assert!(out.stderr.contains(said), "{words:?}: {out}");
    }
}
