//! Contents that are deleted before their snapshot.

use super::{SOON, bound_claim, command, delete, explain, run, says, volume_snapshot::taken, wait_for};
use crate::{
    explain::less_is_weaker::withstands_less,
    harness::{Cluster, wait},
};

#[test]
fn a_content_that_was_deleted_before_its_snapshot_waits_for_its_mark() {
    // The test stops the snapshot-controller; another one in a shared cluster would take over.
    let cluster = &Cluster::start();
    let ns = cluster.namespace("contents");
    let driver = cluster
        .csi_driver("content.example.test")
        .with_snapshots()
        .start();
    bound_claim(&ns, "content.example.test");
    let two = taken(&ns, "content.example.test", "two");

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
    wait("the content is deleted", SOON, || {
        cluster.get(["volumesnapshotcontent", &two]).is_none()
    });
}
