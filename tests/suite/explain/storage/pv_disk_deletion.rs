//! Released volumes whose disk is to be deleted.

use jiff::Timestamp;

use super::{SOON, bound_claim, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::withstands_real_rights,
    harness::{Cluster, CsiDriver, wait},
};

/// A stopped driver, and its Leases as they are long after.
fn an_hour_later(cluster: &Cluster, driver: CsiDriver<'_>, leases: &[&str]) {
    drop(driver);
    for lease in leases {
        super::renewed(cluster, lease, Timestamp::UNIX_EPOCH);
    }
}

#[test]
fn a_driver_that_was_uninstalled_is_gone_by_two_signs() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("uninstalled");
    let driver = cluster.csi_driver("uninstalled.example.test").start();
    let volume = bound_claim(&ns, "uninstalled.example.test");
    let pv = format!("pv/{volume}");
    driver.provisioner().pause();
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    delete(cluster, &["pv", &volume]);

    // A paused driver may be late, but is never gone.
    let said = explain(cluster, &[&pv], None);
    let verdict = &wait_for(&said, "external-provisioner")["verdict"];
    assert_eq!(verdict, "waiting", "{said:#}");
    never_says(&said, "LEAKED INFRASTRUCTURE");

    // One sign is no proof.
    an_hour_later(cluster, driver, &["uninstalled-example-test"]);
    let said = explain(cluster, &[&pv], None);
    assert_ne!(wait_for(&said, "external-provisioner")["verdict"], "orphaned");
    never_says(&said, "LEAKED INFRASTRUCTURE");

    delete(cluster, &["csidriver", "uninstalled.example.test"]);
    let said = explain(cluster, &[&pv], None);
    withstands_real_rights(cluster, &pv, "", 19);
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "orphaned",
        "{said:#}"
    );
    says(&said, "install driver uninstalled.example.test again");

    // A user who may not read one of the signs gets no such conclusion.
    let blind = cluster
        .user("no-leases")
        .may(
            "get,list",
            "persistentvolumes,events,volumeattachments.storage.k8s.io,csidrivers.storage.k8s.io,csinodes.storage.k8s.io",
        )
        .create();
    let weaker = explain(cluster, &[&pv], Some(&blind));
    assert_eq!(
        wait_for(&weaker, "external-provisioner")["verdict"],
        "waiting",
        "{weaker:#}"
    );

    run(cluster, &command(&said, "Keep the disk"));
    run(
        cluster,
        &command(&said, "LEAKED INFRASTRUCTURE: take this one finalizer off"),
    );
    wait("the volume is deleted", SOON, || {
        cluster.get(["pv", &volume]).is_none()
    });
}
