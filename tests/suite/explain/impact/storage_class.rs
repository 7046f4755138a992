//! StorageClasses: nothing protects them, and other objects may need them.

use super::WORLD;
use crate::explain::{
    less_is_weaker::withstands_less,
    told::{goes, told},
};

fn class(name: &str) {
    WORLD.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, provisioner: classes.example.test, \
         volumeBindingMode: WaitForFirstConsumer}}"
    ));
}

/// Creates a volume of this class and driver.
pub(super) fn volume(name: &str, class: &str, driver: &str) {
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
