//! PersistentVolumes and VolumeAttachments that look leftover. There may be many, so only these are kept, up to a
//! limit.

use serde::{Deserialize, Serialize};

use super::{Why, facts::Object};

/// The leftover volumes and attachments that a scan found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StorageLeftovers {
    /// Volumes whose disk should be deleted already.
    pub volumes: LeftoverList<Unreclaimed>,
    /// Attachments to nodes, or of volumes, that the scan did not list.
    pub attachments: LeftoverList<Object>,
}

/// The leftover objects of one type, as far as the objects of the type were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftoverList<T> {
    /// Why some objects were not read.
    pub unread: Option<Unread>,
    /// The objects that look leftover.
    pub kept: Vec<T>,
    /// How many more objects look leftover, beyond the limit for `kept`.
    pub more: u64,
}

/// Why some objects of a type were not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unread {
    /// Reading them would take too many requests or too long.
    TooMany,
    /// They could not be read.
    Fault(Why),
}

/// A volume whose disk should be deleted already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unreclaimed {
    /// The volume.
    pub volume: Object,
    /// The attachments that name the volume; none if not all attachments were read.
    pub attached: Option<Vec<Object>>,
}

impl<T> Default for LeftoverList<T> {
    fn default() -> Self {
        LeftoverList {
            unread: None,
            kept: Vec::new(),
            more: 0,
        }
    }
}

impl StorageLeftovers {
    /// The result if neither volumes nor attachments could be read.
    pub fn unread(why: &Why) -> Self {
        fn unread<T>(why: &Why) -> LeftoverList<T> {
            LeftoverList {
                unread: Some(Unread::Fault(why.clone())),
                ..LeftoverList::default()
            }
        }
        StorageLeftovers {
            volumes: unread(why),
            attachments: unread(why),
        }
    }
}
