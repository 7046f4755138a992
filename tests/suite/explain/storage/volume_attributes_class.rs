//! Volume attributes classes, with the real protection controller.

use super::{SOON, delete as delete_all};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{delete, goes, shell, told, told_to},
    },
    harness::{Cluster, has, wait},
};

const HELD: &str = "kubernetes.io/vac-protection";

#[test]
fn a_class_waits_for_the_claims_that_name_it() {
    if !has("storage.k8s.io/v1 VolumeAttributesClass", 34) {
        return;
    }
    let cluster = Cluster::shared();
    let ns = cluster.namespace("attributes");
    let (class, other, volume) = (
        cluster.unique("gold"),
        cluster.unique("silver"),
        cluster.unique("pv-gold"),
    );
    let class_of = |name: &str| {
        format!(
            "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {{name: {name}}}, driverName: \
             attributes.example.test, parameters: {{iops: '1'}}}}"
        )
    };
    cluster.apply(&class_of(&class));
    cluster.apply(&class_of(&other));
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {volume}}}, spec: {{capacity: {{storage: 1Mi}}, \
         accessModes: [ReadWriteOnce], volumeAttributesClassName: {class}, persistentVolumeReclaimPolicy: Retain, csi: \
         {{driver: attributes.example.test, volumeHandle: disk-7}}}}}}"
    ));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: '', \
         volumeName: {volume}, volumeAttributesClassName: {class}, accessModes: [ReadWriteOnce], resources: {{requests: \
         {{storage: 1Mi}}}}}}}}"
    ));
    wait("the claim is bound and the class protected", SOON, || {
        let class = cluster.get(["volumeattributesclass", &class]).unwrap();
        ns.get(["pvc", "data"]).unwrap()["status"]["phase"] == "Bound"
            && class["metadata"]["finalizers"].to_string().contains(HELD)
    });
    let target = format!("volumeattributesclass/{class}");

    // Nothing is in deletion yet.
    let story = told(cluster, &target, "");
    assert_eq!(story.verdict(HELD), "in-use");
    story.says("deleted-now").never_advises("patch");

    delete(cluster, &target, "");
    let story = told(cluster, &target, "");
    withstands_less(cluster, &target, "", 15);
    assert_eq!(story.verdict(HELD), "in-use");
    story
        .says("This is protection at work, not a fault.")
        .has_root("PersistentVolumeClaim data: names the class")
        .has_root(&format!("PersistentVolume {volume}"))
        .says("volumes keep their data")
        .never_says("DATA LOSS")
        .never_advises("delete")
        .never_advises("finalizers remove")
        .never_advises("finalizers nudge");

    // A user who may not list claims is not told that no claim uses the class.
    let reader = cluster
        .user("no-claims")
        .may(
            "get,list",
            "volumeattributesclasses.storage.k8s.io,persistentvolumes",
        )
        .create();
    told_to(cluster, &reader, &target, "")
        .never_says("; none does")
        .never_says("PersistentVolumeClaim data");
    let reader = cluster
        .user("no-users")
        .may("get,list", "volumeattributesclasses.storage.k8s.io")
        .create();
    assert_eq!(told_to(cluster, &reader, &target, "").verdict(HELD), "unknown");

    // The step asks for another class. No csi-resizer runs here, so the test does its part.
    let command = story
        .commands()
        .into_iter()
        .find(|command| command.contains("OTHER-CLASS"))
        .unwrap()
        .replace("OTHER-CLASS", &other);
    shell(cluster, &command);
    told(cluster, &target, "")
        .says(&format!("wanted {other}, current {class}"))
        .never_says("; none does");
    let patch = format!("{{\"spec\":{{\"volumeAttributesClassName\":\"{other}\"}}}}");
    cluster
        .kubectl(["patch", "pv", &volume, "--type=merge", "-p", &patch])
        .success();
    ns.patch_status(
        ["pvc", "data"],
        &serde_json::json!({"currentVolumeAttributesClassName": other}),
    );
    goes(cluster, &target, "");
    delete(cluster, "pvc/data", ns.name());
    delete_all(cluster, &["pv", &volume]);
    goes(cluster, &format!("pv/{volume}"), "");
    delete(cluster, &format!("volumeattributesclass/{other}"), "");
}
