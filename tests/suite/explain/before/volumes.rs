//! Volumes and claims behind the real provisioner.

use super::WORLD;
use crate::{
    explain::{
        taken_away::withstands_less,
        told::{SOON, goes, told},
    },
    harness::wait,
};

#[test]
fn a_claim_and_its_volume_in_the_right_order() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("order");
    let _driver = cluster.csi_driver("order.example.test").start();
    ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: order.example.test, \
         accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    let mut volume = String::new();
    wait("the provisioner protects the disk", SOON, || {
        let claim = ns.get(["pvc", "data"]).unwrap();
        volume = claim["spec"]["volumeName"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        !volume.is_empty()
            && cluster.get(["pv", &volume]).is_some_and(|found| {
                found["metadata"]["finalizers"]
                    .to_string()
                    .contains("external-provisioner")
            })
    });
    let pv = format!("pv/{volume}");
    let story = told(cluster, &pv, "");
    story
        .fates(
            "destroyed",
            "IS DESTROYED (reclaim policy Delete), once its claim goes too",
        )
        .never_says("LEAKED")
        .is_careful();
    withstands_less(cluster, &pv, "", 12);
    let story = told(cluster, "pvc/data", ns.name());
    story
        .fates("destroyed", "IS DESTROYED (reclaim policy Delete)")
        .is_careful();
    withstands_less(cluster, "pvc/data", ns.name(), 14);

    // Kept, then in order: the disk stays.
    story.follow(cluster, "Retain");
    let story = told(cluster, &pv, "");
    story.fates("kept", "");
    assert!(story.fated("destroyed").is_empty(), "{story}");
    story.follow(cluster, "delete pvc data");
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    let released = told(cluster, &pv, "");
    released.fates("kept", "only the object goes");
    story.follow(cluster, &format!("delete pv {volume}"));
    goes(cluster, &pv, "");
}
