//! Lists the `VolumeAttachments` of a volume, of a node and of a driver.

use crate::{
    diagnose::{
        kinds::VolumeAttachment,
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// The attachments that name a volume.
pub(crate) fn of_volume<'a>(volume: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    that(|one| one.volume() == volume, view)
}

/// The attachments to a node.
pub(crate) fn to_node<'a>(node: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    that(|one| one.node() == node, view)
}

/// The attachments that the attacher of a driver handles.
pub(crate) fn by_driver<'a>(driver: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    that(|one| one.attacher() == driver, view)
}

fn that<'a>(
    fits: impl Fn(VolumeAttachment<'_>) -> bool,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    Ok(view
        .list("storage.k8s.io", "volumeattachments", "")?
        .iter()
        .filter(|attachment| fits(VolumeAttachment(attachment)))
        .collect())
}
