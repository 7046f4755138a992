//! CSIDrivers: nothing protects them, and mounts, attachments and inline volumes may need them.

use serde_json::json;

use super::{
    WORLD,
    default_storage_class::{claim, scratch, workload},
    storage_class::volume,
};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, told},
    },
    harness::wait,
};

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
