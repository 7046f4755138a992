//! Random pods and claims on a real cluster: what `explain` names must be what keeps a claim, and nothing else.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use super::storage::{explain, wait_for};
use crate::harness::{Cluster, Namespace, wait};

const SOON: Duration = Duration::from_secs(60);
const CLAIMS: u64 = 6;
const PODS: u64 = 16;

/// Numbers that look random and are the same in each run (Knuth's multiplier).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn claim(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"storageClassName": "nobody", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}})
}

/// A pod as the dice fall: with a node or not, naming a claim or owning an ephemeral one.
fn pod(name: &str, dice: &mut Dice) -> Value {
    let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
    if dice.below(3) > 0 {
        spec["nodeName"] = json!("oracle-node");
    }
    let named = format!("claim-{}", dice.below(CLAIMS));
    spec["volumes"] = match dice.below(4) {
        0 => json!([{"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": claim("")["spec"]}}}]),
        1 => json!([{"name": "scratch", "emptyDir": {}}]),
        _ => json!([{"name": "d", "persistentVolumeClaim": {"claimName": named}}]),
    };
    let held = if dice.below(4) == 0 {
        json!(["example.com/hold"])
    } else {
        json!([])
    };
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "finalizers": held}, "spec": spec})
}

fn blockers(cluster: &Cluster, ns: &Namespace, claim: &str) -> BTreeSet<String> {
    let said = explain(cluster, &[&format!("pvc/{claim}"), "-n", ns.name()], None);
    let wait = wait_for(&said, "pvc-protection");
    let all = wait["blockers"].as_array().unwrap();
    assert_eq!(!all.is_empty(), wait["verdict"] == "in-use", "{said:#}");
    all.iter()
        .map(|blocker| blocker["object"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// An ephemeral claim that went is made again at once for its pod; that one is not being deleted.
fn is_deleted(claim: &Value) -> bool {
    claim["metadata"]["deletionTimestamp"].is_string()
}

fn force_delete(ns: &Namespace, pod: &str) {
    ns.kubectl([
        "delete",
        "pod",
        pod,
        "--force",
        "--grace-period=0",
        "--wait=false",
    ])
    .success();
}

#[test]
fn what_is_named_is_what_holds() {
    let cluster = Cluster::shared();
    let (ns, other) = (cluster.namespace("oracle"), cluster.namespace("oracle-other"));
    cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: oracle-node}}");
    let mut dice = Dice(20_261_121);
    let list = |items: Vec<Value>| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    ns.apply(&list((0..CLAIMS).map(|n| claim(&format!("claim-{n}"))).collect()));
    let pods: Vec<_> = (0..PODS).map(|n| pod(&format!("p{n}"), &mut dice)).collect();
    ns.apply(&list(pods.clone()));
    other.apply(&list((0..4).map(|n| pod(&format!("q{n}"), &mut dice)).collect()));
    for (n, phase) in [(1, "Succeeded"), (3, "Failed"), (5, "Running"), (7, "Succeeded")] {
        ns.patch_status(["pod", &format!("p{n}")], &json!({"phase": phase}));
    }
    let owners = pods
        .iter()
        .filter(|pod| pod["spec"]["volumes"][0]["ephemeral"].is_object());
    let ephemeral: Vec<_> = owners
        .map(|pod| format!("{}-own", pod["metadata"]["name"].as_str().unwrap()))
        .collect();
    assert!(!ephemeral.is_empty(), "the dice must give one");
    wait("the ephemeral claims are made", SOON, || {
        ephemeral.iter().all(|name| ns.get(["pvc", name]).is_some())
    });
    // A claim of that name that its pod does not own is nobody's.
    let mut claims: BTreeSet<String> = (0..CLAIMS).map(|n| format!("claim-{n}")).collect();
    claims.extend(ephemeral);
    // Some pods are being deleted already, and held by their own finalizer.
    for pod in pods
        .iter()
        .filter(|pod| pod["metadata"]["finalizers"] != json!([]))
    {
        if dice.below(2) == 0 {
            force_delete(&ns, pod["metadata"]["name"].as_str().unwrap());
        }
    }
    ns.kubectl(["delete", "pvc", "--all", "--wait=false"]).success();
    wait("the controller has let go of what is free", SOON, || {
        let left = ns.get(["pvc"]).unwrap();
        let left = left["items"].as_array().unwrap();
        let mut left = left.iter().filter(|claim| is_deleted(claim));
        left.all(|claim| {
            let name = claim["metadata"]["name"].as_str().unwrap();
            // It may go while one looks; then there is nothing to explain.
            let words = ["explain", "-o", "json", &format!("pvc/{name}"), "-n", ns.name()];
            let out = cluster.plugin(words).run();
            out.code != 0 || out.stdout.contains("\"in-use\"")
        })
    });
    let gone = |name: &str| !ns.get(["pvc", name]).is_some_and(|claim| is_deleted(&claim));
    let mut held = 0;
    for name in &claims {
        if gone(name) {
            continue;
        }
        let named = blockers(cluster, &ns, name);
        held += 1;
        for (at, pod) in named.iter().enumerate() {
            assert!(
                !gone(name),
                "{name} went although {:?} were named",
                &named.iter().skip(at).collect::<Vec<_>>()
            );
            if ns.get(["pod", pod]).is_some() {
                ns.kubectl([
                    "patch",
                    "pod",
                    pod,
                    "--type=merge",
                    "-p",
                    r#"{"metadata":{"finalizers":null}}"#,
                ]);
                ns.kubectl([
                    "delete",
                    "pod",
                    pod,
                    "--force",
                    "--grace-period=0",
                    "--ignore-not-found",
                ])
                .success();
            }
        }
        wait(&format!("{name} goes without {named:?}"), SOON, || gone(name));
    }
    assert!(held > 2, "the dice must give claims in use");
    for pod in pods
        .iter()
        .filter(|pod| pod["metadata"]["finalizers"] != json!([]))
    {
        let name = pod["metadata"]["name"].as_str().unwrap();
        ns.kubectl([
            "patch",
            "pod",
            name,
            "--type=merge",
            "-p",
            r#"{"metadata":{"finalizers":null}}"#,
        ]);
    }
}
