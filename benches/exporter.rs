//! Measures the memory and the requests of `exporter` on a large cluster: `cargo bench --bench exporter`, without a
//! cluster. An in-process fake server makes a million objects of one type, of which each thousandth has a finalizer, and
//! a hundred small types.
//!
//! The claim: the exporter stays under 100 MiB, and asks for nothing while nothing changes. The yardstick for the
//! memory is a scan of the same cluster, which keeps nothing between two pages. `-- --objects 200000` sets another size.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub
)]

#[path = "../tests/fake/server/mod.rs"]
mod fake;
#[path = "../tests/harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "the others compare the times of many runs")]
#[path = "support/measure.rs"]
mod measure;

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use fake::{Fake, Kind, Running, object};
use measure::{PLUGIN, peak_kib, process};

const GROUP: &str = "bench.example.com";
const SMALL: usize = 100;
/// What the exporter may take.
const LIMIT_MIB: f64 = 100.0;
/// The longest that the first look may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Nothing happens in this time.
const IDLE: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|argument| argument == "--objects");
    let objects = at.map_or(1_000_000, |at| arguments[at + 1].parse().expect("a number"));
    let server = cluster(objects);
    let kubeconfig = server.kubeconfig().to_str().unwrap().to_owned();
    println!("{objects} objects, {} types", SMALL + 1);

    let scan = process(PLUGIN, &["scan"], &[("KUBECONFIG", kubeconfig.clone())]);
    println!(
        "scan                    {:5.1} s, peak {:5.1} MiB",
        scan.took.as_secs_f64(),
        mib(scan.peak_kib)
    );

    server.forget_requests();
    let port = harness::ports::free();
    let began = Instant::now();
    let exporter = Stopped(
        Command::new(PLUGIN)
            .args([
                "exporter",
                "--interval",
                "1s",
                "--listen",
                &format!("127.0.0.1:{port}"),
            ])
            .env("KUBECONFIG", &kubeconfig)
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    while !get(port, "/readyz").starts_with("HTTP/1.1 200 ") {
        assert!(began.elapsed() < PATIENCE, "the first look does not end");
        sleep(Duration::from_millis(100));
    }
    let ready = began.elapsed();
    let first = server.requests().len();
    // The first look may begin before the last list has ended.
    sleep(Duration::from_secs(3));
    server.forget_requests();
    sleep(IDLE);
    let idle = server.requests().len();
    let metrics = get(port, "/metrics");
    let peak = mib(peak_kib(exporter.0.id()).unwrap());
    println!(
        "exporter, first look    {:5.1} s, {first} requests",
        ready.as_secs_f64()
    );
    println!(
        "exporter, peak          {peak:5.1} MiB, {:.2} of the scan's",
        peak / mib(scan.peak_kib)
    );
    println!("exporter, {} s idle     {idle} requests", IDLE.as_secs());
    println!("metrics                 {} bytes", metrics.len());
    assert!(metrics.contains(&format!("finalizers_read_objects {}", objects + SMALL)));
    assert!(peak < LIMIT_MIB, "{peak} MiB");
}

/// The generated cluster.
fn cluster(objects: usize) -> Running {
    let mut server = Fake::new().with_type(Kind::new(GROUP, "v1", "things").namespaced());
    for n in 0..SMALL {
        let plural = format!("small{n}s");
        server = server
            .with_type(Kind::new(GROUP, "v1", &plural).namespaced())
            .object(&format!("{plural}.{GROUP}"), object("ns-1", "one"));
    }
    let make = |n: usize| {
        let made = object(&format!("ns-{}", n % 40), &format!("thing-{n}")).usual_managed_fields();
        match n % 1000 {
            0 => made.finalizer("bench.example.com/holds"),
            _ => made,
        }
    };
    server.generate(&format!("things.{GROUP}"), objects, make).start()
}

/// A process that ends with the benchmark.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The whole answer; empty if nothing listens yet.
fn get(port: u16, path: &str) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_to_string(&mut answer).unwrap();
    }
    answer
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
