//! Volumes, claims, attachments and snapshots that Kubernetes and the CSI sidecars protect.

pub(crate) mod csi_errors;
pub(crate) mod keep_disk;
pub(crate) mod pv_attacher;
pub(crate) mod pv_disk_deletion;
pub(crate) mod pv_protection;
pub(crate) mod pv_reclaim;
pub(crate) mod pvc_protection;
pub(crate) mod source_protection;
pub(crate) mod stop_consumers;
pub(crate) mod take_back;
pub(crate) mod taken_back;
#[cfg(test)]
mod tests;
pub(crate) mod volume_attachment_detach;
pub(crate) mod volume_attachment_in_use;
pub(crate) mod volume_attachments;
pub(crate) mod volume_attributes_class;
pub(crate) mod volume_snapshot;
pub(crate) mod volume_snapshot_content;
