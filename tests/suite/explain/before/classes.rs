//! Storage classes and what Kubernetes knows of drivers: nothing holds them, and something may need them.

use super::WORLD;
use crate::explain::{
    taken_away::withstands_less,
    told::{goes, told},
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
fn a_class_that_claims_wait_for() {
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
    withstands_less(cluster, "storageclass/fast", "", 9);

    // Nothing waits for the other, and what was made from it stays.
    let story = told(cluster, "storageclass/slow", "");
    story
        .fates("kept", "made-slow")
        .fates("harmless", "nothing else is lost");

    // Saved, deleted and made again, it serves as before.
    let story = told(cluster, "storageclass/fast", "");
    story.follow(cluster, "get storageclass fast");
    story.follow(cluster, "delete storageclass fast");
    goes(cluster, "storageclass/fast", "");
    let saved = cluster.directory().join("storageclass-fast.yaml");
    cluster
        .kubectl(["create", "-f", &saved.display().to_string()])
        .success();
}

#[test]
fn a_driver_whose_mounts_depend_on_what_is_known_of_it() {
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
