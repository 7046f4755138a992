//! Volumes and attachments that look left behind. There may be very many of either, so that only these are kept of
//! those that went by, and of these only so many.

use serde::{Deserialize, Serialize};

use super::{Why, facts::Object};

/// What looked left behind when volumes and attachments were gone through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Suspects {
    /// Volumes whose disks should have been deleted.
    pub volumes: Passed<Unreclaimed>,
    /// Attachments to nodes, or of volumes, that were not listed.
    pub attachments: Passed<Object>,
}

/// Objects of one type, of which all went by, or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Passed<T> {
    /// Why not all of them went by.
    pub unread: Option<Unread>,
    /// Those that look left behind.
    pub kept: Vec<T>,
    /// Others that do, of which there was no room for more than their number.
    pub more: u64,
}

/// Why not all objects of a type went by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unread {
    /// Reading them takes more requests, or longer, than a look may take.
    TooMany,
    /// They could not be read.
    Fault(Why),
}

/// A volume whose disk should have been deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unreclaimed {
    /// The volume.
    pub volume: Object,
    /// The attachments that name it; none if they were not all read.
    pub attached: Option<Vec<Object>>,
}

impl<T> Default for Passed<T> {
    fn default() -> Self {
        Passed {
            unread: None,
            kept: Vec::new(),
            more: 0,
        }
    }
}

impl Suspects {
    /// Neither sort could be read.
    pub fn unread(why: &Why) -> Self {
        fn unread<T>(why: &Why) -> Passed<T> {
            Passed {
                unread: Some(Unread::Fault(why.clone())),
                ..Passed::default()
            }
        }
        Suspects {
            volumes: unread(why),
            attachments: unread(why),
        }
    }
}
