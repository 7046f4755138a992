//! Leftovers: objects that should be gone and that nobody deletes. `scan` tells them; each kind of object has a file.

mod unreclaimed_volume;
mod volume_attachment;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::replayed::{as_if_live, compare_when_stable, from, taken, timeless};
use crate::{
    harness::{Cluster, End, Options, Plugin},
    scan,
};

/// Without a controller manager, so that objects stay as the test creates them. The test writes their status,
/// and their timestamps in etcd where the API server sets them itself.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let healthy = cluster.plugin(["scan"]).run().success();
    assert!(
        !healthy.contains("LEFT BEHIND") && !healthy.contains("Not known"),
        "{healthy}"
    );
    forced_namespace(&cluster);
    unreclaimed_volume::left(&cluster);
    volume_attachment::left(&cluster);
    cluster
});

/// The scenario: a user empties `spec.finalizers` while the namespace has objects.
fn forced_namespace(cluster: &Cluster) {
    let objects: Vec<_> = (0..5)
        .map(|at| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}, namespace: lost}}}}"))
        .collect();
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: lost}}}}\n---\n{}",
        objects.join("\n---\n")
    ));
    cluster.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: lost, finalizers: [example.com/hold]}}",
    );
    cluster
        .kubectl(["delete", "configmap", "held", "--namespace=lost", "--wait=false"])
        .success();
    cluster
        .kubectl(["delete", "namespace", "lost", "--wait=false"])
        .success();
    let file = cluster.directory().join("finalize.json");
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lost"}, "spec": {"finalizers": []}});
    std::fs::write(&file, body.to_string()).expect("written");
    cluster
        .kubectl([
            "replace",
            "--raw=/api/v1/namespaces/lost/finalize",
            &format!("--filename={}", file.display()),
        ])
        .success();
    assert!(cluster.get(["namespace", "lost"]).is_none());
}

/// The report of `scan -o json`.
#[track_caller]
fn report_of(plugin: Plugin) -> Value {
    scan::document(&plugin.run().success())
}

fn first<'a>(left: &'a Value, part: &str) -> Vec<&'a str> {
    let first = left[part]["first"].as_array().expect(part);
    first
        .iter()
        .map(|one| one["name"].as_str().expect("a name"))
        .collect()
}

#[test]
fn exactly_the_leftovers_are_listed_with_their_reason() {
    let report = report_of(CLUSTER.plugin(["scan", "-o", "json"]));
    let left = &report["leftBehind"];
    let namespaces = left["namespaces"].as_array().expect("known");
    assert_eq!(namespaces.len(), 1, "{left:#}");
    let lost = &namespaces[0];
    assert_eq!((&lost["name"], &lost["objects"]), (&json!("lost"), &json!(6)));
    assert_eq!(
        lost["types"],
        json!([{"resource": "configmaps", "objects": 6, "terminating": 1, "first": ["c0", "c1", "c2"]}])
    );
    assert_eq!(
        lost["next"]["command"],
        "kubectl finalizers explain configmaps/held -n lost"
    );
    assert_eq!(left["notKnown"], json!([]));
    assert_eq!(report["totals"]["leftBehind"], 11);
}

#[test]
fn the_table_gives_the_next_command_at_every_width() {
    for columns in [None, Some(40), Some(80), Some(200)] {
        let mut plugin = CLUSTER.plugin(["scan"]).env("NO_COLOR", "1");
        if let Some(columns) = columns {
            plugin = plugin.stdout_to(End::Terminal(columns));
        }
        let out = plugin.run().success().replace('\r', "");
        let words: Vec<_> = out.split_whitespace().collect();
        let flat = words.join(" ");
        for said in [
            "LEFT BEHIND (11 objects): nobody deletes what should be gone",
            "6 objects in namespace lost 6 configmaps (c0, c1, c2 and 3 more) Namespace lost does not exist: it was finalized \
             by force",
            "kubectl create namespace lost",
            "DATA LOSS if anything in it is still needed",
            "kubectl finalizers explain pv/pv-gone",
            "volume pv-of-yesterday does not exist any more",
            "node node-9 does not exist any more",
        ] {
            assert!(flat.contains(said), "{columns:?}: {said}\n{out}");
        }
        for unsaid in ["pv-fresh", "pv-kept", "pv-going", "in-order", "fresh", "going"] {
            let named = |word: &&str| word.ends_with(&format!("/{unsaid}"));
            let left = flat.split("LEFT BEHIND").nth(1).unwrap();
            assert!(!left.split(' ').any(|word| named(&word)), "{unsaid}: {out}");
        }
    }
}

#[test]
fn leftovers_do_not_count_as_stuck_and_filters_apply() {
    let scan = |words: &[&str]| {
        let words = ["scan"].iter().chain(words).copied();
        CLUSTER.plugin(words).run()
    };
    // Nobody asked for their deletion, so a pipeline that waits for deletions ignores them.
    let out = scan(&["pv", "--finalizer", "kubernetes.io/pv-protection", "--exit-code"]);
    assert!(
        out.code == 0 && out.stdout.contains("LEFT BEHIND (3 objects)"),
        "{out}"
    );
    let left = |words: &[&str]| {
        let words = ["scan", "-o", "json"].iter().chain(words).copied();
        report_of(CLUSTER.plugin(words))["leftBehind"].clone()
    };
    assert_eq!(left(&["--terminating"]), Value::Null);
    assert_eq!(left(&["nodes"]), Value::Null);
    // A missing namespace is known only if all namespaces were read.
    assert_eq!(left(&["pv"])["namespaces"], Value::Null);
    assert_eq!(left(&["-l", "a=b"])["namespaces"], Value::Null);
    assert_eq!(left(&["-l", "a=b"])["volumes"]["count"], 0);
    let held = left(&["ns,cm", "--finalizer", "example.com/*"]);
    assert_eq!(held["namespaces"][0]["objects"], 1, "{held:#}");
    assert_eq!(left(&["pv", "--older-than", "1h"])["volumes"]["count"], 3);
    assert_eq!(left(&["pv", "--older-than", "100000d"])["volumes"]["count"], 0);
    // With `--namespace`, one read of the namespace is enough.
    assert_eq!(left(&["-n", "lost"])["namespaces"][0]["objects"], 6);
    assert_eq!(left(&["-n", "default"])["namespaces"], json!([]));
}

#[test]
fn a_type_that_could_not_be_read_is_not_called_empty() {
    let user = CLUSTER
        .user("sees-no-nodes-and-namespaces")
        .may(
            "get,list",
            "configmaps,persistentvolumes,volumeattachments.storage.k8s.io",
        )
        .create();
    let scan = |words: &[&str]| {
        let words = ["scan"].iter().chain(words).copied();
        CLUSTER.plugin(words).as_user(&user)
    };
    let report = report_of(scan(&["-o", "json"]));
    let left = &report["leftBehind"];
    assert_eq!(left["namespaces"], Value::Null);
    let parts: Vec<_> = left["notKnown"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["part"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(parts, [("namespaces", "Forbidden"), ("attachments", "Forbidden")]);
    // Without Events the reason of a volume is weaker; that it is a leftover is known.
    assert_eq!(first(left, "volumes"), ["pv-attached", "pv-failed", "pv-gone"]);
    assert_eq!(left["volumes"]["first"][2]["verdict"], "unknown");
    let out = scan(&[]).run().success();
    assert!(
        out.contains(
            "Not known whether there are objects in namespaces that do not exist, or attachments to nodes"
        ),
        "{out}"
    );
    // All requested types were listed, and the result is still incomplete.
    let out = scan(&["volumeattachments"]).run().success();
    assert!(
        out.contains("Not known whether there are attachments to nodes"),
        "{out}"
    );
}

#[test]
fn a_snapshot_gives_the_same_result() {
    // The table names how long the reads took, and a file takes no time.
    let said = |text: &str| {
        let parts = text.split("\n\n").filter(|part| !part.contains(" types, "));
        timeless(&parts.collect::<Vec<_>>().join("\n\n"))
    };
    compare_when_stable(|| {
        let folder = tempfile::TempDir::new().unwrap();
        let file = taken(&CLUSTER, &folder, "", "");
        let look = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let said = |text: &str| as_if_live(&said(text), &file);
            let live = || said(&CLUSTER.plugin(words.clone()).run().success());
            [said(&from(&file, words.clone())), live(), live()]
        };
        [
            "scan -o json",
            "scan -n lost -o json",
            "scan -n default -o json",
            "scan -n no-such -o json",
            "scan pv -o json",
            "scan ns,cm --finalizer example.com/* -o json",
            "scan pv --older-than 1h -o json",
            "scan --terminating -o json",
            "scan",
        ]
        .map(look)
        .to_vec()
    });
}
