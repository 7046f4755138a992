//! Which CSI driver an object belongs to. Each driver has sidecars of its own, and their finalizers are called alike for all
//! drivers, so nothing but the object itself tells who must remove one.

use serde_json::Value;

/// Where an object names its driver, the first that is there. Of a volume it is who acts on it
/// (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` isProvisionerForVolume), of a claim who
/// made its volume (`kubernetes/component-helpers:storage/volume/pv_helpers.go`).
const FIELDS: [&str; 7] = [
    "/metadata/annotations/pv.kubernetes.io~1migrated-to",
    "/metadata/annotations/pv.kubernetes.io~1provisioned-by",
    "/spec/csi/driver",
    "/spec/attacher",
    "/spec/driver",
    "/metadata/annotations/volume.kubernetes.io~1storage-provisioner",
    "/metadata/annotations/volume.beta.kubernetes.io~1storage-provisioner",
];

/// Whether objects of this type belong to a driver and say so.
pub fn is_named_by(group: &str, kind: &str) -> bool {
    is_in_spec(group, kind) || (group, kind) == ("", "PersistentVolumeClaim")
}

/// Whether it takes more than the metadata to know. Nothing in these is confidential.
pub fn is_in_spec(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "PersistentVolume")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("snapshot.storage.k8s.io", "VolumeSnapshotContent")
            | ("groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotContent")
    )
}

/// All names that an object of such a type gives its driver.
pub fn names(object: &Value) -> impl Iterator<Item = &str> {
    FIELDS
        .iter()
        .filter_map(|pointer| object.pointer(pointer)?.as_str())
        .filter(|name| !name.is_empty())
}

/// A driver's name as Leases and finalizers have it.
pub fn plain(driver: &str) -> String {
    let stays = |c: char| c.is_ascii_alphanumeric() || c == '-';
    driver.chars().map(|c| if stays(c) { c } else { '-' }).collect()
}

#[test]
fn after_migration_it_is_the_driver_that_took_over() {
    use serde_json::json;
    let volume = json!({
        "metadata": {"annotations": {
            "pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs",
            "pv.kubernetes.io/migrated-to": "ebs.csi.aws.com"}},
        "spec": {"awsElasticBlockStore": {}}});
    assert_eq!(names(&volume).next(), Some("ebs.csi.aws.com"));
    let wrong = json!({"metadata": {"annotations": 7}, "spec": {"csi": {"driver": ["a"]}, "driver": ""}});
    assert_eq!(names(&wrong).next(), None);
}
