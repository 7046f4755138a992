//! A server that does not respond, and a user who interrupts.

use std::{thread, time::Duration};

use serde_json::json;

use super::document;
use crate::{
    faults::fake::{Fake, Fault, Kind, Running, cluster_object, object},
    harness::{End, Output, Plugin, Signal, wait},
};

const PODS: &str = "/api/v1/namespaces/db/pods";
const CLAIM: &str = "/api/v1/namespaces/db/persistentvolumeclaims/data-0";

/// A server with a claim in deletion. It does not respond where a test says so.
fn silent_at(path: &str) -> Running {
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .object(
            "persistentvolumeclaims",
            object("db", "data-0")
                .finalizer("kubernetes.io/pvc-protection")
                .deleting("2026-01-01T00:00:00Z")
                .spec(json!({"volumeName": "v"})),
        )
        .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
        .object("namespaces", cluster_object("db"))
        .on(path, Fault::HangBeforeHeaders)
        .start()
}

fn explain(server: &Running, more: &[&str]) -> Plugin {
    let words = [&["explain", "persistentvolumeclaims/data-0", "-n", "db"], more].concat();
    Plugin::new(words).kubeconfig(server.kubeconfig())
}

/// Sends Ctrl-C after the server got this request.
fn stopped(server: &Running, path: &str, more: &[&str]) -> Output {
    let running = explain(server, more).within(Duration::from_secs(20)).spawn();
    wait("the request hangs", Duration::from_secs(20), || {
        !server.requests_to(path).is_empty()
    });
    thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    let out = running.finish();
    assert!(!out.stderr.contains("panicked"), "{out}");
    assert_eq!(out.code, 130, "{out}");
    out
}

#[test]
fn ctrl_c_shows_what_is_known_and_what_is_missing() {
    let server = silent_at(PODS);
    let report = document(&stopped(&server, PODS, &["-o", "json"]).stdout);
    assert_eq!(report["interrupted"], true);
    assert_eq!(report["waitsFor"][0]["verdict"], "unknown");
    let gap = &report["notRead"][0];
    assert_eq!(
        (&gap["name"], &gap["namespace"], &gap["reason"]),
        (&json!("pods"), &json!("db"), &json!("Interrupted"))
    );

    let server = silent_at(PODS);
    let out = stopped(&server, PODS, &[]);
    for said in ["STOPPED before everything was read", "Terminating", "pods in db"] {
        assert!(out.stdout.contains(said), "{said}: {out}");
    }
    assert!(out.stderr.is_empty(), "{out}");
}

#[test]
fn ctrl_c_before_the_object_is_found_shows_no_explanation() {
    for (path, what) in [(CLAIM, "persistentvolumeclaims/data-0"), ("/apis", "anything")] {
        let server = silent_at(path);
        let out = stopped(&server, path, &[]);
        assert_eq!(
            (&*out.stdout, &*out.stderr),
            ("", &*format!("error: stopped before {what} was read\n"))
        );
    }
}

#[test]
fn a_slow_request_times_out_and_the_rest_is_explained() {
    let server = silent_at(PODS);
    let report = document(
        &explain(&server, &["--request-timeout=1s", "-o", "json"])
            .run()
            .success(),
    );
    assert_eq!(report["interrupted"], false, "it was asked, and did not answer");
    assert_eq!(report["notRead"][0]["reason"], "TimedOut");
    assert_eq!(report["waitsFor"][0]["verdict"], "unknown");

    let server = silent_at(CLAIM);
    super::refused(
        explain(&server, &["--request-timeout=1s"]),
        1,
        "cannot read persistentvolumeclaims data-0 in namespace db: no answer within 1 s",
        "--request-timeout gives the server more time",
    );
}

#[test]
fn progress_is_shown_on_terminals_only() {
    let server = silent_at(PODS);
    let out = explain(&server, &["--request-timeout=2s"])
        .stderr_to(End::Terminal(80))
        .run();
    assert!(
        out.stderr
            .contains("persistentvolumeclaims/data-0: waiting for pods in db\r"),
        "{out}"
    );
    assert!(
        out.stderr.ends_with("\r\u{1b}[K"),
        "the progress line is removed at the end: {out}"
    );
    assert!(
        out.stderr.split("\r\u{1b}[K").all(|line| line.len() < 80),
        "{out}"
    );
    let out = explain(&silent_at(PODS), &["--request-timeout=1s"]).run();
    assert!(out.stderr.is_empty(), "{out}");
}
