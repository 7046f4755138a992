//! Measures the time and the memory of `scan`, always against a yardstick in the same run.
//!
//! `cargo bench --bench scan` fills a real control plane with 20,000 objects of about 160 types and measures
//! repeatedly, in turn:
//! - (a) the yardstick: the same pages, requested in the same form with the same parallelism, thrown away;
//! - (b) `scan`;
//! - (c) the loop that people paste: `kubectl api-resources | xargs kubectl get`.
//!
//! `-- --objects 200000` sets another size, and `-- --rounds 3` another number of rounds. With
//! `-- --generated 1000000`, an in-process fake server makes the pages, because filling a real one that far
//! takes too long. It also counts the requests.

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
#[path = "support/fill.rs"]
mod fill;
#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/yardstick.rs"]
mod yardstick;

use std::path::Path;

use fake::{Fake, Kind};
use harness::{Cluster, Options};
use measure::{Measured, process, ratio, summary};
use yardstick::Form;

fn main() {
    if let Some(job) = yardstick::job() {
        return yardstick::run(&job);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str, otherwise: usize| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map_or(otherwise, |at| {
            arguments
                .get(at + 1)
                .and_then(|n| n.parse().ok())
                .expect("a number")
        })
    };
    let (objects, rounds) = (number("--objects", 20_000), number("--rounds", 7));

    let help: Vec<_> = (0..20)
        .map(|_| process(measure::PLUGIN, &["--help"], &[]))
        .collect();
    println!("--help                      {}", summary(&help));

    let generated = number("--generated", 0);
    if generated > 0 {
        return of_generated(generated, rounds);
    }
    // Without the controller manager, nothing else sends requests during the measurement.
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    eprintln!("filling the cluster with {objects} objects ...");
    fill::fill(&cluster, objects);
    of_cluster(&cluster, objects, rounds);
}

/// Measures against generated pages that are never stored: one large type and a hundred small ones.
fn of_generated(objects: usize, rounds: usize) {
    const SMALL: usize = 100;
    let large = "things.bench.example.com";
    let mut server = Fake::new().with_type(Kind::new("bench.example.com", "v1", "things").namespaced());
    for n in 0..SMALL {
        let plural = format!("small{n}s");
        server = server.with_type(Kind::new("bench.example.com", "v1", &plural).namespaced());
        server = server.object(
            &format!("{plural}.bench.example.com"),
            fake::object("ns-1", "one"),
        );
    }
    let server = server.generate(large, objects, |n| {
        let made = fake::object(&format!("ns-{}", n % 40), &format!("thing-{n}")).usual_managed_fields();
        if n % 50 == 0 {
            made.finalizer("bench.example.com/holds")
        } else {
            made
        }
    });
    let server = server.start();
    let paths: Vec<String> = (0..SMALL)
        .map(|n| format!("small{n}s"))
        .chain(["things".to_owned()])
        .map(|plural| format!("/apis/bench.example.com/v1/{plural}"))
        .collect();
    in_turn(server.kubeconfig(), &paths, objects, rounds);
    server.forget_requests();
    process(
        measure::PLUGIN,
        &["scan"],
        &[("KUBECONFIG", yardstick::text(server.kubeconfig()))],
    );
    let requests = server.requests();
    let discovery = requests
        .iter()
        .filter(|request| matches!(request.path(), "/api" | "/apis"))
        .count();
    println!(
        "requests                    {} for {} pages, {discovery} of them discovery",
        requests.len(),
        requests.len() - discovery
    );
}

fn of_cluster(cluster: &Cluster, objects: usize, rounds: usize) {
    let scans = in_turn(cluster.kubeconfig(), &yardstick::paths(cluster), objects, rounds);
    if objects <= 20_000 {
        let pasted = [measure::pasted_loop(cluster)];
        println!("(c)  the pasted loop        {}", summary(&pasted));
        println!("(c)/(b)                     {:.0}", ratio(&pasted, &scans));
    }
}

/// Measures yardsticks and scan in turn, and prints how they compare.
fn in_turn(kubeconfig: &Path, paths: &[String], objects: usize, rounds: usize) -> Vec<Measured> {
    let environment = [("KUBECONFIG", yardstick::text(kubeconfig))];
    let scan = || process(measure::PLUGIN, &["scan"], &environment);
    // One run without measuring, so that the server's caches are equally warm for all runs.
    scan();
    let (mut protobuf, mut json, mut scans) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        protobuf.push(yardstick::measure(kubeconfig, paths, Form::Protobuf));
        json.push(yardstick::measure(kubeconfig, paths, Form::Json));
        scans.push(scan());
    }
    println!(
        "{objects} objects, {} types, {rounds} rounds in turn",
        paths.len()
    );
    println!("(a)  same pages, protobuf   {}", summary(&protobuf));
    println!("(a') same pages, JSON       {}", summary(&json));
    println!("(b)  scan                   {}", summary(&scans));
    println!("(b)/(a)                     {:.2}", ratio(&scans, &protobuf));
    println!("(b)/(a')                    {:.2}", ratio(&scans, &json));
    scans
}
