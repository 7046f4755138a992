//! A scan of a server that misbehaves. It goes on, says what it could not read and why, keeps what it read, and
//! claims nothing else. The server is the fake, because a real one does not misbehave on demand.

mod asked;
mod clock;
mod decoders;
mod discovery;
#[path = "../../fake/server/mod.rs"]
pub mod fake;
mod gone;
mod interrupt;
mod lists;
mod malformed;
mod namespaces;
mod older;
mod text;
mod trials;
mod types;
mod writes;

use std::time::Duration;

use serde_json::Value;

use crate::{
    harness::{Output, Plugin},
    scan::document,
};
use fake::{Fake, Kind, Rule, Running, object};

/// The path of the list of Pods.
const PODS: &str = "/api/v1/pods";

/// A timeout for servers that go silent: short for a test, and long enough for a healthy response on a busy
/// machine.
const PATIENCE: &str = "--request-timeout=2s";

/// A scan of this server that has not started.
fn plugin(server: &Running, arguments: &[&str]) -> Plugin {
    let arguments = ["scan"].iter().chain(arguments);
    Plugin::new(arguments.copied()).kubeconfig(server.kubeconfig())
}

/// The output of a scan of this server.
fn scan(server: &Running, arguments: &[&str]) -> Output {
    let out = plugin(server, arguments).run();
    assert!(!out.stderr.contains("panicked"), "{out}");
    out
}

/// The JSON of a scan, and its exit code with `--exit-code`.
fn report(server: &Running, arguments: &[&str]) -> Report {
    let arguments: Vec<_> = ["-o", "json", "--exit-code"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let out = scan(server, &arguments);
    Report {
        json: document(&out.stdout),
        code: out.code,
    }
}

struct Report {
    json: Value,
    code: i32,
}

impl Report {
    /// The only gap about this name.
    fn gap(&self, name: &str) -> &Value {
        let gaps: Vec<_> = self.gaps().iter().filter(|gap| gap["name"] == name).collect();
        assert_eq!(gaps.len(), 1, "gaps about {name}: {:#}", self.json);
        gaps[0]
    }

    fn gaps(&self) -> &[Value] {
        self.json["notRead"].as_array().unwrap()
    }

    /// How many objects have this finalizer.
    fn carrying(&self, finalizer: &str) -> u64 {
        let rows = self.json["finalizers"].as_array().unwrap();
        rows.iter()
            .filter(|row| row["name"] == finalizer)
            .map(|row| row["objects"].as_u64().unwrap())
            .sum()
    }

    /// `TYPE/NAME` of every object in deletion.
    fn terminating(&self) -> Vec<String> {
        let objects = self.json["terminating"].as_array().unwrap();
        let name = |object: &Value| {
            format!(
                "{}/{}",
                object["resource"].as_str().unwrap(),
                object["name"].as_str().unwrap()
            )
        };
        objects.iter().map(name).collect()
    }

    fn objects(&self) -> u64 {
        self.json["totals"]["objects"].as_u64().unwrap()
    }

    fn notes(&self) -> String {
        self.json["notes"].to_string()
    }

    /// Asserts that everything was read.
    fn complete(self) -> Self {
        assert_eq!(
            (self.json["complete"].as_bool(), self.gaps().len(), self.code),
            (Some(true), 0, 0),
            "{:#}",
            self.json
        );
        self
    }
}

/// Three pages of Pods and three widgets, all with finalizers, none in deletion.
fn healthy() -> Fake {
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").short("ns"))
        .with_type(Kind::new("", "v1", "pods").namespaced().short("po"))
        .with_type(Kind::new("example.com", "v1", "widgets").namespaced())
        .object("namespaces", fake::cluster_object("db"))
        .generate("pods", 1_200, |n| {
            object("db", &format!("pod-{n}")).finalizer("pod/keep")
        })
        .generate("widgets.example.com", 3, |n| {
            object("db", &format!("widget-{n}")).finalizer("widget/keep")
        })
}

/// The report on [`healthy`] if the list of Pods fails in this way. The widgets are read in any case.
fn with_pods_failing(rule: impl Into<Rule>) -> Report {
    let report = report(&healthy().on(PODS, rule).start(), &[PATIENCE]);
    assert_eq!(report.carrying("widget/keep"), 3, "{:#}", report.json);
    report
}

impl Report {
    /// Asserts that the Pods are a gap for this reason after this many of them, with the matching exit code.
    #[track_caller]
    fn lost_pods(self, after: u64, reason: &str, message: &str) -> Self {
        let gap = self.gap("pods");
        assert_eq!(
            (&gap["reason"], gap["objectsRead"].as_u64().unwrap_or(0)),
            (&Value::from(reason), after),
            "{gap:#}"
        );
        let said = gap["message"].as_str().unwrap();
        assert!(said.contains(message), "{said}");
        assert_eq!(self.carrying("pod/keep"), after);
        assert_eq!(self.gaps().len(), 1);
        assert_eq!((self.json["complete"].as_bool(), self.code), (Some(false), 5));
        self
    }

    /// Asserts that all Pods were read in the end, each counted once.
    #[track_caller]
    fn all_pods(self) -> Self {
        assert_eq!(self.carrying("pod/keep"), 1_200, "{:#}", self.json);
        self.complete()
    }
}

/// Runs `work` and returns how long it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = std::time::Instant::now();
    let done = work();
    (done, began.elapsed())
}
