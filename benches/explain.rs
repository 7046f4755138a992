//! What `explain` costs beyond the reads that it needs: always against the same requests in the same run.
//!
//! `cargo bench --bench explain` fills a real control plane with 20,000 objects and explains, in turn and repeatedly
//! with the yardstick, a claim in use, a volume bound to it, and a namespace that is stuck with what is in it. The
//! yardstick is a recorded run of the same command: each round of requests in the same form, thrown away.
//! `-- --objects 2000` and `-- --rounds 5` take other numbers.

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

use harness::{Cluster, Options};
use measure::{paired, process, summary};

/// The namespace that is stuck, one of those that [`fill`] makes.
const STUCK: &str = "ns-0";
const TARGETS: [&[&str]; 3] = [
    &["explain", "pvc/data", "-n", "ns-1"],
    &["explain", "pv/disk"],
    &["explain", "ns/ns-0"],
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
    let (objects, rounds) = (number("--objects", 20_000), number("--rounds", 15));
    // Without the controller manager: nothing else asks the server for anything while it is measured.
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
}

fn in_turn(cluster: &Cluster, target: &[&str], times: usize) {
    let environment = [("KUBECONFIG", yardstick::text(cluster.kubeconfig()))];
    // It also warms the server's caches.
    let rounds = record::rounds(cluster, target);
    let (mut reads, mut explains) = (Vec::new(), Vec::new());
    for _ in 0..times {
        reads.push(replay::measure(cluster.kubeconfig(), &rounds));
        explains.push(process(measure::PLUGIN, target, &environment));
    }
    let requests: usize = rounds.iter().map(Vec::len).sum();
    println!(
        "{}: {requests} requests in {} rounds",
        target.join(" "),
        rounds.len()
    );
    println!("(a)  the same requests      {}", summary(&reads));
    println!("(b)  explain                {}", summary(&explains));
    println!(
        "(b)/(a)                     {:.2}, median of {times} pairs",
        paired(&explains, &reads)
    );
}

/// What is explained, as the controllers and a kubelet would have left it.
fn stuck(cluster: &Cluster) {
    let pods: String = (0..50)
        .map(|n| {
            let claim = if n < 3 { "data" } else { "other" };
            format!(
                "---
{{apiVersion: v1, kind: Pod, metadata: {{name: pod-{n}, namespace: ns-1}}, spec: {{nodeName: node-1, automountServiceAccountToken: \
                 false, containers: [{{name: c, image: i}}], volumes: [{{name: d, persistentVolumeClaim: {{claimName: {claim}}}}}]}}}}
"
            )
        })
        .collect();
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: default, namespace: ns-1}}}}
---
{{apiVersion: v1, kind: Node, metadata: {{name: node-1}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: disk}}, spec: {{capacity: {{storage: 1Mi}}, accessModes: \
         [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, csi: {{driver: d.example.com, volumeHandle: h}}}}}}
---
{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: ns-1}}, spec: {{volumeName: disk, \
         storageClassName: '', accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}
"
    ));
    cluster.apply(&pods);
    let uid = cluster.get(["pvc", "data", "-n", "ns-1"]).unwrap()["metadata"]["uid"].clone();
    let patch = serde_json::json!({"spec": {"claimRef": {"namespace": "ns-1", "name": "data", "uid": uid}}});
    cluster
        .kubectl(["patch", "pv", "disk", "--type=merge", &format!("--patch={patch}")])
        .success();
    let bound = serde_json::json!({"phase": "Bound"});
    cluster.patch_status(["pv", "disk"], &bound);
    cluster.patch_status(["pvc", "data", "-n", "ns-1"], &bound);
    for what in [
        &["pvc", "data", "-n", "ns-1"][..],
        &["pv", "disk"],
        &["ns", STUCK],
    ] {
        let words = ["delete", "--wait=false"].iter().chain(what).copied();
        cluster.kubectl(words).success();
    }
    let condition = |ty: &str, reason: &str, message: &str| {
        serde_json::json!({"type": ty, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    cluster.patch_status(
        ["ns", STUCK],
        &serde_json::json!({"conditions": [
            condition("NamespaceContentRemaining", "SomeResourcesRemain", "Some resources are remaining: configmaps. has 3 resource instances"),
            condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: bench.example.com/holds in 3 resource instances"),
        ]}),
    );
}
