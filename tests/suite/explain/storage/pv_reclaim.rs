//! Volumes in a phase in which nobody reclaims them, and volumes without the finalizer that would.

use super::{SOON, command, delete, explain, never_says, run, says, wait_for};
use crate::{
    explain::less_is_weaker::withstands_less,
    harness::{Cluster, wait},
};

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
