//! Measures what `explain` costs in addition to its reads, always against the same requests in the same run.
//!
//! `cargo bench --bench explain` fills a real control plane with 20,000 objects. For each of some stuck
//! objects it measures repeatedly, in turn:
//! - (a) the yardstick: the requests of a recorded run of the same command, in the same form, with the same
//!   parallelism and in the same rounds (a request that depended on an answer waits for that answer). Their
//!   responses are thrown away;
//! - (b) `explain`.
//!
//! It also measures completion in the shell, which must take 150 ms at most.
//!
//! `-- --objects 8000` sets another size, and `-- --rounds 5` another number of pairs.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::print_stderr
)]
#![allow(missing_docs, unreachable_pub, dead_code)]

#[path = "support/fill.rs"]
mod fill;
#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/record.rs"]
mod record;
#[path = "support/replay.rs"]
mod replay;
#[path = "support/yardstick.rs"]
mod yardstick;

use std::{thread, time::Duration};

use harness::{Cluster, Options, wait};
use measure::{process, ratio, summary};
use replay::Request;
use serde_json::json;

/// A claim that three of fifty pods use, its volume, one of these pods, a custom object whose finalizer nobody described and
/// that names others, and, from [`fill`], a namespace and a type whose objects have finalizers.
const TARGETS: [&[&str]; 6] = [
    &["explain", "pvc/data", "-n", "ns-1"],
    &["explain", "pv/disk"],
    &["explain", "pod/pod-0", "-n", "ns-1"],
    &["explain", "kind1s.g1.example.com/surrounded", "-n", "ns-1"],
    &["explain", "ns/ns-0"],
    &["explain", "crd/kind0s.g0.example.com"],
];

fn main() {
    if let Some(job) = replay::job() {
        return replay::run(&job);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str, otherwise: usize| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map_or(otherwise, |at| arguments[at + 1].parse().expect("a number"))
    };
    let (objects, rounds) = (number("--objects", 20_000), number("--rounds", 41));
    // Without the controller manager, nothing else sends requests during the measurement.
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    eprintln!("filling the cluster with {objects} objects ...");
    fill::fill(&cluster, objects);
    stuck(&cluster);
    for target in TARGETS {
        in_turn(&cluster, target, rounds);
    }
    for words in COMPLETIONS {
        completed(&cluster, words, rounds);
    }
}

/// What a person waits for after the tab key: names of objects, of types and of the finalizers of a typed object.
const COMPLETIONS: [&[&str]; 3] = [
    &["__complete", "explain", "-n", "ns-1", "pod/pod-1"],
    &["__complete", "scan", "kind0"],
    &[
        "__complete",
        "remove",
        "pvc/data",
        "-n",
        "ns-1",
        "--finalizer",
        "",
    ],
];

/// Longer than this, people press the key again.
const COMPLETED: Duration = Duration::from_millis(150);

/// Measures a completion, and fails if the usual one takes too long.
fn completed(cluster: &Cluster, words: &[&str], times: usize) {
    let environment = [("KUBECONFIG", yardstick::text(cluster.kubeconfig()))];
    let runs: Vec<_> = (0..times)
        .map(|_| process(measure::PLUGIN, words, &environment))
        .collect();
    println!("{}: {}", words.join(" "), summary(&runs));
    let mut walls: Vec<_> = runs.iter().map(|run| run.took).collect();
    walls.sort();
    let usual = walls[walls.len() / 2];
    assert!(usual <= COMPLETED, "{words:?} takes {usual:?}");
}

fn in_turn(cluster: &Cluster, target: &[&str], times: usize) {
    let environment = [("KUBECONFIG", yardstick::text(cluster.kubeconfig()))];
    // This also warms the server's caches.
    let rounds = record::rounds(cluster, target);
    let (mut reads, mut explains) = (Vec::new(), Vec::new());
    for _ in 0..times {
        reads.push(replay::measure(cluster.kubeconfig(), &rounds));
        explains.push(process(measure::PLUGIN, target, &environment));
    }
    assert_eq!(
        paths(&rounds),
        paths(&record::rounds(cluster, target)),
        "{target:?} has changed while it was measured"
    );
    let sizes: Vec<_> = rounds.iter().map(|round| round.len().to_string()).collect();
    println!("{}: requests in rounds: {}", target.join(" "), sizes.join(", "));
    println!("(a)  the same requests      {}", summary(&reads));
    println!("(b)  explain                {}", summary(&explains));
    println!(
        "(b)/(a)                     {:.2}, median of {times} pairs",
        ratio(&explains, &reads)
    );
}

/// The requested paths, independent of the order. Later pages have the server's own tokens, so they count as
/// the first page.
fn paths(rounds: &[Vec<Request>]) -> Vec<&str> {
    let all = rounds.iter().flatten().map(|request| request.path.as_str());
    let mut paths: Vec<_> = all
        .map(|path| path.split("&continue=").next().unwrap_or(path))
        .collect();
    paths.sort_unstable();
    paths
}

/// Creates the objects to explain, in the state that controllers and a kubelet would leave.
fn stuck(cluster: &Cluster) {
    cluster.apply(
        "
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ns-1}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-1}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Mi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Delete
  claimRef: {namespace: ns-1, name: data}
  csi: {driver: d.example.com, volumeHandle: h}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ns-1}
spec:
  volumeName: disk
  storageClassName: ''
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Mi}}
---
apiVersion: g1.example.com/v1
kind: Kind1
metadata: {name: surrounded, namespace: ns-1, finalizers: [bench.example.com/waits]}
spec:
  kind11Ref: {name: gone}
  kind21Name: gone
  podSelector: {matchLabels: {app: none}}
---
apiVersion: g1.example.com/v1
kind: Kind31
metadata: {name: uses, namespace: ns-2}
spec: {kind1Ref: {name: surrounded, namespace: ns-1}}
",
    );
    let pods = (0..50).map(|n| pod(n, if n < 3 { "data" } else { "other" }));
    cluster.apply(&pods.collect::<Vec<_>>().join("---"));
    let uid = cluster.get(["pvc", "data", "-n", "ns-1"]).unwrap()["metadata"]["uid"].clone();
    let patch = json!({"spec": {"claimRef": {"uid": uid}}}).to_string();
    cluster
        .kubectl(["patch", "pv", "disk", "--type=merge", "-p", &patch])
        .success();
    let bound = json!({"phase": "Bound"});
    cluster.patch_status(["pv", "disk"], &bound);
    cluster.patch_status(["pvc", "data", "-n", "ns-1"], &bound);
    for what in [
        &["pvc/data", "-n", "ns-1"][..],
        &["pv/disk"],
        &["pod/pod-0", "-n", "ns-1", "--grace-period=1"],
        &["kind1s.g1.example.com/surrounded", "-n", "ns-1"],
        &["ns/ns-0"],
        &["crd/kind0s.g0.example.com"],
    ] {
        let words = ["delete", "--wait=false"].iter().chain(what).copied();
        cluster.kubectl(words).success();
    }
    // What stands around an object is looked at after three minutes.
    cluster.deleted_earlier("g1.example.com/kind1s/ns-1/surrounded", 600);
    let condition = |ty: &str, reason: &str, message: &str| {
        json!({"type": ty, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let conditions = [
        condition(
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 3 resource instances",
        ),
        condition(
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: bench.example.com/holds in 3 resource instances",
        ),
    ];
    cluster.patch_status(["ns", "ns-0"], &json!({"conditions": conditions}));
    // The explained objects must not change during the measurement. So wait until the API server has started
    // to delete the objects of the type, and the pod's grace period is over.
    wait(
        "the type's objects are being deleted",
        Duration::from_secs(60),
        || {
            let of = cluster.get(["kind0s.g0.example.com", "-A"]).unwrap();
            let mut objects = of["items"].as_array().unwrap().iter();
            objects.all(|object| object["metadata"]["deletionTimestamp"].is_string())
        },
    );
    thread::sleep(Duration::from_secs(2));
}

fn pod(n: usize, claim: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: pod-{n}, namespace: ns-1}}
spec:
  nodeName: node-1
  automountServiceAccountToken: false
  containers: [{{name: c, image: i}}]
  volumes: [{{name: d, persistentVolumeClaim: {{claimName: {claim}}}}}]
"
    )
}
