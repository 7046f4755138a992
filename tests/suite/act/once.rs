//! One write of one string on one object, with a copy before it and a receipt around it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{Case, HOLD, OTHER, documents};
use crate::harness::Cluster;

#[test]
fn one_write_removes_the_string_and_the_object_is_deleted() {
    let case = Case::held(Cluster::shared(), "once", &[HOLD]);
    let out = case.confirmed();
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "result Deleted.");
    assert_eq!(case.get(), None);
    let writes = case.writes();
    assert_eq!(writes.len(), 1, "{writes:#?}");
    assert_eq!(
        (&*writes[0].verb, &*writes[0].type_name),
        ("patch", "configmaps"),
        "{writes:#?}"
    );
    assert_eq!(case.noted(), ["sending", "done"]);
    let receipt = &case.receipts()[1];
    assert_eq!(receipt["user"], case.user, "{receipt:#}");
    assert_eq!(receipt["finalizer"]["name"], HOLD, "{receipt:#}");
    assert_eq!(receipt["consequence"], "data-loss", "{receipt:#}");
}

#[test]
fn the_other_finalizers_stay_and_are_named() {
    let case = Case::held(Cluster::shared(), "others", &[OTHER, HOLD]);
    let digest = case.digest();
    let out = case.remove(&["--confirm", &digest, "-o=json"]).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.finalizers().unwrap(), [OTHER]);
    let documents = documents(&out);
    assert_eq!(documents[0]["plans"][0]["stays"][0]["name"], OTHER);
    let outcome = &documents[1]["outcomes"][0];
    assert_eq!(outcome["result"], "held", "{outcome:#}");
    assert_eq!(outcome["heldBy"][0]["name"], OTHER, "{outcome:#}");
}

#[test]
fn a_plan_sends_nothing_and_writes_no_file() {
    let case = Case::held(Cluster::shared(), "planned", &[HOLD]);
    let out = case.remove(&["--plan"]).run();
    assert_eq!(out.code, 0, "{out}");
    for text in [
        HOLD,
        "data-loss: ",
        "digest",
        "kubectl patch configmaps/held -n ",
        "\"op\":\"remove\"",
    ] {
        assert!(out.stdout.contains(text), "{text}: {out}");
    }
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert!(case.writes().is_empty(), "{:#?}", case.writes());
    assert_eq!(fs::read_dir(case.place.path()).unwrap().count(), 0);
    assert_eq!(case.digest(), case.digest(), "the same plan has the same digest");
}

#[test]
fn the_copy_can_be_applied_and_only_its_owner_can_read_it() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "copy");
    let service = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "held", "finalizers": ["example.com/hold"], "labels": {"a": "b"}},
        "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}"#;
    case.ns.apply(service);
    crate::explain::told::delete(cluster, "service/held", case.ns.name());
    case.deleted_earlier(&format!("services/specs/{}/held", case.ns.name()));
    let words = [
        "remove",
        "service/held",
        "--finalizer",
        HOLD,
        "--accept=data-loss",
    ];
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.ns.get(["service", "held"]), None);

    let copies = case.copies();
    let [copy] = copies.as_slice() else {
        panic!("{copies:?}");
    };
    let mode = fs::metadata(copy).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{mode:o}");
    let receipts = case.place.path().join("receipts.jsonl");
    assert_eq!(
        fs::metadata(receipts).unwrap().permissions().mode() & 0o777,
        0o600
    );
    case.ns
        .kubectl(["apply", "--server-side", "-f", copy.to_str().unwrap()])
        .success();
    let back = case.ns.get(["service", "held"]).unwrap();
    assert_eq!(back["metadata"]["finalizers"][0], HOLD);
    assert_eq!(back["metadata"]["labels"]["a"], "b");
    assert_eq!(back["spec"]["ports"][0]["port"], 80);
}

#[test]
fn the_copy_of_a_secret_has_only_its_metadata() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "confidential-copy");
    case.ns.apply(
        r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "held", "finalizers": ["example.com/hold"],
            "annotations": {"kapp.k14s.io/original": "{\"stringData\":{\"k\":\"hidden\"}}"}}, "stringData": {"k": "hidden"}}"#,
    );
    crate::explain::told::delete(cluster, "secret/held", case.ns.name());
    case.deleted_earlier(&format!("secrets/{}/held", case.ns.name()));
    let words = ["remove", "secret/held", "--finalizer", HOLD, "--accept=data-loss"];
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    let text = fs::read_to_string(&case.copies()[0]).unwrap();
    assert!(
        text.contains("kind: Secret") && text.contains("Metadata only"),
        "{text}"
    );
    assert!(text.contains("annotations [\"kapp.k14s.io/original\""), "{text}");
    // The values in plain text and in base64.
    assert!(!text.contains("hidden") && !text.contains("aGlkZGVu"), "{text}");

    // With the flag the copy is complete and can be applied.
    let case = Case::empty(cluster, "confidential-whole");
    case.ns.apply(
        r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "held", "finalizers": ["example.com/hold"]}, "stringData": {"k": "hidden"}}"#,
    );
    crate::explain::told::delete(cluster, "secret/held", case.ns.name());
    case.deleted_earlier(&format!("secrets/{}/held", case.ns.name()));
    let words = [&words[..], &["--backup-secrets"]].concat();
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.ns.get(["secret", "held"]), None);
    let [copy] = &case.copies()[..] else {
        panic!("{:?}", case.copies());
    };
    let mode = fs::metadata(copy).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{mode:o}");
    case.ns
        .kubectl(["apply", "--server-side", "-f", copy.to_str().unwrap()])
        .success();
    assert_eq!(case.ns.get(["secret", "held"]).unwrap()["data"]["k"], "aGlkZGVu");
}

#[test]
fn the_copy_of_a_configmap_is_complete() {
    let case = Case::held(Cluster::shared(), "whole-copy", &[HOLD]);
    let out = case.confirmed();
    assert_eq!(out.code, 0, "{out}");
    let copy = case.copies().remove(0);
    case.ns
        .kubectl(["apply", "--server-side", "-f", copy.to_str().unwrap()])
        .success();
    assert_eq!(case.get().unwrap()["data"]["k"], "v");
}

/// This tells a dry run from one that was stored: an update gives the object a new version.
#[test]
fn the_answer_to_a_dry_run_has_the_version_that_the_object_already_had() {
    for (name, finalizers) in [("dry-last", &[HOLD][..]), ("dry-other", &[HOLD, OTHER])] {
        let case = Case::held(Cluster::shared(), name, finalizers);
        let patch = r#"[{"op": "remove", "path": "/metadata/finalizers/0"}]"#;
        let version = "-o=jsonpath={.metadata.resourceVersion}";
        let words = [
            "patch",
            "configmap",
            "held",
            "--type=json",
            "-p",
            patch,
            "--dry-run=server",
            version,
        ];
        let answered = case.ns.kubectl(words).success();
        let now = case.get().unwrap();
        assert_eq!(
            answered.trim(),
            now["metadata"]["resourceVersion"].as_str().unwrap()
        );
        assert_eq!(case.finalizers().unwrap(), finalizers);
    }
}
