//! Lists the `VolumeAttachments` of a volume, of a node and of a driver.

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// The attachments that name a volume.
pub(crate) fn of_volume<'a>(volume: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    with_field("/spec/source/persistentVolumeName", volume, view)
}

/// The attachments to a node.
pub(crate) fn to_node<'a>(node: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    with_field("/spec/nodeName", node, view)
}

/// The attachments that the attacher of a driver handles.
pub(crate) fn by_driver<'a>(driver: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    with_field("/spec/attacher", driver, view)
}

fn with_field<'a>(pointer: &str, value: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("storage.k8s.io", "volumeattachments", "")?
        .iter()
        .filter(|attachment| attachment.text(pointer) == value)
        .collect())
}
