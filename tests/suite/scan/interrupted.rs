//! A server that stops responding, and a user who interrupts.
//!
//! A type hangs while it is listed if its conversion webhook reads the request and sends nothing: the API server waits 30
//! seconds for it (`kubernetes/kubernetes:staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go`).
//! A webhook that does not even finish the TLS handshake would be given up after ten. That request shows that discovery is
//! done and that all other types are being read.

use std::{
    sync::{LazyLock, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{complaint, document, gap, names};
use crate::harness::{
    Cluster, Component, End, Options, Output, Plugin, RunningPlugin, Signal, Webhook, wait,
};

struct Hanging {
    cluster: Cluster,
    /// One for each request that the webhook read.
    calls: mpsc::Receiver<()>,
}

/// Tests run one at a time, because a paused server is paused for all of them.
fn hanging() -> MutexGuard<'static, Hanging> {
    static HANGING: LazyLock<Mutex<Hanging>> = LazyLock::new(|| Mutex::new(start()));
    HANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> Hanging {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let (called, calls) = mpsc::channel();
    let webhook = Webhook::start(&cluster, move |_| {
        called.send(()).expect("the tests run");
        loop {
            thread::park();
        }
    });
    let schema = "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    cluster.apply(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: sloths.slow.example.com}}
spec:
  group: slow.example.com
  scope: Cluster
  names: {{plural: sloths, kind: Sloth}}
  versions:
  - {{name: v1, served: true, storage: true, {schema}}}
  - {{name: v2, served: true, storage: false, {schema}}}
"
    ));
    wait("the new type is served", Duration::from_secs(30), || {
        cluster.kubectl(["get", "sloths.v1.slow.example.com"]).code == 0
    });
    cluster.apply("{apiVersion: slow.example.com/v1, kind: Sloth, metadata: {name: sid}}");
    cluster.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: default, finalizers: [example.com/hold]}}");
    cluster
        .kubectl(["delete", "configmap", "kept", "--wait=false"])
        .success();
    let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": webhook.client_config});
    let conversion = json!({"strategy": "Webhook", "webhook": webhook});
    let patch = json!({"spec": {"conversion": conversion}});
    cluster.patch_by("kubectl-patch", ["crd", "sloths.slow.example.com"], &patch);
    wait("the webhook is called", Duration::from_secs(30), || {
        cluster.kubectl(["get", "sloths.v2.slow.example.com", "--request-timeout=1s"]);
        calls.try_recv().is_ok()
    });
    Hanging { cluster, calls }
}

impl Hanging {
    /// The plugin at the moment when all types but one have been listed.
    fn waiting(&self, plugin: Plugin) -> RunningPlugin {
        // What earlier tests called.
        while self.calls.try_recv().is_ok() {}
        let running = plugin.spawn();
        self.calls.recv().expect("the API server calls the webhook");
        // The other types respond within milliseconds, and on a slow machine later. The audit log then still grows.
        let listed = || self.cluster.asked(r#""verb":"list""#).len();
        let mut before = listed();
        wait("the other types are listed", Duration::from_secs(60), || {
            thread::sleep(Duration::from_millis(1500));
            let now = listed();
            let is_done = now == before;
            before = now;
            is_done
        });
        running
    }
}

/// Resumes a paused program, also after a failed assertion.
struct Paused<'a>(&'a Component);

impl<'a> Paused<'a> {
    fn new(component: &'a Component) -> Self {
        component.pause();
        Self(component)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}

fn stop(hanging: &Hanging, form: &str) -> Output {
    let plugin = hanging.cluster.plugin(["scan", "-o", form]);
    let running = hanging.waiting(plugin);
    let _paused = Paused::new(hanging.cluster.api_server());
    let began = Instant::now();
    running.signal(Signal::INT);
    let out = running.finish();
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "it took {:?}",
        began.elapsed()
    );
    out
}

#[test]
fn ctrl_c_prints_what_was_read_and_says_that_it_is_incomplete() {
    let hanging = hanging();
    let out = stop(&hanging, "table");
    assert_eq!(out.code, 130, "{out}");
    assert!(out.stdout.contains("cm/kept"), "{out}");
    assert!(
        out.stdout
            .contains("sloths.slow.example.com: stopped before they were read"),
        "{out}"
    );
    assert!(out.stdout.contains("STOPPED before the end"), "{out}");
    assert!(out.stderr.is_empty(), "{out}");

    let out = stop(&hanging, "json");
    assert_eq!(out.code, 130, "{out}");
    let report = document(&out.stdout);
    assert_eq!(report["interrupted"], true);
    assert_eq!(report["complete"], false);
    assert_eq!(names(&report, "terminating"), ["configmaps/kept"]);
    assert_eq!(gap(&report, "sloths.slow.example.com")["reason"], "Interrupted");
}

#[test]
fn a_type_that_hangs_times_out_and_the_rest_is_read() {
    let hanging = hanging();
    let out = hanging
        .cluster
        .plugin(["scan", "-o", "json", "--request-timeout=2s"])
        .run();
    assert_eq!(out.code, 0, "{out}");
    let report = document(&out.stdout);
    let gap = gap(&report, "sloths.slow.example.com");
    assert_eq!(gap["reason"], "TimedOut");
    assert_eq!(gap["message"], "no answer within 2 s");
    assert_eq!(names(&report, "terminating"), ["configmaps/kept"]);
}

#[test]
fn progress_on_a_terminal_names_what_it_waits_for() {
    let hanging = hanging();
    let scan = || hanging.cluster.plugin(["scan", "--request-timeout=2s"]);
    let out = scan().stderr_to(End::Terminal(80)).run();
    assert!(
        out.stderr
            .contains("objects, waiting for sloths.slow.example.com"),
        "{out}"
    );
    assert!(
        out.stderr.ends_with("\r\u{1b}[K"),
        "the progress line is removed at the end: {out}"
    );
    for line in out.stderr.split("\r\u{1b}[K") {
        assert!(line.len() < 80, "{line:?}");
    }
    assert!(!out.stdout.contains("waiting for sloths"), "{out}");
    // Without a terminal, progress would only fill a log.
    let out = scan().stdout_to(End::Terminal(80)).run();
    assert!(out.stderr.is_empty(), "{out}");
}

#[test]
fn a_server_that_does_not_respond_times_out() {
    let hanging = hanging();
    let _paused = Paused::new(hanging.cluster.api_server());
    let began = Instant::now();
    let out = hanging.cluster.plugin(["scan", "--request-timeout=2s"]).run();
    assert_eq!(out.code, 1, "{out}");
    let (error, hint) = complaint(&out);
    assert!(
        error.contains("did not answer in time") || error.contains("timed out"),
        "{out}"
    );
    assert!(
        hint.contains("--request-timeout") || hint.contains("network"),
        "{out}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "it took {:?}",
        began.elapsed()
    );
}

#[test]
fn ctrl_c_before_the_first_response_ends_the_run() {
    let hanging = hanging();
    let _paused = Paused::new(hanging.cluster.api_server());
    let running = hanging.cluster.plugin(["scan"]).spawn();
    thread::sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    let out = running.finish();
    assert_eq!(out.code, 130, "{out}");
    assert!(!out.stdout.contains("Nothing"), "{out}");
}
