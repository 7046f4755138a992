//! A VolumeAttachment.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::kinds::read::{text, time},
    snapshot::facts::Object,
};

/// A VolumeAttachment.
#[derive(Clone, Copy)]
pub(crate) struct VolumeAttachment<'a>(pub(crate) &'a Object);

impl<'a> VolumeAttachment<'a> {
    /// The driver that attaches and detaches.
    pub(crate) fn attacher(self) -> &'a str {
        self.0.text("/spec/attacher")
    }

    /// The node.
    pub(crate) fn node(self) -> &'a str {
        self.0.text("/spec/nodeName")
    }

    /// The volume; empty if it has an inline one.
    pub(crate) fn volume(self) -> &'a str {
        self.0.text("/spec/source/persistentVolumeName")
    }

    /// Why the last attempt to attach failed.
    pub(crate) fn attach_error(self) -> VolumeError<'a> {
        VolumeError::at(self.0, "/status/attachError")
    }

    /// Why the last attempt to detach failed.
    pub(crate) fn detach_error(self) -> VolumeError<'a> {
        VolumeError::at(self.0, "/status/detachError")
    }
}

/// An error that a CSI sidecar met last.
#[derive(Clone, Copy)]
pub(crate) struct VolumeError<'a>(&'a Value);

impl<'a> VolumeError<'a> {
    pub(super) fn at(object: &'a Object, pointer: &str) -> Self {
        VolumeError(object.field(pointer).unwrap_or(&Value::Null))
    }

    /// What the driver said; empty if there is no error.
    pub(crate) fn message(self) -> &'a str {
        text(self.0, "/message")
    }

    /// When it was.
    pub(crate) fn time(self) -> Option<Timestamp> {
        time(self.0, "/time")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::storage::v1 as storage, apimachinery::pkg::apis::meta::v1::Time};

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn attachments() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let (first, last) = (at("2026-01-01T10:00:00Z"), at("2026-01-01T11:00:00Z"));
        let error = |message: &str, time| {
            Some(storage::VolumeError {
                message: Some(message.into()),
                time: Some(Time(time)),
                ..Default::default()
            })
        };
        let attachment = storage::VolumeAttachment {
            spec: storage::VolumeAttachmentSpec {
                attacher: "d.example".into(),
                node_name: "node-1".into(),
                source: storage::VolumeAttachmentSource {
                    persistent_volume_name: Some("pv-1".into()),
                    ..Default::default()
                },
            },
            status: Some(storage::VolumeAttachmentStatus {
                attach_error: error("no room", first),
                detach_error: error("no answer", last),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(attachment => VolumeAttachment;
            |attachment| attachment.attacher() => "d.example", absent "";
            |attachment| attachment.node() => "node-1", absent "";
            |attachment| attachment.volume() => "pv-1", absent "";
            |attachment| attachment.attach_error().message() => "no room", absent "";
            |attachment| attachment.attach_error().time() => Some(first), absent None::<()>;
            |attachment| attachment.detach_error().message() => "no answer", absent "";
            |attachment| attachment.detach_error().time() => Some(last), absent None::<()>;
        );
    }
}
