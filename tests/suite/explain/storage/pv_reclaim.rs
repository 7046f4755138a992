//! Volumes whose disk is not deleted.

use jiff::Timestamp;

use super::{SOON, bound_claim, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::{withstands_less, withstands_real_rights},
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

#[test]
fn a_volume_that_is_never_reclaimed_and_one_that_leaks_its_disk() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("never");
    let _driver = cluster.csi_driver("never.example.test").start();
    let by_hand = |name: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}{more}}}, spec: {{capacity: {{storage: \
             1Mi}}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, csi: {{driver: \
             never.example.test, volumeHandle: disk-9}}}}}}"
        )
    };
    let available = cluster.unique("available");
    cluster.apply(&by_hand(
        &available,
        ", finalizers: [external-provisioner.volume.kubernetes.io/finalizer]",
    ));
    let pv = format!("pv/{available}");
    wait("the volume is available", SOON, || {
        cluster.get(["pv", &available]).unwrap()["status"]["phase"] == "Available"
    });
    delete(cluster, &["pv", &available]);
    let said = explain(cluster, &[&pv], None);
    withstands_less(cluster, &pv, "", 14);
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "stalled",
        "{said:#}"
    );
    says(&said, "it stays for ever");
    run(cluster, &command(&said, "Keep the disk"));
    wait("the object is deleted", SOON, || {
        cluster.get(["pv", &available]).is_none()
    });

    // A driver that does not run adds no finalizer. So a volume that is deleted first leaks its disk.
    let leaky = cluster.unique("leaky");
    cluster.apply(&by_hand(&leaky, "").replace("never.example.test", "old.example.test"));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: '', \
         volumeName: {leaky}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    wait("the volume is bound", SOON, || {
        cluster.get(["pv", &leaky]).unwrap()["status"]["phase"] == "Bound"
    });
    delete(cluster, &["pv", &leaky]);
    let said = explain(cluster, &[&format!("pv/{leaky}")], None);
    withstands_less(cluster, &format!("pv/{leaky}"), "", 14);
    says(&said, "the disk disk-9 IS LEAKED");
    says(&said, "LEAKED INFRASTRUCTURE: delete the claim");
    never_says(&said, "IS DESTROYED");
    run(
        cluster,
        &command(&said, "LEAKED INFRASTRUCTURE: delete the claim"),
    );
    wait("the object is deleted", SOON, || {
        cluster.get(["pv", &leaky]).is_none()
    });
}
