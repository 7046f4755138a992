//! Snapshots and their contents.

use super::{SOON, bound_claim, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::{withstands_less, withstands_real_rights},
    harness::{Cluster, wait},
};

#[test]
fn stuck_snapshots_and_contents_name_their_cause() {
    // The test stops the snapshot-controller; another one in a shared cluster would take over.
    let cluster = &Cluster::start();
    let ns = cluster.namespace("snapshots");
    let driver = cluster.csi_driver("snap.example.test").with_snapshots().start();
    bound_claim(&ns, "snap.example.test");
    let take = |name: &str| {
        ns.apply(&format!(
            "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: {name}}}, spec: \
             {{volumeSnapshotClassName: snap.example.test, source: {{persistentVolumeClaimName: data}}}}}}"
        ));
        let snapshot = || ns.get(["volumesnapshot", name]).unwrap();
        wait("the snapshot is taken", SOON, || {
            snapshot()["status"]["readyToUse"] == true
        });
        snapshot()["status"]["boundVolumeSnapshotContentName"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, two) = (take("one"), take("two"));
    let content = |name: &str| cluster.get(["volumesnapshotcontent", name]);

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
    withstands_real_rights(cluster, "volumesnapshot/one", ns.name(), 15);
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
        ns.get(["volumesnapshot", "one"]).is_none() && content(&one).is_none()
    });

    // The content is deleted while its snapshot exists, so it is protected.
    delete(cluster, &["volumesnapshotcontent", &two]);
    let target = format!("volumesnapshotcontent/{two}");
    let said = explain(cluster, &[&target], None);
    withstands_less(cluster, &target, "", 15);
    assert_eq!(
        wait_for(&said, "bound-protection")["verdict"],
        "in-use",
        "{said:#}"
    );
    // Then the snapshot's finalizers are removed by hand, so no controller marks the content any more.
    driver.snapshot_controller().stop();
    delete(cluster, &["volumesnapshot", "two", "-n", ns.name()]);
    ns.kubectl([
        "patch",
        "volumesnapshot",
        "two",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ])
    .success();
    driver.snapshot_controller().start();
    wait("the snapshot is gone", SOON, || {
        ns.get(["volumesnapshot", "two"]).is_none()
    });
    let said = explain(cluster, &[&target], None);
    withstands_less(cluster, &target, "", 15);
    assert_eq!(
        wait_for(&said, "bound-protection")["verdict"],
        "stalled",
        "{said:#}"
    );
    says(&said, "it stays for ever");
    assert!(command(&said, "set deletionPolicy Retain").contains("Retain"));
    run(cluster, &command(&said, "DATA LOSS: set the mark"));
    wait("the content is deleted", SOON, || content(&two).is_none());
}
