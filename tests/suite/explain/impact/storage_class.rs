//! StorageClasses and CSIDrivers: nothing protects them, and other objects may need them.

use serde_json::{Value, json};

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, told},
    },
    harness::{Cluster, wait},
};

fn class(name: &str) {
    WORLD.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, provisioner: classes.example.test, \
         volumeBindingMode: WaitForFirstConsumer}}"
    ));
}

fn volume(name: &str, class: &str, driver: &str) {
    WORLD.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: 8Gi}}, accessModes: \
         [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, storageClassName: {class}, csi: {{driver: {driver}, volumeHandle: \
         disk-{name}}}}}}}"
    ));
}

#[test]
fn a_class_names_the_claims_that_wait_for_it() {
    let cluster = &*WORLD;
    for name in ["fast", "slow"] {
        class(name);
        volume(&format!("made-{name}"), name, "classes.example.test");
    }
    let ns = cluster.namespace("waits");
    ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: waits}, spec: {storageClassName: fast, accessModes: \
         [ReadWriteMany], resources: {requests: {storage: 99Gi}}}}",
    );
    let story = told(cluster, "storageclass/fast", "");
    story
        .fates("broken", "claims without a volume that name it: 1")
        .fates("kept", "volumes that were made from it: 1, of 8Gi in all")
        .never_says("made-slow");
    withstands_less(cluster, "storageclass/fast", "", 12);

    // No claim waits for the other class, and its volumes stay.
    let story = told(cluster, "storageclass/slow", "");
    story
        .fates("kept", "made-slow")
        .fates("harmless", "nothing else is lost");

    // Saved, deleted and created again, the class works as before.
    let story = told(cluster, "storageclass/fast", "");
    story.follow(cluster, "get storageclass/fast");
    story.follow(cluster, "delete storageclass/fast");
    goes(cluster, "storageclass/fast", "");
    let saved = cluster.directory().join("storageclass-fast.yaml");
    cluster
        .kubectl(["create", "-f", &saved.display().to_string()])
        .success();
}

#[test]
fn a_driver_names_the_mounts_that_depend_on_its_csi_driver() {
    let cluster = &*WORLD;
    let driver = |name: &str, spec: &str| {
        cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {{name: {name}}}, spec: {{{spec}}}}}"
        ));
        volume(&format!("of-{name}"), "none", name);
    };
    driver(
        "files.example.test",
        "attachRequired: false, podInfoOnMount: true",
    );
    driver("blocks.example.test", "attachRequired: true");
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: by-blocks}, spec: {attacher: blocks.example.test, \
         nodeName: some-node, source: {persistentVolumeName: of-blocks.example.test}}}",
    );
    let target = "csidriver/files.example.test";
    let story = told(cluster, target, "");
    story
        .fates(
            "broken",
            "new mounts wait for an attachment that nobody makes, are not told which pod they are for",
        )
        .never_says("of-blocks");
    withstands_less(cluster, target, "", 8);

    let story = told(cluster, "csidriver/blocks.example.test", "");
    story
        .fates("kept", "new mounts lack nothing")
        .fates("kept", "attachments by it: 1")
        .fates("harmless", "nothing else is lost");
}

/// A workload of this kind that creates no Pod yet, with these volumes and claims.
fn workload(kind: &str, name: &str, volumes: &Value, templates: &Value) -> String {
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
fn claim(name: &str, class: &Value) -> Value {
    let mut claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}});
    if !class.is_null() {
        claim["spec"]["storageClassName"] = class.clone();
    }
    claim
}

/// An ephemeral volume, which is created with its Pod.
fn scratch(class: &Value) -> Value {
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

#[test]
fn a_driver_of_ephemeral_volumes_names_the_pods() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("brought");
    let name = "brought.example.test";
    let _driver = cluster.csi_driver(name).start();
    ns.apply(&claim("data", &json!(name)).to_string());
    ns.apply(
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "batch"}, "spec": {
            "volumes": scratch(&json!(name)), "containers": [{"name": "c", "image": "i"}]}})
        .to_string(),
    );
    wait("both claims are bound", SOON, || {
        let phase = |name: &str| ns.get(["pvc", name]).unwrap_or_default()["status"]["phase"] == "Bound";
        phase("data") && phase("batch-scratch")
    });
    let target = format!("csidriver/{name}");
    let story = told(cluster, &target, "");
    story
        .fates(
            "broken",
            "volumes of it: 2, of 2Mi in all; what is mounted stays, and new mounts wait for an attachment that nobody makes",
        )
        .never_says("inline");
    withstands_less(cluster, &target, "", 8);
    story.follow(cluster, &format!("get csidriver/{name}"));
    story.follow(cluster, &format!("delete csidriver/{name}"));
    goes(cluster, &target, "");
    // Nothing was deleted with it, and the saved object restores it.
    assert_eq!(
        ns.get(["pvc", "batch-scratch"]).unwrap()["status"]["phase"],
        "Bound"
    );
    let saved = cluster.directory().join(format!("csidriver-{name}.yaml"));
    cluster
        .kubectl(["create", "-f", &saved.display().to_string()])
        .success();
    told(cluster, &target, "").fates("broken", "volumes of it: 2");
}

#[test]
fn a_driver_of_inline_volumes_names_the_pods() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("inline");
    for name in ["secrets.example.test", "unused.example.test"] {
        cluster.apply(
            &json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name},
                "spec": {"attachRequired": true, "requiresRepublish": true, "volumeLifecycleModes": ["Persistent", "Ephemeral"]}})
            .to_string(),
        );
    }
    let inline = |driver: &str| json!([{"name": "v", "csi": {"driver": driver}}]);
    let nothing = json!([]);
    ns.apply(&workload(
        "Deployment",
        "reads-secrets",
        &inline("secrets.example.test"),
        &nothing,
    ));
    ns.apply(&workload(
        "Deployment",
        "reads-others",
        &inline("others.example.test"),
        &nothing,
    ));
    for (name, driver) in [
        ("alone", "secrets.example.test"),
        ("aloof", "others.example.test"),
    ] {
        ns.apply(
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "volumes": inline(driver), "containers": [{"name": "c", "image": "i"}]}})
            .to_string(),
        );
    }
    let target = "csidriver/secrets.example.test";
    let story = told(cluster, target, "");
    story
        .fates("broken", "workloads with inline volumes of it: 1; pods that run go on, and new ones do not start: reads-secrets")
        .fates("broken", "pods of no workload with inline volumes of it: 1")
        .fates("broken", "alone")
        .never_says("aloof")
        .never_says("reads-others");
    withstands_less(cluster, target, "", 14);
    let story = told(cluster, "csidriver/unused.example.test", "");
    story
        .fates("harmless", "nothing else is lost")
        .never_says("inline");

    // A mounted volume goes on with its content of that time.
    volume("of-unused", "none", "unused.example.test");
    told(cluster, "csidriver/unused.example.test", "").fates(
        "broken",
        "volumes of it: 1, of 8Gi in all; what is mounted is not refreshed any more",
    );
}
