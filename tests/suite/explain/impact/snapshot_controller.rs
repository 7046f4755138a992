//! The snapshot-controller, which serves all drivers of a cluster.

use serde_json::json;

use super::operator_in;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, told},
    },
    harness::{Cluster, Namespace, wait},
};

const DRIVER: &str = "shots.example.test";

/// Creates a claim, a snapshot of it, and the snapshot's content.
fn taken(ns: &Namespace) -> String {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {DRIVER}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}
---
{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: nightly}}, spec: {{volumeSnapshotClassName: {DRIVER}, \
         source: {{persistentVolumeClaimName: data}}}}}}"
    ));
    let mut content = String::new();
    wait("the snapshot is taken", SOON, || {
        let snapshot = ns.get(["volumesnapshot", "nightly"]).unwrap();
        let (status, finalizers) = (&snapshot["status"], &snapshot["metadata"]["finalizers"]);
        status["boundVolumeSnapshotContentName"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut content);
        // The controller adds the second finalizer after the snapshot is ready, or before.
        status["readyToUse"] == true && finalizers.as_array().is_some_and(|all| all.len() == 2)
    });
    content
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn all_snapshots_wait_for_the_snapshot_controller() {
    // A cluster has only one, so this test has a cluster of its own.
    let cluster = &Cluster::start();
    let labels = json!({"app.kubernetes.io/name": "snapshot-controller"});
    operator_in(cluster, "kube-system", "snapshot-controller", &labels);
    // A Deployment of that name that is no snapshot-controller.
    operator_in(
        cluster,
        "other",
        "snapshot-controller",
        &json!({"app": "backups"}),
    );
    let driver = cluster.csi_driver(DRIVER).with_snapshots().start();
    let places = [cluster.namespace("one"), cluster.namespace("two")];
    let contents = places.each_ref().map(taken);
    // This content is not bound, so it needs no annotation.
    cluster.apply(&format!(
        "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotContent, metadata: {{name: by-hand}}, spec: {{driver: {DRIVER}, \
         deletionPolicy: Retain, source: {{snapshotHandle: kept}}, volumeSnapshotRef: {{name: later, namespace: default}}}}}}"
    ));
    let target = "deploy/snapshot-controller";
    let story = told(cluster, target, "kube-system");
    story
        .fates(
            "stuck",
            "2 volumesnapshots.snapshot.storage.k8s.io with snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection and \
             snapshot.storage.kubernetes.io/volumesnapshot-bound-protection. Nobody else was found who removes that: nightly nightly",
        )
        .fates("stuck", "contents behind snapshots: 2. Their driver lets them go, and deletes what they stand for, only after this")
        .never_says("by-hand")
        .never_advises("delete volumesnapshots")
        .is_careful();
    assert!(
        story.effects_with("kept").is_empty() && story.effects_with("harmless").is_empty(),
        "{story}"
    );
    for content in &contents {
        story.says(content);
    }
    withstands_less(cluster, target, "kube-system", 30);
    // Nothing waits for a Deployment that only has the same name.
    told(cluster, target, "other").fates("harmless", "nothing else is lost");

    // The explanation is true: without the controller both are stuck, whatever else runs.
    driver.snapshot_controller().stop();
    let [one, two] = &places;
    delete(cluster, "volumesnapshot/nightly", one.name());
    let content = format!("volumesnapshotcontent/{}", contents[0]);
    delete(cluster, &content, "");
    assert!(one.get(["volumesnapshot", "nightly"]).is_some() && cluster.get([content.as_str()]).is_some());
    driver.snapshot_controller().start();
    goes(cluster, "volumesnapshot/nightly", one.name());
    goes(cluster, &content, "");

    // The advised order leaves nothing behind.
    let listed = story.follow(cluster, "scan volumesnapshots");
    assert!(
        listed.contains("vs/nightly") && listed.contains(two.name()),
        "{listed}"
    );
    delete(cluster, "volumesnapshot/nightly", two.name());
    goes(cluster, &format!("volumesnapshotcontent/{}", contents[1]), "");
    // The controller deletes the content first, and then the snapshot.
    goes(cluster, "volumesnapshot/nightly", two.name());
    let story_then = told(cluster, target, "kube-system");
    assert!(story_then.effects_with("stuck").is_empty(), "{story_then}");
    // The content that was created by hand never needed the annotation.
    story_then.never_says("by-hand");
    story.follow(cluster, "delete deployments.apps/snapshot-controller");
    goes(cluster, target, "kube-system");
}
