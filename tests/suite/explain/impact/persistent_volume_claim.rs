//! A claim that is to be deleted, and its volume, with the real provisioner.

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, told},
    },
    harness::wait,
};

#[test]
fn a_claim_and_its_volume_in_the_right_order_keep_the_disk() {
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
        .fates("destroyed", "(reclaim policy Delete), once its claim goes too")
        .never_says("LEAKED")
        .is_careful();
    withstands_less(cluster, &pv, "", 12);
    let story = told(cluster, "pvc/data", ns.name());
    story.fates("destroyed", "(reclaim policy Delete)").is_careful();
    withstands_less(cluster, "pvc/data", ns.name(), 14);

    // With reclaim policy Retain, then in the right order: the disk stays.
    story.follow(cluster, "--only-retain");
    let story = told(cluster, &pv, "");
    story.fates("kept", "");
    assert!(story.effects_with("destroyed").is_empty(), "{story}");
    story.follow(cluster, "delete pvc/data");
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    let released = told(cluster, &pv, "");
    released.fates("kept", "only the object goes");
    story.follow(cluster, &format!("delete pv/{volume}"));
    goes(cluster, &pv, "");
}
