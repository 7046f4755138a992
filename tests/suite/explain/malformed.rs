//! Objects that no healthy server sends, and objects that wait for each other. None causes a panic, a loop or a
//! wrong answer.

use serde_json::{Value, json};

use super::{
    document,
    told::{release, told},
};
use crate::{
    faults::fake::{Fake, Fault, Kind, Running, object},
    harness::{Cluster, Output, Plugin},
};

const TYPES: [(&str, &str, bool); 6] = [
    ("pods", "Pod", true),
    ("persistentvolumeclaims", "PersistentVolumeClaim", true),
    ("persistentvolumes", "PersistentVolume", false),
    ("namespaces", "Namespace", false),
    ("nodes", "Node", false),
    ("services", "Service", true),
];

fn server() -> Fake {
    TYPES
        .into_iter()
        .fold(Fake::new(), |fake, (plural, kind, namespaced)| {
            let ty = Kind::new("", "v1", plural).kind(kind);
            fake.with_type(if namespaced { ty.namespaced() } else { ty })
        })
}

fn explain(server: &Running, plural: &str) -> Output {
    let out = Plugin::new(["explain", plural, "x", "-n", "db", "-o", "json"])
        .kubeconfig(server.kubeconfig())
        .run();
    assert!(!out.stderr.contains("panicked"), "{out}");
    out
}

fn path(plural: &str, namespaced: bool) -> String {
    if namespaced {
        format!("/api/v1/namespaces/db/{plural}/x")
    } else {
        format!("/api/v1/{plural}/x")
    }
}

#[test]
fn fields_of_the_wrong_type_are_ignored() {
    let odd = [
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({}),
        json!([[1], null, {"a": []}]),
    ];
    let metadata = |more: Value| {
        let mut all = json!({"name": "x", "namespace": "db", "uid": "u", "finalizers": ["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"],
            "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    for (plural, kind, namespaced) in TYPES {
        for value in &odd {
            let server = server()
                .on(
                    &path(plural, namespaced),
                    Fault::json(
                        json!({"kind": kind, "apiVersion": "v1", "metadata": metadata(json!({"ownerReferences": value, "annotations": value})), "spec": value, "status": value})
                            .to_string(),
                    ),
                )
                .start();
            let out = explain(&server, plural);
            assert_eq!(out.code, 0, "{plural} {value}: {out}");
            let report = document(&out.stdout);
            assert!(report["deletion"].is_object(), "{plural} {value}: {report:#}");
            assert!(
                report["waitsFor"].as_array().unwrap().len() >= 2,
                "{plural} {value}: {report:#}"
            );
        }
    }
}

#[test]
fn malformed_finalizers_and_malformed_responses_are_reported() {
    for (body, code) in [
        (
            json!({"metadata": {"name": "x", "namespace": "db", "finalizers": "a/b"}}),
            0,
        ),
        (
            json!({"metadata": {"name": "x", "namespace": "db", "finalizers": [1, null, "a/b"], "deletionTimestamp": 7}}),
            0,
        ),
        (
            json!({"metadata": {"name": "x", "namespace": "db", "deletionTimestamp": "yesterday"}}),
            0,
        ),
        (json!({"metadata": {"name": "another"}}), 1),
        (json!({"metadata": null}), 1),
        (json!({"kind": "PodList", "items": []}), 1),
        (json!([]), 1),
        (json!(null), 1),
        (json!("x"), 1),
    ] {
        let server = server()
            .on(&path("pods", true), Fault::json(body.to_string()))
            .start();
        let out = explain(&server, "pods");
        assert_eq!(out.code, code, "{body}: {out}");
        if code == 0 {
            document(&out.stdout);
        } else {
            assert!(
                out.stdout.is_empty() && out.stderr.contains("cannot read pods x"),
                "{body}: {out}"
            );
        }
    }
    let server = server().on(&path("pods", true), Fault::html(200)).start();
    assert_eq!(explain(&server, "pods").code, 1);
}

/// Each object is the other's source and the other's owner.
#[test]
fn two_objects_that_wait_for_each_other_are_a_cycle() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("each-other");
    for (name, other) in [("a", "b"), ("b", "a")] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}, finalizers: [snapshot.storage.kubernetes.io/pvc-as-source-protection, provisioner.storage.kubernetes.io/cloning-protection]}}, \
             spec: {{accessModes: [ReadWriteOnce], storageClassName: none, resources: {{requests: {{storage: 1Gi}}}}, dataSource: {{kind: PersistentVolumeClaim, name: {other}}}}}}}"
        ));
    }
    for (name, other) in [("a", "b"), ("b", "a")] {
        let uid = ns.get(["pvc", other]).unwrap()["metadata"]["uid"]
            .as_str()
            .unwrap()
            .to_owned();
        let owners = json!([{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": other, "uid": uid, "blockOwnerDeletion": true}]);
        let patch = json!({"metadata": {"ownerReferences": owners}}).to_string();
        ns.kubectl(["patch", "pvc", name, "--type=merge", "--patch", &patch])
            .success();
    }
    for name in ["a", "b"] {
        ns.kubectl(["delete", "pvc", name, "--wait=false", "--cascade=foreground"])
            .success();
    }
    for name in ["a", "b"] {
        let story = told(cluster, &format!("pvc/{name}"), ns.name());
        assert_eq!(story.0["interrupted"], false, "{story}");
        assert!(story.0["waitsFor"].as_array().unwrap().len() >= 2, "{story}");
    }
    for name in ["a", "b"] {
        release(cluster, &format!("pvc/{name}"), ns.name());
    }
}

/// A node drain of a whole batch: ten thousand Pods use the claim.
#[test]
fn ten_thousand_pods_are_counted_and_not_listed() {
    let server = server()
        .object(
            "persistentvolumeclaims",
            object("db", "x")
                .finalizer("kubernetes.io/pvc-protection")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .generate("pods", 10_000, |at| {
            object("db", &format!("worker-{at}"))
                .spec(json!({"nodeName": format!("n-{}", at % 50), "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}))
                .status(json!({"phase": "Running"}))
        })
        .start();
    for form in ["table", "wide"] {
        let out = Plugin::new(["explain", "persistentvolumeclaims/x", "-n", "db", "-o", form])
            .kubeconfig(server.kubeconfig())
            .run()
            .success();
        assert!(out.lines().count() < 60, "{out}");
        assert!(out.len() < 10_000, "{out}");
        assert!(out.contains("IN USE"), "{out}");
    }
    let report = document(&explain(&server, "persistentvolumeclaims").success());
    assert!(report.to_string().len() < 30_000, "{report:#}");
}
