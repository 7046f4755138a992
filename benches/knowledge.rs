//! Measures what the catalogue costs: `cargo bench --bench knowledge`, without a cluster.
//!
//! - `explain FINALIZER` as a process, from start to end, in turn with the yardstick `--version`, which is
//!   the same program without work. The claim: what `explain` adds to it is at most 5 ms.
//! - The start of other verbs, by their `--help`, in turn with the same yardstick. The claim: they unpack nothing of the
//!   catalogue, so what they add is at most 5 ms, however much it grows.
//! - A lookup among all built-in entries, against the yardstick of reading the one matching entry. The
//!   difference is the cost of finding it and of unpacking its block the first time.
//! - The same lookup with 10, 100 and as many user entries as there are built-in ones, as ratios.
//! - The size of the data, as it is in the program and unpacked. The claim is less than 4 MB unpacked.
//!
//! `-- --rounds 100` sets another number of rounds.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::format_push_string,
    clippy::print_stdout,
    missing_docs
)]

use std::{
    hint::black_box,
    process::{Command, Stdio},
    time::Instant,
};

use kubectl_finalizers::knowledge::{Entry, Knowledge, List};

const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = arguments
        .iter()
        .position(|argument| argument == "--rounds")
        .map_or(60, |at| arguments[at + 1].parse().expect("a number"));
    processes(rounds);
    lookups();
    println!(
        "data                                 {:8.1} KB for {} entries, {:.2} MB unpacked (claim: < 4 MB)",
        Knowledge::builtin_bytes() as f64 / 1e3,
        Knowledge::builtin_len(),
        Knowledge::builtin_unpacked_bytes() as f64 / 1e6
    );
}

/// Milliseconds that a verb may add to the start of the program.
const CLAIM: f64 = 5.0;

fn processes(rounds: usize) {
    let yardstick: &[&str] = &["--version"];
    let cases: [(&str, &[&str], Option<f64>); 7] = [
        (
            "explain, a name",
            &["explain", "kubernetes.io/pvc-protection"],
            Some(CLAIM),
        ),
        (
            "explain, a pattern",
            &["explain", "clusterscoped.controller.cattle.io/x_c-1"],
            Some(CLAIM),
        ),
        (
            "explain, another case",
            &["explain", "Kubernetes.io/PVC-Protection"],
            Some(CLAIM),
        ),
        (
            "explain, unknown",
            &["explain", "widgets.example.com/protect"],
            Some(CLAIM),
        ),
        ("start of scan", &["scan", "--help"], Some(CLAIM)),
        ("start of remove", &["remove", "--help"], Some(CLAIM)),
        ("catalog, which reads all of it", &["catalog"], None),
    ];
    let mut pairs = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        for ((_, arguments, _), pairs) in cases.iter().zip(&mut pairs) {
            pairs.push((process(yardstick), process(arguments)));
        }
    }
    let of_yardstick = pairs.iter().flatten().map(|pair| pair.0);
    println!(
        "--version, the yardstick             {:8.2} ms",
        median(of_yardstick)
    );
    for ((what, _, claim), pairs) in cases.iter().zip(&pairs) {
        let claim = claim.map_or_else(String::new, |claim| format!(" (claim: < {claim} ms)"));
        let took = median(pairs.iter().map(|pair| pair.1));
        let ratio = median(pairs.iter().map(|pair| pair.1 / pair.0));
        let added = median(pairs.iter().map(|pair| pair.1 - pair.0));
        println!("{what:36} {took:8.2} ms, {ratio:.2} of the yardstick, {added:.2} ms more{claim}");
    }
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn process(arguments: &[&str]) -> f64 {
    let mut command = Command::new(PLUGIN);
    command
        .args(arguments)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    assert!(command.status().unwrap().success());
    began.elapsed().as_secs_f64() * 1000.0
}

fn lookups() {
    let knowledge = Knowledge::builtin();
    let entries: Vec<Entry> = knowledge.all().cloned().collect();
    let texts: Vec<String> = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).unwrap())
        .collect();
    let reading = each(texts.len(), |at| {
        black_box(serde_json::from_str::<Entry>(&texts[at]).unwrap());
    });
    println!("reading one entry, the yardstick     {reading:8.2} us");
    let names: Vec<&str> = entries.iter().map(|entry| entry.example.as_str()).collect();
    let lookup = |knowledge: &Knowledge| {
        each(names.len(), |at| {
            black_box(knowledge.lookup(names[at], List::Metadata, None));
        })
    };
    let found = lookup(&knowledge);
    println!(
        "lookup among {:4}                    {found:8.2} us, {:.2} of the yardstick",
        entries.len(),
        found / reading
    );
    for own in [10, 100, entries.len()] {
        let more = knowledge
            .clone()
            .with_user("own.yaml", &own_entries(own))
            .unwrap();
        println!(
            "lookup beside {own:4} of the user's own  {:8.2} us, {:.2} of that without",
            lookup(&more),
            lookup(&more) / found
        );
    }
    let unknown = each(names.len(), |at| {
        let name = format!("{at}.example.com/nothing");
        black_box(knowledge.lookup(&name, List::Metadata, None));
    });
    println!("lookup of what is not there          {unknown:8.2} us");
}

/// Microseconds for one of `count` runs, the best of several passes.
fn each(count: usize, run: impl Fn(usize)) -> f64 {
    let pass = || {
        let began = Instant::now();
        (0..count).for_each(&run);
        began.elapsed().as_secs_f64() * 1e6 / count as f64
    };
    (0..9).map(|_| pass()).fold(f64::INFINITY, f64::min)
}

fn own_entries(count: usize) -> String {
    let entry = |at: usize| {
        format!(
            "  - name: own-{at}.example.com/finalizer\n    kinds: [Widget.example.com]\n    protects: a widget\n    \
             waits-for: {{ text: it must stop }}\n    removed-by: us\n    if-removed: {{ consequence: none, text: \
             nothing }}\n    fix: [{{ label: reversible, text: restart it }}]\n    sources: [example/widgets:main.go]\n    verified: true\n"
        )
    };
    let mut yaml = String::from("project: Ours\nfinalizers:\n");
    yaml.extend((0..count).map(entry));
    yaml
}
