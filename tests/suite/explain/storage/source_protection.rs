//! Claims and snapshots that are the source of a snapshot, a clone or a restore, with the real sidecars.

use super::{SOON, bound_claim};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{self, delete, goes, told},
    },
    harness::{Cluster, Namespace, wait},
};

fn made_from(ns: &Namespace, class: &str, name: &str, kind: &str, group: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}, dataSource: {{{group}kind: {kind}, name: \
         {}}}}}}}",
        if group.is_empty() { "data" } else { "one" }
    ));
}

fn snapshot(ns: &Namespace, class: &str, name: &str) {
    ns.apply(&format!(
        "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: {name}}}, spec: \
         {{volumeSnapshotClassName: {class}, source: {{persistentVolumeClaimName: data}}}}}}"
    ));
}

fn has(ns: &Namespace, what: [&str; 2], finalizer: &str) -> bool {
    ns.get(what)
        .is_some_and(|found| found["metadata"]["finalizers"].to_string().contains(finalizer))
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn an_interrupted_restore_is_explained() {
    const HELD: &str = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection";
    const CLASS: &str = "restore.example.test";
    // Any provisioner that starts removes such a finalizer if no restore goes on, whichever driver it belongs to.
    let cluster = &Cluster::start();
    let ns = cluster.namespace("restore");
    let driver = cluster.csi_driver(CLASS).with_snapshots().start();
    bound_claim(&ns, CLASS);
    snapshot(&ns, CLASS, "one");
    wait("the snapshot is taken", SOON, || {
        ns.get(["volumesnapshot", "one"]).unwrap()["status"]["readyToUse"] == true
    });
    driver.hangs("CreateVolume");
    made_from(
        &ns,
        CLASS,
        "copy",
        "VolumeSnapshot",
        "apiGroup: snapshot.storage.k8s.io, ",
    );
    wait("the restore has started", SOON, || {
        has(&ns, ["volumesnapshot", "one"], HELD)
    });
    delete(cluster, "volumesnapshot/one", ns.name());

    // The restore goes on: the finalizer protects it, and no step removes it.
    let story = told(cluster, "volumesnapshot/one", ns.name());
    withstands_less(cluster, "volumesnapshot/one", ns.name(), 15);
    assert_eq!(story.verdict(HELD), "waiting");
    story
        .has_root("PersistentVolumeClaim copy")
        .says("Pending, is made from it")
        .never_advises("finalizers remove")
        .is_careful();

    // The provisioner stops and the claim is deleted. So no controller knows of the restore.
    driver.provisioner().kill();
    delete(cluster, "pvc/copy", ns.name());
    goes(cluster, "pvc/copy", ns.name());
    // After a restart, a provisioner of v6.3 cleans up at once; an older one does not.
    wait("the controller is late", told::SOON, || {
        told(cluster, "volumesnapshot/one", ns.name()).verdict(HELD) == "stalled"
    });
    let story = told(cluster, "volumesnapshot/one", ns.name());
    withstands_less(cluster, "volumesnapshot/one", ns.name(), 15);
    story
        .says("removed by the csi-provisioner of restore.example.test")
        .says("which an interrupted restore left behind; it guards nothing any more")
        .says("one of v6.2 never does")
        .is_careful();
    let removals = story
        .commands()
        .into_iter()
        .filter(|command| command.contains("finalizers remove"));
    let removals: Vec<_> = removals.collect();
    assert!(removals.len() == 1 && removals[0].contains(HELD), "{story}");
    story.follow(cluster, HELD);
    goes(cluster, "volumesnapshot/one", ns.name());
}

#[test]
fn a_claim_that_is_being_cloned_waits_for_the_clone() {
    const HELD: &str = "provisioner.storage.kubernetes.io/cloning-protection";
    const CLASS: &str = "clone.example.test";
    let cluster = Cluster::shared();
    let ns = cluster.namespace("clone");
    let driver = cluster.csi_driver(CLASS).with_clones().start();
    bound_claim(&ns, CLASS);
    driver.hangs("CreateVolume");
    made_from(&ns, CLASS, "copy", "PersistentVolumeClaim", "");
    wait("the clone has started", SOON, || has(&ns, ["pvc", "data"], HELD));
    delete(cluster, "pvc/data", ns.name());
    let story = told(cluster, "pvc/data", ns.name());
    withstands_less(cluster, "pvc/data", ns.name(), 15);
    assert_eq!(story.verdict(HELD), "waiting");
    story
        .has_root("PersistentVolumeClaim copy")
        .says("removed by the provisioner of clone.example.test")
        .says("Lease renewed")
        .never_advises("finalizers remove")
        .is_careful();
    story.follow(cluster, "delete persistentvolumeclaims/copy");
    goes(cluster, "pvc/data", ns.name());
    goes(cluster, "pvc/copy", ns.name());
    driver.heals("CreateVolume");
}

#[test]
fn a_claim_whose_snapshot_is_being_taken_waits_for_the_snapshot() {
    const HELD: &str = "snapshot.storage.kubernetes.io/pvc-as-source-protection";
    const CLASS: &str = "taking.example.test";
    let cluster = Cluster::shared();
    let ns = cluster.namespace("taking");
    let driver = cluster.csi_driver(CLASS).with_snapshots().start();
    bound_claim(&ns, CLASS);
    driver.hangs("CreateSnapshot");
    snapshot(&ns, CLASS, "one");
    wait("the snapshot is being taken", SOON, || {
        has(&ns, ["pvc", "data"], HELD)
            && driver
                .calls()
                .iter()
                .any(|call| call.starts_with("CreateSnapshot"))
    });
    delete(cluster, "pvc/data", ns.name());
    let story = told(cluster, "pvc/data", ns.name());
    withstands_less(cluster, "pvc/data", ns.name(), 15);
    assert_eq!(story.verdict(HELD), "waiting");
    story
        .has_root("VolumeSnapshot one")
        .says("DATA LOSS: let the snapshot finish")
        .never_advises("finalizers remove")
        .never_advises("finalizers nudge")
        .is_careful();
    driver.heals("CreateSnapshot");
    goes(cluster, "pvc/data", ns.name());
    wait("the snapshot is taken", SOON, || {
        ns.get(["volumesnapshot", "one"]).unwrap()["status"]["readyToUse"] == true
    });
    delete(cluster, "volumesnapshot/one", ns.name());
    goes(cluster, "volumesnapshot/one", ns.name());
}
