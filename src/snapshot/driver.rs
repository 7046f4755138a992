//! Finds the CSI driver that an object belongs to. Each driver has its own sidecars, and their finalizers have the same
//! names for all drivers. So only the object itself tells which sidecar must remove a finalizer.

use serde_json::Value;

/// The fields that name the driver; the first one that is set wins. A volume names the driver that acts on it
/// (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` isProvisionerForVolume). A claim
/// names the driver that made its volume (`kubernetes/component-helpers:storage/volume/pv_helpers.go`).
const FIELDS: [&str; 7] = [
    "/metadata/annotations/pv.kubernetes.io~1migrated-to",
    "/metadata/annotations/pv.kubernetes.io~1provisioned-by",
    "/spec/csi/driver",
    "/spec/attacher",
    "/spec/driver",
    "/metadata/annotations/volume.kubernetes.io~1storage-provisioner",
    "/metadata/annotations/volume.beta.kubernetes.io~1storage-provisioner",
];

/// Whether objects of this type name their driver.
pub fn is_named_by(group: &str, kind: &str) -> bool {
    is_in_spec(group, kind) || (group, kind) == ("", "PersistentVolumeClaim")
}

/// Whether the driver is named in the spec, beyond the metadata. Nothing in these objects is confidential.
pub fn is_in_spec(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "PersistentVolume")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("snapshot.storage.k8s.io", "VolumeSnapshotContent")
            | ("groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotContent")
    )
}

/// All driver names in an object of such a type.
pub fn names(object: &Value) -> impl Iterator<Item = &str> {
    FIELDS
        .iter()
        .filter_map(|pointer| object.pointer(pointer)?.as_str())
        .filter(|name| !name.is_empty())
}

/// The driver's name as it appears in Leases and finalizers.
pub fn plain(driver: &str) -> String {
    let stays = |c: char| c.is_ascii_alphanumeric() || c == '-';
    driver.chars().map(|c| if stays(c) { c } else { '-' }).collect()
}

#[test]
fn after_migration_the_new_driver_wins() {
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
