//! `remove`, `finalize`, `nudge` and `rescue` on a real control plane. At most the one confirmed string is removed from
//! the one confirmed object, and the receipt is true.

mod complaints;
mod disk;
mod event;
mod gate;
mod guards;
mod living;
mod lost;
mod once;
mod others;
mod policies;
mod races;
mod random;
mod rbac;
mod rejected;
mod rescue;
mod rescue_again;
mod rescue_etcd;
mod terminal;

use std::{fs, path::PathBuf, sync::LazyLock};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    explain::told::{SOON, delete},
    harness::{Asked, Cluster, Namespace, Output, Plugin, wait},
    schema,
};

/// A finalizer outside the catalogue, so its removal may cost data.
pub const HOLD: &str = "example.com/hold";
pub const OTHER: &str = "example.com/other";

/// An object with a finalizer, and directories for copies and receipts.
pub struct Case<'a> {
    pub cluster: &'a Cluster,
    pub ns: Namespace<'a>,
    pub place: TempDir,
    /// The user of this case, to tell its requests from others.
    pub user: String,
    /// Whether that user has all rights.
    pub is_master: bool,
}

impl<'a> Case<'a> {
    /// A ConfigMap `held` in deletion, with these finalizers.
    pub fn held(cluster: &'a Cluster, name: &str, finalizers: &[&str]) -> Self {
        let case = Case::empty(cluster, name);
        case.hold("held", finalizers);
        case
    }

    pub fn empty(cluster: &'a Cluster, name: &str) -> Self {
        Case {
            cluster,
            ns: cluster.namespace(name),
            place: TempDir::new().unwrap(),
            user: cluster.unique("actor"),
            is_master: true,
        }
    }

    /// Another ConfigMap in deletion with a finalizer, deleted long enough ago.
    pub fn hold(&self, name: &str, finalizers: &[&str]) {
        self.make(name, finalizers);
        delete(self.cluster, &format!("configmap/{name}"), self.ns.name());
        self.deleted_earlier(&format!("configmaps/{}/{name}", self.ns.name()));
    }

    /// Puts a deletion so far back that an unknown controller had the time to act. `key` is that in etcd.
    pub fn deleted_earlier(&self, key: &str) {
        self.cluster.deleted_earlier(key, 6 * 60);
    }

    /// A ConfigMap that is not in deletion.
    pub fn make(&self, name: &str, finalizers: &[&str]) {
        let object = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "finalizers": finalizers}, "data": {"k": "v"}});
        self.ns.apply(&object.to_string());
    }

    pub fn get(&self) -> Option<Value> {
        self.ns.get(["configmap", "held"])
    }

    /// The finalizers of `held`; none if it is gone.
    pub fn finalizers(&self) -> Option<Vec<String>> {
        let object = self.get()?;
        let all = object["metadata"]["finalizers"].as_array();
        let names = all.into_iter().flatten();
        Some(names.map(|name| name.as_str().unwrap().to_owned()).collect())
    }

    /// `remove configmap/held --finalizer example.com/hold --accept data-loss` with these words added.
    pub fn remove(&self, more: &[&str]) -> Plugin {
        let words = [
            "remove",
            "configmap/held",
            "--finalizer",
            HOLD,
            "--accept=data-loss",
        ];
        self.run(&[&words[..], more].concat())
    }

    /// The plugin in this namespace, with the directories of this case.
    pub fn run(&self, words: &[&str]) -> Plugin {
        let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let place = |flag: &str, name: &str| format!("--{flag}={}", self.place.path().join(name).display());
        let given = |flag: &str| words.iter().any(|word| word.starts_with(flag));
        if !given("--backup-dir") {
            all.push(place("backup-dir", "backups"));
        }
        if !given("--audit-file") {
            all.push(place("audit-file", "receipts.jsonl"));
        }
        all.push(format!("--namespace={}", self.ns.name()));
        all.push(format!("--as={}", self.user));
        if self.is_master {
            all.push("--as-group=system:masters".into());
        }
        self.cluster.plugin(all)
    }

    /// The digest of the present plan.
    #[track_caller]
    pub fn digest(&self) -> String {
        let text = self.remove(&["--plan", "-o=json"]).run().success();
        digest(&text)
    }

    /// Plans with these words and confirms the plan.
    #[track_caller]
    pub fn confirm(&self, words: &[&str]) -> Plugin {
        let plan = self
            .run(&[words, &["--plan", "-o=json"]].concat())
            .run()
            .success();
        self.run(&[words, &["--confirm", &digest(&plan)]].concat())
    }

    /// Plans, confirms and carries out.
    #[track_caller]
    pub fn confirmed(&self) -> Output {
        let digest = self.digest();
        self.remove(&["--confirm", &digest]).run()
    }

    /// Waits until the server rejects every update of `held`.
    pub fn is_refused(&self, by: &str) {
        wait(&format!("{by} is in force"), SOON, || {
            let touch = [
                "annotate",
                "configmap",
                "held",
                "a=b",
                "--overwrite",
                "--dry-run=server",
            ];
            self.ns.kubectl(touch).code != 0
        });
    }

    /// All lines of the receipts.
    pub fn receipts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.place.path().join("receipts.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a receipt is JSON"))
            .collect()
    }

    /// The outcomes in the receipts, in order.
    pub fn noted(&self) -> Vec<String> {
        let what = |line: Value| line["what"].as_str().unwrap().to_owned();
        self.receipts().into_iter().map(what).collect()
    }

    pub fn copies(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.place.path().join("backups"));
        folder
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// The requests of this case that could store something, from the audit log.
    pub fn writes(&self) -> Vec<Asked> {
        writes(self.cluster, &self.user)
    }
}

/// The requests of a user that are neither reads, nor access reviews, nor dry runs.
pub fn writes(cluster: &Cluster, user: &str) -> Vec<Asked> {
    let mut asked = cluster.asked(&format!("\"username\":\"{user}\""));
    asked.retain(|one| {
        let reads = ["get", "list", "watch"].contains(&one.verb.as_str());
        let asks = one.type_name.ends_with(".authorization.k8s.io")
            || one.type_name.ends_with(".authentication.k8s.io");
        let tries = one.event["requestURI"]
            .as_str()
            .is_some_and(|uri| uri.contains("dryRun=All"));
        !(reads || asks || tries)
    });
    asked
}

/// Asserts that the output contains this text, wherever its lines are broken.
#[track_caller]
pub fn says(out: &Output, text: &str) {
    let all = format!("{} {}", out.stdout, out.stderr);
    let all: Vec<_> = all.split_whitespace().collect();
    assert!(all.join(" ").contains(text), "{text:?} is not said: {out}");
}

#[track_caller]
pub fn digest(plan: &str) -> String {
    let plan = document(plan);
    plan["digest"]
        .as_str()
        .unwrap_or_else(|| panic!("no digest: {plan:#}"))
        .to_owned()
}

/// Parses a document of `-o json` and checks it against the schema.
#[track_caller]
fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<testkit::jsonschema::Validator> =
        LazyLock::new(|| schema::of(include_str!("../../../docs/plan.schema.json")));
    schema::checked(&SCHEMA, text)
}

/// The documents of a run with `-o json`.
#[track_caller]
pub fn documents(output: &Output) -> Vec<Value> {
    serde_json::Deserializer::from_str(&output.stdout)
        .into_iter::<Value>()
        .map(|value| {
            document(
                &value
                    .unwrap_or_else(|error| panic!("{error}: {output}"))
                    .to_string(),
            )
        })
        .collect()
}
