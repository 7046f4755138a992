//! The default class, which claims get that name no class.

use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, told},
    },
    harness::{Cluster, wait},
};

/// A workload of this kind that creates no Pod yet, with these volumes and claims.
pub(super) fn workload(kind: &str, name: &str, volumes: &Value, templates: &Value) -> String {
    let labels = json!({"app": name});
    let mut workload = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {
        "replicas": 0, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"volumes": volumes,
            "containers": [{"name": "c", "image": "i"}]}}}});
    if kind == "StatefulSet" {
        workload["spec"]["serviceName"] = name.into();
        workload["spec"]["volumeClaimTemplates"] = templates.clone();
    }
    workload.to_string()
}

/// A claim of this class; an empty name means the default class.
pub(super) fn claim(name: &str, class: &Value) -> Value {
    let mut claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}});
    if !class.is_null() {
        claim["spec"]["storageClassName"] = class.clone();
    }
    claim
}

/// An ephemeral volume, which is created with its Pod.
pub(super) fn scratch(class: &Value) -> Value {
    json!([{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("", class)["spec"]}}}])
}

#[test]
fn the_default_class_names_the_claims_without_a_class() {
    // A cluster has one default class, so this test has a cluster of its own.
    let cluster = &Cluster::start();
    let class = |name: &str, default: bool| {
        cluster.apply(
            &json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "nobody.example.test",
                "metadata": {"name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": default.to_string()}}})
            .to_string(),
        );
    };
    class("standard", true);
    class("other", false);
    let ns = cluster.namespace("names-none");
    let none = Value::Null;
    ns.apply(&claim("waits", &none).to_string());
    let nothing = json!([]);
    ns.apply(&workload(
        "StatefulSet",
        "names-no-class",
        &nothing,
        &json!([claim("data", &none)]),
    ));
    ns.apply(&workload(
        "StatefulSet",
        "wants-none",
        &nothing,
        &json!([claim("data", &json!(""))]),
    ));
    ns.apply(&workload("Deployment", "scratches", &scratch(&none), &nothing));
    ns.apply(&workload(
        "Deployment",
        "scratches-elsewhere",
        &scratch(&json!("other")),
        &nothing,
    ));
    let class_of = |name: &str| ns.get(["pvc", name]).unwrap()["spec"]["storageClassName"].clone();
    assert_eq!(class_of("waits"), "standard");

    let target = "storageclass/standard";
    let story = told(cluster, target, "");
    story
        .fates("broken", "it is the only default class: new claims that name no class stay Pending")
        .fates("broken", "claims without a volume that name it: 1")
        .fates("broken", "StatefulSets whose claims name no class: 1; new replicas of them get no volume: names-no-class")
        .fates("broken", "workloads with ephemeral volumes that name no class: 1; new pods of them get no volume, and wait: scratches")
        .never_says("wants-none")
        .never_says("scratches-elsewhere");
    withstands_less(cluster, target, "", 14);
    // A class that is not the default affects only claims that name it.
    told(cluster, "storageclass/other", "")
        .fates("broken", "workloads with ephemeral volumes that name it: 1; new pods of them get no volume, and wait: scratches-elsewhere")
        .never_says("default class")
        .never_says("names-no-class");

    // In the advised order claims keep getting a class.
    story.follow(cluster, "annotate storageclass/other");
    told(cluster, target, "")
        .never_says("it is the only default class")
        .never_says("names-no-class")
        .never_advises("annotate");
    story.follow(cluster, "get storageclass/standard");
    story.follow(cluster, "delete storageclass/standard");
    goes(cluster, target, "");
    ns.apply(&claim("later", &none).to_string());
    assert_eq!(class_of("later"), "other");

    // The explanation is true: without a default, a claim has no class until there is a default again.
    cluster.kubectl(["delete", "storageclass", "other"]).success();
    ns.apply(&claim("too-late", &none).to_string());
    assert!(class_of("too-late").is_null());
    class("again", true);
    wait("the claim gets the new default", SOON, || {
        class_of("too-late") == "again"
    });
}
