//! Ctrl-C prints what was read and says that it is incomplete.

use std::time::Duration;

use serde_json::json;

use super::{
    PODS,
    fake::{Fault, Kind, Running, cluster_object, object},
    healthy, plugin, timed,
};
use crate::harness::{Output, Plugin, Signal, wait};

/// Interrupts a scan after the server got this many requests for `path` and went silent.
fn interrupted(server: &Running, arguments: &[&str], path: &str, requests: usize) -> Output {
    let arguments = ["scan"].iter().chain(arguments).copied();
    let run = Plugin::new(arguments).kubeconfig(server.kubeconfig()).spawn();
    wait("the scan hangs", Duration::from_secs(20), || {
        server.requests_to(path).len() >= requests
    });
    // The other types take a short time.
    std::thread::sleep(Duration::from_millis(300));
    let (out, took) = timed(|| {
        run.signal(Signal::INT);
        run.finish()
    });
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(!out.stderr.contains("panicked"), "{out}");
    out
}

#[test]
fn prints_what_was_read_and_marks_it_incomplete() {
    let server = healthy()
        .object(
            "widgets.example.com",
            object("db", "stuck")
                .finalizer("a/b")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .on(PODS, Fault::HangBeforeHeaders)
        .start();
    let out = interrupted(&server, &[], PODS, 1);
    assert_eq!(out.code, 130, "{out}");
    assert!(out.stdout.contains("widgets.example.com/stuck -n db"), "{out}");
    assert!(
        out.stdout
            .contains("NOT READ (may hide stuck objects): pods: stopped before they were read\n"),
        "{out}"
    );
    assert!(out.stdout.contains("STOPPED before the end"), "{out}");
}

#[test]
fn the_pages_of_an_unfinished_list_count() {
    let server = healthy().on(PODS, Fault::HangMidBody.page(3)).start();
    let out = interrupted(&server, &["-o", "json"], PODS, 3);
    assert_eq!(out.code, 130, "{out}");
    let json: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(
        (json["interrupted"].as_bool(), json["complete"].as_bool()),
        (Some(true), Some(false))
    );
    assert_eq!(json["notRead"][0]["name"], "pods");
    assert_eq!(
        (
            json["notRead"][0]["reason"].as_str(),
            json["notRead"][0]["objectsRead"].as_u64()
        ),
        (Some("Interrupted"), Some(1_000))
    );
    assert_eq!(json["totals"]["objects"], 1_000 + 1 + 3);
}

#[test]
fn nothing_is_called_gone_before_the_types_are_known() {
    let server = healthy().on("/api*", Fault::HangBeforeHeaders).start();
    let out = interrupted(&server, &[], "/apis", 1);
    assert_eq!(out.code, 130, "{out}");
    assert!(!out.stdout.contains("Nothing is stuck"), "{out}");
    assert!(out.stdout.contains("STOPPED before the end"), "{out}");
}

#[test]
fn a_scan_without_interruption_does_not_mention_one() {
    let out = plugin(&healthy().start(), &[]).run().success();
    assert!(!out.contains("STOPPED"), "{out}");
}

/// All types are listed. Then the server goes silent when it is asked who uses one of two claims.
#[test]
fn an_interrupted_diagnosis_says_how_far_it_came() {
    let claim = |namespace: &str| {
        object(namespace, "data")
            .finalizer("kubernetes.io/pvc-protection")
            .deleting("2026-01-01T00:00:00Z")
    };
    let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]);
    let pod = object("web", "uses-it")
        .spec(json!({"nodeName": "n", "containers": [], "volumes": volumes}))
        .status(json!({"phase": "Running"}));
    let over = cluster_object("pv-1")
        .spec(json!({"persistentVolumeReclaimPolicy": "Delete"}))
        .status(json!({"phase": "Released"}));
    let silent = "/api/v1/namespaces/db/pods";
    let server = healthy()
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .with_type(Kind::new("", "v1", "persistentvolumes").kind("PersistentVolume"))
        .object("persistentvolumeclaims", claim("db"))
        .object("persistentvolumeclaims", claim("web"))
        .object("pods", pod)
        .object("persistentvolumes", over)
        .on(silent, Fault::HangBeforeHeaders)
        .start();
    let out = interrupted(&server, &[], silent, 1);
    assert_eq!(out.code, 130, "{out}");
    for said in [
        "No fault: pod/uses-it -n web uses ",
        "1 of 2 objects were not looked at one by one, because this was stopped",
        "Not known whether there are volumes whose disks nobody deletes: stopped before it looked at 1 volume",
        "STOPPED before the end: everything was listed, but not everything was looked at, and reasons may be missing.",
    ] {
        let flat = out.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(said), "{said}\n{out}");
    }
    let out = interrupted(&server, &["-o", "json"], silent, 2);
    let report: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(
        (&report["interrupted"], &report["notLookedAt"]),
        (&json!(true), &json!(1)),
        "{out}"
    );
    assert_eq!(
        report["leftBehind"]["notKnown"][0]["reason"], "Interrupted",
        "{out}"
    );
}
