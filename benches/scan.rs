//! How fast `scan` is, and how much memory it takes: always against a yardstick in the same run.
//!
//! `cargo bench --bench scan` fills a real control plane with 20,000 objects of some 160 types and measures, in
//! turn and repeatedly:
//! - (a) the yardstick: the same pages, asked for in the same form with the same parallelism, thrown away;
//! - (b) `scan`;
//! - (c) the loop that people paste: `kubectl api-resources | xargs kubectl get`.
//!
//! `-- --objects 200000` takes another size, and `-- --rounds 3` another number of rounds.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub
)]

#[path = "support/fill.rs"]
mod fill;
#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/yardstick.rs"]
mod yardstick;

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

    // Without the controller manager: nothing else asks the server for anything while it is measured.
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    eprintln!("filling the cluster with {objects} objects ...");
    fill::fill(&cluster, objects);
    rounds_of(&cluster, objects, rounds);
}

fn rounds_of(cluster: &Cluster, objects: usize, rounds: usize) {
    let kubeconfig = [("KUBECONFIG", cluster.kubeconfig().to_str().unwrap().to_owned())];
    let scan = || process(measure::PLUGIN, &["scan"], &kubeconfig);
    let paths = yardstick::paths(cluster);
    // Once unmeasured, so that the server's caches are as warm for the first as for the last.
    scan();
    let (mut protobuf, mut json, mut scans): (Vec<Measured>, Vec<Measured>, Vec<Measured>) =
        Default::default();
    for _ in 0..rounds {
        protobuf.push(yardstick::measure(cluster, &paths, Form::Protobuf));
        json.push(yardstick::measure(cluster, &paths, Form::Json));
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
    if objects <= 20_000 {
        let pasted = [measure::pasted_loop(cluster)];
        println!("(c)  the pasted loop        {}", summary(&pasted));
        println!("(c)/(b)                     {:.0}", ratio(&pasted, &scans));
    }
}
