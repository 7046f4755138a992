//! Who must remove the finalizers that are in use, what each of them holds, and whether it is alive.

mod rows;
mod words;

use std::collections::BTreeSet;

use serde::Serialize;

use super::explain::EvidenceReport;
use crate::{
    diagnose::holder::{FoundHolder, Liveness},
    object::{Finalizer, List},
    snapshot::Gap,
};

/// Somebody who must remove finalizers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderReport {
    /// What it is called: the workload or Lease that the catalogue knows it by, or the workload that was found.
    pub name: String,
    /// The project that it belongs to; none if the catalogue does not know the finalizers.
    pub project: Option<String>,
    /// How alive it is.
    pub state: Life,
    /// Whether it is only likely that this is the holder.
    pub likely: bool,
    /// What shows it, in one line.
    pub says: String,
    /// Objects that carry any of its finalizers.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
    /// Its finalizers.
    pub finalizers: Vec<HeldReport>,
    /// All that was seen of it.
    pub evidence: Vec<EvidenceReport>,
}

/// A finalizer that somebody must remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldReport {
    /// The string.
    pub name: String,
    /// The list it stands in.
    pub list: List,
    /// Objects that carry it.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
}

/// How alive a holder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It runs.
    Running,
    /// It is there and cannot run, or may not do its work.
    Failing,
    /// It is there and was made not to run.
    ScaledToZero,
    /// It is gone, by two signs of different kinds.
    Gone,
    /// It does not run in this cluster, or nobody here can see it.
    Elsewhere,
    /// Not enough evidence.
    Unknown,
}

impl Life {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Life::Running => "running",
            Life::Failing => "failing",
            Life::ScaledToZero => "scaled to zero",
            Life::Gone => "gone",
            Life::Elsewhere => "elsewhere",
            Life::Unknown => "unknown",
        }
    }
}

impl From<Liveness> for Life {
    fn from(liveness: Liveness) -> Self {
        match liveness {
            Liveness::Running => Life::Running,
            Liveness::Failing => Life::Failing,
            Liveness::Off => Life::ScaledToZero,
            Liveness::Gone => Life::Gone,
            Liveness::Elsewhere => Life::Elsewhere,
            Liveness::Unknown => Life::Unknown,
        }
    }
}

/// A finalizer on the objects of one type, whose holder was looked for.
#[derive(Clone, Debug)]
pub struct Sought {
    /// The type, as `plural.group`.
    pub type_name: String,
    /// The finalizer.
    pub finalizer: Finalizer,
    /// The CSI driver that the objects belong to, where each has a holder of its own and they say so.
    pub driver: Option<String>,
    /// What came of it; none if it was not looked for.
    pub came_of_it: Option<CameOfIt>,
}

/// What came of looking for a holder.
#[derive(Clone, Debug)]
pub struct CameOfIt {
    /// Who it is.
    pub found: FoundHolder,
    /// What could not be seen.
    pub gaps: Vec<Gap>,
}
