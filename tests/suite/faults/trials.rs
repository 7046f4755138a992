//! `rescue` and `--event` on a server that stores dry runs, although it serves the types itself. What was stored is told as
//! what it is, with copies and a receipt.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fake::{Fake, Fault, Kind, Running, Writes, cluster_object, object};
use crate::{
    act::says,
    harness::{Output, Plugin},
};

const VOLUME: &str = "/api/v1/persistentvolumes/disk";
const TRIAL: &str = "/api/v1/persistentvolumes/rescue-uid-disk";

fn spec(policy: &str) -> Value {
    json!({"persistentVolumeReclaimPolicy": policy, "csi": {"driver": "d.test", "volumeHandle": "h"},
        "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "db", "name": "data", "uid": "uid-data"}})
}

/// The volume as JSON, in this version.
fn volume(name: &str, policy: &str, version: &str) -> String {
    let metadata = json!({"name": name, "uid": format!("uid-{name}"), "resourceVersion": version,
        "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["kubernetes.io/pv-protection"]});
    let value = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec(policy),
        "status": {"phase": "Bound"}});
    value.to_string()
}

/// A volume in deletion, its claim, and a widget.
fn world(policy: &str) -> Fake {
    let claim = object("db", "data")
        .uid("uid-data")
        .spec(json!({"volumeName": "disk"}))
        .status(json!({"phase": "Bound"}));
    let disk = cluster_object("disk")
        .uid("uid-disk")
        .finalizer("kubernetes.io/pv-protection")
        .deleting("2026-01-01T00:00:00Z")
        .spec(spec(policy))
        .status(json!({"phase": "Bound"}));
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").short("ns"))
        .with_type(Kind::new("", "v1", "events").namespaced())
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(
            Kind::new("", "v1", "persistentvolumes")
                .kind("PersistentVolume")
                .short("pv"),
        )
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .object("namespaces", cluster_object("db"))
        .object("namespaces", cluster_object("kube-system"))
        .object("persistentvolumes", disk)
        .object("persistentvolumeclaims", claim)
        .writes(Writes::Stored)
}

struct Case {
    server: Running,
    place: TempDir,
}

impl Case {
    fn new(fake: Fake) -> Self {
        Case {
            server: fake.start(),
            place: TempDir::new().unwrap(),
        }
    }

    fn run(&self, words: &[&str]) -> Output {
        let place = |flag: &str, name: &str| format!("--{flag}={}", self.place.path().join(name).display());
        let places = [
            place("backup-dir", "backups"),
            place("audit-file", "receipts.jsonl"),
        ];
        let all = words.iter().map(|word| (*word).to_owned()).chain(places);
        let out = Plugin::new(all).kubeconfig(self.server.kubeconfig()).run();
        assert!(!out.stderr.contains("panicked"), "{out}");
        out
    }

    fn receipts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.place.path().join("receipts.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn copies(&self) -> usize {
        fs::read_dir(self.place.path().join("backups")).map_or(0, Iterator::count)
    }

    /// The writes that were sent to this path.
    fn writes(&self, path: &str) -> usize {
        let requests = self.server.requests_to(path);
        requests.iter().filter(|request| request.method != "GET").count()
    }
}

/// The stored trial is told with its name, the copies and a receipt, and nothing is sent after it.
#[track_caller]
fn is_told(case: &Case, out: &Output, texts: [&str; 2]) {
    assert_eq!(out.code, 1, "{out}");
    for text in texts {
        says(out, text);
    }
    assert_eq!(case.copies(), 2, "the volume and its claim");
    let receipts = case.receipts();
    let [receipt] = &receipts[..] else {
        panic!("{receipts:?}");
    };
    assert_eq!(receipt["what"], "dry-run-stored");
    assert_eq!(
        receipt["rescue"]["steps"]["volume"]["value"]["metadata"]["name"], "disk",
        "{receipt}"
    );
}

#[test]
fn a_volume_that_a_dry_run_made_is_named() {
    // The answer is that to a dry run, without a version.
    let made = volume("rescue-uid-disk", "Retain", "").replace("\"resourceVersion\":\"\",", "");
    let case = Case::new(
        world("Retain")
            .on("/api/v1/persistentvolumes", Fault::json(made).method("POST"))
            .on(
                TRIAL,
                Fault::json(volume("rescue-uid-disk", "Retain", "9")).method("GET"),
            ),
    );
    let out = case.run(&["rescue", "pv/disk", "--plan"]);
    is_told(&case, &out, ["stored a dry run", "It made pv/rescue-uid-disk"]);
    assert_eq!(
        case.writes(VOLUME),
        0,
        "its finalizers are not tried out after that"
    );
}

#[test]
fn a_policy_that_a_dry_run_set_is_told() {
    let is_read = |policy: &str, after: u32| {
        Fault::json(volume("disk", policy, "101"))
            .method("GET")
            .after(after)
    };
    let tried = Fault::json(volume("disk", "Retain", "100")).method("PATCH");
    // How often it is read before the first dry run.
    let first = Case::new(world("Delete").on(VOLUME, Fault::internal("no").method("PATCH")));
    first.run(&["rescue", "pv/disk", "--plan"]);
    let requests = first.server.requests_to(VOLUME);
    let before = requests
        .iter()
        .take_while(|request| request.method == "GET")
        .count();
    let before = u32::try_from(before).unwrap();

    let case = Case::new(
        world("Delete")
            .on(VOLUME, tried.clone())
            .on(VOLUME, is_read("Retain", before)),
    );
    let out = case.run(&["rescue", "pv/disk", "--plan"]);
    is_told(
        &case,
        &out,
        ["by this API server, or by somebody else", "with policy Retain"],
    );
    assert_eq!(case.writes(VOLUME), 1);

    // Somebody else has changed it in another way.
    let other = Case::new(
        world("Delete")
            .on(VOLUME, tried)
            .on(VOLUME, is_read("Delete", before)),
    );
    let out = other.run(&["rescue", "pv/disk", "--plan"]);
    assert_eq!(out.code, 3, "{out}");
    assert!(other.receipts().is_empty() && other.copies() == 0);
}

#[test]
fn an_event_that_a_dry_run_made_is_named() {
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "kubectl-finalizers-1", "namespace": "db"}});
    let case = Case::new(
        world("Delete")
            .with_type(Kind::new("apps", "v1", "deployments").namespaced())
            .object(
                "deployments.apps",
                object("db", "web")
                    .uid("uid-web")
                    .finalizer("example.com/hold")
                    .deleting("2026-01-01T00:00:00Z"),
            )
            .on(
                "/api/v1/namespaces/db/events",
                Fault::json(event.to_string()).method("POST"),
            )
            .on(
                "/api/v1/namespaces/db/events/kubectl-finalizers-1",
                Fault::json(event.to_string()).method("GET"),
            ),
    );
    let out = case.run(&["nudge", "deployments.apps/web", "-n=db", "--event", "--plan"]);
    assert_eq!(out.code, 3, "{out}");
    says(&out, "stored a dry run");
    says(&out, "kubectl-finalizers-1");
}
