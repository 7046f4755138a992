//! A VolumeSnapshot, its content and its class.
//!
//! Their types are custom resources (`kubernetes-csi/external-snapshotter:client/apis/volumesnapshot/v1/types.go`), so the
//! tests write them by hand.

use crate::{
    diagnose::kinds::{read::boolean, volume_attachment::VolumeError},
    snapshot::facts::Object,
};

/// A VolumeSnapshot.
#[derive(Clone, Copy)]
pub(crate) struct VolumeSnapshot<'a>(pub(crate) &'a Object);

impl<'a> VolumeSnapshot<'a> {
    /// The claim that it is taken of; empty if its content existed before.
    pub(crate) fn claim(self) -> &'a str {
        self.0.text("/spec/source/persistentVolumeClaimName")
    }

    /// Its class; empty if it names none.
    pub(crate) fn class(self) -> &'a str {
        self.0.text("/spec/volumeSnapshotClassName")
    }

    /// Its content; empty before it is bound.
    pub(crate) fn content(self) -> &'a str {
        self.0.text("/status/boundVolumeSnapshotContentName")
    }

    /// The group snapshot that it was taken with; empty if it was taken alone.
    pub(crate) fn group(self) -> &'a str {
        self.0.text("/status/volumeGroupSnapshotName")
    }

    /// Whether a volume can be made from it.
    pub(crate) fn is_ready(self) -> bool {
        boolean(&self.0.value, "/status/readyToUse") == Some(true)
    }

    /// Why the last attempt to take it failed.
    pub(crate) fn error(self) -> VolumeError<'a> {
        VolumeError::at(self.0, "/status/error")
    }
}

/// A VolumeSnapshotContent.
#[derive(Clone, Copy)]
pub(crate) struct VolumeSnapshotContent<'a>(pub(crate) &'a Object);

impl<'a> VolumeSnapshotContent<'a> {
    /// The driver that took the snapshot.
    pub(crate) fn driver(self) -> &'a str {
        self.0.text("/spec/driver")
    }

    /// What becomes of the snapshot at the provider: `Delete` or `Retain`.
    pub(crate) fn deletion_policy(self) -> &'a str {
        self.0.text("/spec/deletionPolicy")
    }

    /// The namespace of its VolumeSnapshot.
    pub(crate) fn snapshot_namespace(self) -> &'a str {
        self.0.text("/spec/volumeSnapshotRef/namespace")
    }

    /// The name of its VolumeSnapshot.
    pub(crate) fn snapshot_name(self) -> &'a str {
        self.0.text("/spec/volumeSnapshotRef/name")
    }

    /// The uid of its VolumeSnapshot; empty before it is bound.
    pub(crate) fn snapshot_uid(self) -> &'a str {
        self.0.text("/spec/volumeSnapshotRef/uid")
    }

    /// Its class; empty if it names none.
    pub(crate) fn class(self) -> &'a str {
        self.0.text("/spec/volumeSnapshotClassName")
    }

    /// The snapshot at the provider that it was made for; empty if the snapshot was made for it.
    pub(crate) fn given_handle(self) -> &'a str {
        self.0.text("/spec/source/snapshotHandle")
    }

    /// The snapshot at the provider; empty if its driver has named none yet.
    pub(crate) fn handle(self) -> &'a str {
        match self.0.text("/status/snapshotHandle") {
            "" => self.given_handle(),
            handle => handle,
        }
    }

    /// Why the last attempt of its driver failed.
    pub(crate) fn error(self) -> VolumeError<'a> {
        VolumeError::at(self.0, "/status/error")
    }
}

/// A VolumeSnapshotClass.
#[derive(Clone, Copy)]
pub(crate) struct VolumeSnapshotClass<'a>(pub(crate) &'a Object);

impl<'a> VolumeSnapshotClass<'a> {
    /// The driver that takes its snapshots.
    pub(crate) fn driver(self) -> &'a str {
        self.0.text("/driver")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn snapshots() {
        let snapshot = json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
            "metadata": {"name": "before", "namespace": "shop"},
            "spec": {"source": {"persistentVolumeClaimName": "data"}, "volumeSnapshotClassName": "fast"},
            "status": {"boundVolumeSnapshotContentName": "content-1", "volumeGroupSnapshotName": "all", "readyToUse": true,
                "error": {"message": "no room", "time": "2026-01-01T10:00:00Z"}},
        });
        reads!(snapshot => VolumeSnapshot;
            |snapshot| snapshot.claim() => "data", absent "";
            |snapshot| snapshot.class() => "fast", absent "";
            |snapshot| snapshot.content() => "content-1", absent "";
            |snapshot| snapshot.group() => "all", absent "";
            |snapshot| snapshot.is_ready() => true, absent false;
            |snapshot| snapshot.error().message() => "no room", absent "";
        );
    }

    #[test]
    fn contents() {
        let content = json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotContent",
            "metadata": {"name": "content-1"},
            "spec": {"driver": "d.example", "deletionPolicy": "Retain", "source": {"snapshotHandle": "snap-0"},
                "volumeSnapshotClassName": "fast",
                "volumeSnapshotRef": {"namespace": "shop", "name": "before", "uid": "u-1"}},
            "status": {"snapshotHandle": "snap-1", "error": {"message": "no room", "time": "2026-01-01T10:00:00Z"}},
        });
        let time: jiff::Timestamp = "2026-01-01T10:00:00Z".parse().expect("a time");
        reads!(content => VolumeSnapshotContent;
            |content| content.driver() => "d.example", absent "";
            |content| content.deletion_policy() => "Retain", absent "";
            |content| content.snapshot_namespace() => "shop", absent "";
            |content| content.snapshot_name() => "before", absent "";
            |content| content.snapshot_uid() => "u-1", absent "";
            |content| content.class() => "fast", absent "";
            |content| content.given_handle() => "snap-0", absent "";
            |content| content.handle() => "snap-1", absent "";
            |content| content.error().message() => "no room", absent "";
            |content| content.error().time() => Some(time), absent None::<()>;
        );
        let given = json!({"spec": {"source": {"snapshotHandle": "snap-0"}}});
        reads!(given => VolumeSnapshotContent; |content| content.handle() => "snap-0", absent "";);
    }

    #[test]
    fn classes() {
        let class = json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass",
            "metadata": {"name": "fast"}, "driver": "d.example",
        });
        reads!(class => VolumeSnapshotClass; |class| class.driver() => "d.example", absent "";);
    }
}
