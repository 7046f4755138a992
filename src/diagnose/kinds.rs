//! Typed views of objects whose kind is known, one file a kind.
//!
//! A view borrows an object and answers questions about it, each named after its answer. So the path of a field stands
//! once, here. A misspelt path would compile and read as "absent". The tests therefore build each object with the types
//! of Kubernetes itself, and ask every question. A field that is missing, or has another JSON type, is absent: an empty
//! text, an empty list or `None`.
//!
//! The kinds of Kubernetes and of its CSI sidecars are here. Fields of other kinds stay where they are read: the paths
//! come from the catalogue, or one cause alone knows the product.

mod csi;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod pod_spec;
pub(crate) mod quantity;
mod read;
mod storage_class;
#[cfg(test)]
mod testing;
mod volume;
mod volume_attachment;
mod volume_snapshot;
mod workload;

pub(crate) use csi::{CsiDriver, CsiNode};
pub(crate) use node::Node;
pub(crate) use persistent_volume::PersistentVolume;
pub(crate) use persistent_volume_claim::PersistentVolumeClaim;
pub(crate) use pod::Pod;
pub(crate) use pod_spec::PodSpec;
pub(crate) use storage_class::StorageClass;
pub(crate) use volume::{ClaimTemplate, Volume};
pub(crate) use volume_attachment::VolumeAttachment;
pub(crate) use volume_snapshot::{VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent};
pub(crate) use workload::Workload;
