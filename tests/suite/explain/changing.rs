//! Objects that change while they are explained. A real server does this too, but a test cannot choose the
//! moment.

use super::document;
use crate::{
    faults::fake::{Fake, Fault, Kind, Running, object},
    harness::{Output, Plugin},
};

const CLAIM: &str = "/api/v1/namespaces/db/persistentvolumeclaims/data-0";
const LONG_AGO: &str = "2026-01-01T00:00:00Z";

/// A server with a claim that is being deleted, and a pod that uses it.
fn server() -> Fake {
    let pod = object("db", "db-0")
        .spec(serde_json::json!({"nodeName": "n", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data-0"}}]}))
        .status(serde_json::json!({"phase": "Running"}));
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        )
        .object("pods", pod)
        .object(
            "persistentvolumeclaims",
            object("db", "data-0")
                .finalizer("kubernetes.io/pvc-protection")
                .deleting(LONG_AGO),
        )
}

fn claim(uid: &str, metadata: &str) -> Fault {
    Fault::json(format!(
        r#"{{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"data-0","namespace":"db","uid":"{uid}"{metadata}}}}}"#
    ))
}

fn explain(server: &Running, form: &str) -> Output {
    let out = Plugin::new(["explain", "persistentvolumeclaims/data-0", "-n", "db", "-o", form])
        .kubeconfig(server.kubeconfig())
        .run();
    assert!(!out.stderr.contains("panicked"), "{out}");
    out
}

#[test]
fn an_object_that_disappears_meanwhile_is_gone() {
    let gone = || server().on(CLAIM, Fault::not_found().after(1)).start();
    let out = explain(&gone(), "table");
    let text = "GONE  pvc/data-0 -n db, it went while it was looked at\n";
    assert_eq!((out.code, &*out.stdout, &*out.stderr), (0, text, ""));

    let report = document(&explain(&gone(), "json").success());
    assert_eq!(report["gone"], true);
    assert_eq!(report["steps"], serde_json::json!([]));
    let out = explain(&gone(), "name");
    assert_eq!((out.code, &*out.stdout), (0, ""));
    assert!(out.stderr.contains("gone"), "{out}");
}

#[test]
fn a_new_object_with_the_same_name_is_not_the_old_one() {
    let renewed = || server().on(CLAIM, claim("second", "").after(1)).start();
    let report = document(&explain(&renewed(), "json").success());
    assert_eq!(report["gone"], false);
    assert_eq!(report["target"]["uid"], "second");
    assert!(
        report["deletion"].is_null(),
        "the new one is not being deleted: {report:#}"
    );
    let note = report["notes"][0].as_str().unwrap();
    assert!(
        note.contains("a new one of that name") && note.contains("second"),
        "{note}"
    );
    assert!(explain(&renewed(), "table").success().contains("\nNote: "));
}

#[test]
fn the_explanation_is_about_the_last_state() {
    let now = format!(
        r#","deletionTimestamp":"{LONG_AGO}","deletionGracePeriodSeconds":0,"finalizers":["example.com/other"]"#
    );
    let first = server().start();
    let uid = document(&explain(&first, "json").success())["target"]["uid"].clone();
    let server = server()
        .on(CLAIM, claim(uid.as_str().unwrap(), &now).after(1))
        .start();
    let report = document(&explain(&server, "json").success());
    assert_eq!(report["waitsFor"][0]["finalizer"]["name"], "example.com/other");
    assert_eq!(report["notes"], serde_json::json!([]));
}

#[test]
fn an_object_that_keeps_changing_is_explained_as_read() {
    let mut fake = server();
    for turn in 1..=9 {
        fake = fake.on(CLAIM, claim(&format!("turn-{turn}"), "").nth(turn));
    }
    let report = document(&explain(&fake.start(), "json").success());
    assert!(
        report["notes"]
            .to_string()
            .contains("it changes while it is looked at"),
        "{report:#}"
    );
}

#[test]
fn a_failed_second_read_changes_nothing() {
    let server = server()
        .on(CLAIM, Fault::forbidden("persistentvolumeclaims").after(1))
        .start();
    let report = document(&explain(&server, "json").success());
    assert_eq!(report["gone"], false);
    assert_eq!(report["waitsFor"][0]["verdict"], "in-use");
}
