//! `remove` on a server that breaks its promises about writes. At most the one confirmed string is removed, and the
//! receipt is true.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fake::{Fake, Fault, Kind, Object, Recorded, Running, Writes, cluster_object, object};
use crate::{
    act::{digest, says},
    harness::{Output, Plugin},
};

const HOLD: &str = "example.com/hold";
const OTHER: &str = "example.com/other";
const APISERVICES: &str = "apiservices.apiregistration.k8s.io";

fn path(name: &str) -> String {
    format!("/apis/example.com/v1/namespaces/db/widgets/{name}")
}

fn widget(name: &str) -> Object {
    object("db", name)
        .uid(&format!("uid-{name}"))
        .finalizer(OTHER)
        .finalizer(HOLD)
        .deleting("2026-01-01T00:00:00Z")
}

/// Two widgets in deletion, of a custom type.
fn world(writes: Writes) -> Fake {
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").short("ns"))
        .with_type(Kind::new("example.com", "v1", "widgets").namespaced())
        .with_type(Kind::new("apiregistration.k8s.io", "v1", "apiservices"))
        .object("namespaces", cluster_object("db"))
        .object("namespaces", cluster_object("kube-system"))
        .object("widgets.example.com", widget("w-1"))
        .object("widgets.example.com", widget("w-2"))
        .writes(writes)
}

/// The same, and a service serves the type of the widgets.
fn aggregated(writes: Writes) -> Fake {
    let service = json!({"service": {"namespace": "db", "name": "widget-server"}, "group": "example.com"});
    let available = json!({"conditions": [{"type": "Available", "status": "True", "reason": "Passed"}]});
    let apiservice = cluster_object("v1.example.com").spec(service).status(available);
    world(writes).object(APISERVICES, apiservice)
}

/// A server, and places for copies and receipts.
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

    fn remove(&self, names: &[&str], more: &[&str]) -> Output {
        let place = |flag: &str, name: &str| format!("--{flag}={}", self.place.path().join(name).display());
        let targets = names.iter().map(|name| format!("widgets.example.com/{name}"));
        let words = ["-n=db", "--finalizer", HOLD, "--accept=data-loss"].map(str::to_owned);
        let all: Vec<String> = ["remove".to_owned()]
            .into_iter()
            .chain(targets)
            .chain(words)
            .chain([
                place("backup-dir", "backups"),
                place("audit-file", "receipts.jsonl"),
            ])
            .chain(more.iter().map(|word| (*word).to_owned()))
            .collect();
        let out = Plugin::new(all).kubeconfig(self.server.kubeconfig()).run();
        assert!(!out.stderr.contains("panicked"), "{out}");
        out
    }

    fn digest(&self, names: &[&str]) -> String {
        digest(&self.remove(names, &["--plan", "-o=json"]).success())
    }

    /// Plans and confirms.
    fn confirmed(&self, names: &[&str]) -> Output {
        let digest = self.digest(names);
        self.remove(names, &["--confirm", &digest])
    }

    /// The updates that were sent to a widget: whether each was a dry run.
    fn updates(&self, name: &str) -> Vec<bool> {
        let requests = self.server.requests_to(&path(name));
        let updates = requests.iter().filter(|request| request.method == "PATCH");
        updates.map(|request| request.query("dryRun").is_some()).collect()
    }

    fn receipts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.place.path().join("receipts.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The outcomes in the receipts, each with its object.
    fn noted(&self) -> Vec<String> {
        let of = |line: &Value| {
            let name = line["target"]["name"].as_str().unwrap();
            format!("{name} {}", line["what"].as_str().unwrap())
        };
        self.receipts().iter().map(of).collect()
    }

    fn copies(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.place.path().join("backups"));
        let files = folder.into_iter().flatten();
        files.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn an_aggregated_type_is_tried_out_only_after_the_receipt() {
    let case = Case::new(aggregated(Writes::DryRunStored));
    let plan = case.remove(&["w-1"], &["--plan"]);
    assert_eq!(plan.code, 0, "{plan}");
    says(
        &plan,
        "only after you confirm: service/widget-server -n db serves this type",
    );
    assert!(case.updates("w-1").is_empty(), "the plan sends no dry run");
    assert!(case.receipts().is_empty());

    let out = case.confirmed(&["w-1", "w-2"]);
    assert_eq!(out.code, 1, "{out}");
    says(&out, "This API server stored a dry run");
    assert_eq!(case.updates("w-1"), [true], "the request is not sent after it");
    assert!(case.updates("w-2").is_empty());
    assert_eq!(case.noted(), ["w-1 sending", "w-1 dry-run-stored"]);
    assert_eq!(case.copies().len(), 2);
}

#[test]
fn an_aggregated_server_that_keeps_its_promise_gets_the_request_after_the_dry_run() {
    let case = Case::new(aggregated(Writes::Stored));
    let out = case.confirmed(&["w-1"]);
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.updates("w-1"), [true, false]);
    assert_eq!(case.noted(), ["w-1 sending", "w-1 done"]);
}

#[test]
fn a_type_is_not_tried_out_if_its_apiservice_cannot_be_read() {
    let apiservice = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";
    let case = Case::new(world(Writes::Stored).on(apiservice, Fault::forbidden("apiservices")));
    let plan = case.remove(&["w-1"], &["--plan"]);
    says(&plan, "a service may serve this type");
    assert!(case.updates("w-1").is_empty());
}

#[test]
fn a_dry_run_that_was_stored_before_the_confirmation_is_reported() {
    let case = Case::new(world(Writes::DryRunStored));
    let out = case.remove(&["w-1", "w-2"], &["--plan"]);
    assert_eq!(out.code, 1, "{out}");
    says(&out, "This API server stored a dry run");
    assert!(case.updates("w-2").is_empty(), "nothing is tried out after it");
    assert_eq!(case.noted(), ["w-1 dry-run-stored"]);
    assert_eq!(case.copies().len(), 1);
}

/// The world in which the second update of `w-1`, which is the request after its dry run, ends like this.
fn with_answer(fault: Fault) -> Case {
    let rule = fault.method("PATCH").nth(2);
    Case::new(world(Writes::Stored).on(&path("w-1"), rule))
}

/// Plans on one server and confirms on another with the same uid of `kube-system`.
fn confirmed_with_answer(fault: Fault) -> (Case, Output) {
    let digest = Case::new(world(Writes::Stored)).digest(&["w-1"]);
    let case = with_answer(fault);
    let out = case.remove(&["w-1"], &["--confirm", &digest]);
    (case, out)
}

#[test]
fn an_answer_that_is_not_the_object_proves_nothing() {
    let another = r#"{"kind": "Widget", "metadata": {"name": "w-1", "uid": "another"}}"#;
    for body in ["[]", r#""ok""#, "{}", r#"{"metadata": [1]}"#, another, "<html>"] {
        let (case, out) = confirmed_with_answer(Fault::json(body).stored());
        assert_eq!(out.code, 0, "{body}: {out}");
        says(&out, "was lost");
        assert_eq!(case.noted(), ["w-1 sending", "w-1 done-answer-lost"], "{body}");
    }
    // The same answer from a proxy that never passed the request on.
    let (case, out) = confirmed_with_answer(Fault::json("[]"));
    assert_eq!(out.code, 1, "{out}");
    assert_eq!(case.noted(), ["w-1 sending", "w-1 unknown"]);
}

#[test]
fn an_error_after_the_write_is_found_out() {
    let failed = Fault::conversion_webhook("example.com/v1", "Widget").stored();
    let (case, out) = confirmed_with_answer(failed);
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.noted(), ["w-1 sending", "w-1 done-answer-lost"]);
    assert_eq!(case.updates("w-1"), [true, false], "it is not sent again");
}

/// How often a plan reads an object.
fn reads(case: &Case, name: &str) -> u32 {
    let requests = case.server.requests_to(&path(name));
    let is_read = |request: &&Recorded| request.method == "GET";
    u32::try_from(requests.iter().filter(is_read).count()).unwrap()
}

/// The second target of two has changed when its turn comes, in a way that its version does not show.
#[test]
fn each_target_is_diagnosed_again_before_its_request() {
    let names = ["w-1", "w-2"];
    let first = Case::new(world(Writes::Stored));
    let digest = first.digest(&names);
    let one_less = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {
        "name": "w-2", "namespace": "db", "uid": "uid-w-2", "resourceVersion": "100",
        "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [HOLD]}});
    let changed = Fault::json(one_less.to_string())
        .method("GET")
        .after(reads(&first, "w-2"));
    let case = Case::new(world(Writes::Stored).on(&path("w-2"), changed));
    let out = case.remove(&names, &["--confirm", &digest]);
    assert_eq!(out.code, 3, "{out}");
    says(
        &out,
        "no longer as it was confirmed: these other finalizers are on it now: none",
    );
    assert_eq!(case.noted(), ["w-1 sending", "w-1 done", "w-2 refused"]);
    assert_eq!(case.updates("w-2"), [true], "only its dry run");
}

#[test]
fn a_digest_holds_only_on_the_cluster_of_its_plan() {
    let digest = Case::new(world(Writes::Stored)).digest(&["w-1"]);
    let same = "/api/v1/namespaces/kube-system";
    let other = json!({"kind": "PartialObjectMetadata", "metadata": {"name": "kube-system", "uid": "other"}});
    let case = Case::new(world(Writes::Stored).on(same, Fault::json(other.to_string())));
    let out = case.remove(&["w-1"], &["--confirm", &digest]);
    assert_eq!(out.code, 3, "{out}");
    assert_eq!(case.updates("w-1"), [true], "only the dry run of the plan");

    // Where that namespace may not be read, the address tells one cluster from another.
    let unreadable = || world(Writes::Stored).on(same, Fault::forbidden("namespaces"));
    let digest = Case::new(unreadable()).digest(&["w-1"]);
    let out = Case::new(unreadable()).remove(&["w-1"], &["--confirm", &digest]);
    assert_eq!(out.code, 3, "{out}");
}
