//! Snapshots, and what keeps their contents.

use super::{SOON, bound_claim, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::withstands_real_rights,
    harness::{Cluster, Namespace, wait},
};

/// Takes a snapshot of the claim `data`, and returns the name of its content.
pub(super) fn taken(ns: &Namespace, class: &str, name: &str) -> String {
    ns.apply(&format!(
        "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: {name}}}, spec: \
         {{volumeSnapshotClassName: {class}, source: {{persistentVolumeClaimName: data}}}}}}"
    ));
    let snapshot = || ns.get(["volumesnapshot", name]).unwrap();
    wait("the snapshot is taken", SOON, || {
        snapshot()["status"]["readyToUse"] == true
    });
    snapshot()["status"]["boundVolumeSnapshotContentName"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn stuck_snapshots_and_contents_name_their_cause() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("snapshots");
    let driver = cluster.csi_driver("snap.example.test").with_snapshots().start();
    bound_claim(&ns, "snap.example.test");
    let one = taken(&ns, "snap.example.test", "one");

    // The driver reports an error.
    driver.fails("DeleteSnapshot", "snapshot is locked");
    delete(cluster, &["volumesnapshot", "one", "-n", ns.name()]);
    let target = ["volumesnapshot/one", "-n", ns.name()];
    wait("the failure is reported", SOON, || {
        explain(cluster, &target, None)
            .to_string()
            .contains("repair what the driver complains of")
    });
    let said = explain(cluster, &target, None);
    withstands_real_rights(cluster, "volumesnapshot/one", ns.name(), 16);
    let held = wait_for(&said, "volumesnapshot-bound-protection");
    assert_eq!(held["verdict"], "waiting", "{said:#}");
    assert_eq!(held["blockers"][0]["object"]["name"], one);
    assert_eq!(
        held["blockers"][0]["waitsFor"][0]["verdict"], "failing",
        "{said:#}"
    );
    says(&said, "IS DESTROYED (deletionPolicy Delete)");
    never_says(&said, "LEAKED INFRASTRUCTURE");
    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("DeleteSnapshot");
    wait("both objects are deleted", SOON, || {
        ns.get(["volumesnapshot", "one"]).is_none() && cluster.get(["volumesnapshotcontent", &one]).is_none()
    });
}
