//! Volumes that are deleted before their claim, or after it.

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, told},
    },
    harness::{Namespace, wait},
};

/// Creates a volume by hand, bound to the claim of that name. No provisioner serves its driver, so it gets no
/// finalizer, as with provisioners before 5.0.
fn bound(ns: &Namespace, claim: &str, policy: &str, finalizers: &str) -> String {
    let volume = WORLD.unique(claim);
    WORLD.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {volume}, finalizers: [{finalizers}]}}, spec: {{capacity: \
         {{storage: 1Gi}}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: {policy}, csi: {{driver: old.example.test, \
         volumeHandle: disk-of-{volume}}}}}}}"
    ));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {claim}}}, spec: {{storageClassName: '', volumeName: \
         {volume}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}"
    ));
    wait("the claim is bound", SOON, || {
        ns.get(["pvc", claim]).unwrap()["status"]["phase"] == "Bound"
    });
    volume
}

/// Without its finalizer, the reclaim policy of a volume that was deleted first is ignored.
#[test]
fn a_volume_that_is_deleted_before_its_claim_leaks_its_disk() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("leaks");
    let [first, second] = ["first", "second"].map(|claim| bound(&ns, claim, "Delete", ""));
    let kept = bound(&ns, "kept", "Retain", "");
    let reclaimed = bound(
        &ns,
        "reclaimed",
        "Delete",
        "external-provisioner.volume.kubernetes.io/finalizer",
    );
    let [one, other] = [&first, &second].map(|volume| format!("pv/{volume}"));
    let story = told(cluster, &one, "");
    story
        .fates(
            "leaked",
            "LEAKED INFRASTRUCTURE if it is deleted before its claim",
        )
        .fates("leaked", &format!("disk-of-{first}"))
        .is_careful();
    assert!(story.effects_with("harmless").is_empty(), "{story}");
    withstands_less(cluster, &one, "", 12);
    for (near, fate) in [(&kept, "kept"), (&reclaimed, "destroyed")] {
        let story = told(cluster, &format!("pv/{near}"), "");
        story.fates(fate, &format!("disk-of-{near}"));
        assert!(story.effects_with("leaked").is_empty(), "{story}");
    }

    // The claim first, as advised: the volume stays and names its disk.
    story.follow(cluster, "delete pvc/first");
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &first]).unwrap()["status"]["phase"] == "Released"
    });

    // The volume first: after the deletion of its claim and namespace, no object names the disk.
    delete(cluster, &other, "");
    let claim = told(cluster, "pvc/second", ns.name());
    claim.fates("leaked", "IS LEAKED").is_careful();
    assert!(claim.effects_with("destroyed").is_empty(), "{claim}");
    withstands_less(cluster, "pvc/second", ns.name(), 14);
    told(cluster, &format!("ns/{}", ns.name()), "")
        .fates(
            "leaked",
            "disks behind its claims: 1, of 1Gi in all; their volumes are being deleted already",
        )
        .fates("leaked", &second);
    claim.follow(cluster, "delete pvc/second");
    goes(cluster, &other, "");
    // Only the explanation still names the disk.
    told(cluster, &one, "").fates(
        "leaked",
        &format!("disk-of-{first} IS LEAKED unless the provisioner deletes it first"),
    );
}
