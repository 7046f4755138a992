//! The controllers that must remove the finalizers in use: which objects each blocks, and whether it runs.

mod rows;
mod words;

pub(super) use rows::{catalogue_name, holders};

use std::collections::BTreeSet;

use serde::Serialize;

use super::explain::EvidenceReport;
use crate::{
    diagnose::holder::{FoundHolder, Liveness},
    object::{Finalizer, List},
    snapshot::Gap,
};

/// A controller that must remove finalizers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderReport {
    /// The workload or Lease name from the catalogue, or the name of the workload that was found.
    pub name: String,
    /// Its project; none if the catalogue does not know the finalizers.
    pub project: Option<String>,
    /// Whether it runs.
    pub state: HolderState,
    /// Whether it is only likely, not certain, that this is the controller.
    pub likely: bool,
    /// The evidence for the state, in one line.
    pub says: String,
    /// Number of objects with any of its finalizers.
    pub objects: u64,
    /// How many of them are terminating.
    pub terminating: u64,
    /// The types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
    /// Its finalizers.
    pub finalizers: Vec<HeldFinalizerReport>,
    /// All evidence about it.
    pub evidence: Vec<EvidenceReport>,
}

/// A finalizer that this controller must remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldFinalizerReport {
    /// The name.
    pub name: String,
    /// The list that contains it.
    pub list: List,
    /// Number of objects that have it.
    pub objects: u64,
    /// How many of them are terminating.
    pub terminating: u64,
    /// The types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
}

/// Whether a controller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HolderState {
    /// It runs.
    Running,
    /// It exists, and it cannot run or lacks a permission that it needs.
    Failing,
    /// It exists, and somebody scaled it to zero.
    ScaledToZero,
    /// It is gone: two different kinds of evidence say so.
    Gone,
    /// It does not run in this cluster, or users cannot see it.
    Elsewhere,
    /// There is not enough evidence.
    Unknown,
}

impl HolderState {
    /// The state in words.
    pub fn word(self) -> &'static str {
        match self {
            HolderState::Running => "running",
            HolderState::Failing => "failing",
            HolderState::ScaledToZero => "scaled to zero",
            HolderState::Gone => "gone",
            HolderState::Elsewhere => "elsewhere",
            HolderState::Unknown => "unknown",
        }
    }
}

impl From<Liveness> for HolderState {
    fn from(state: Liveness) -> Self {
        match state {
            Liveness::Running => HolderState::Running,
            Liveness::Failing => HolderState::Failing,
            Liveness::Off => HolderState::ScaledToZero,
            Liveness::Gone => HolderState::Gone,
            Liveness::Elsewhere => HolderState::Elsewhere,
            Liveness::Unknown => HolderState::Unknown,
        }
    }
}

/// A finalizer on the objects of one type, and the search for its controller.
#[derive(Clone, Debug)]
pub struct HolderSearch {
    /// The type, as `plural.group`.
    pub type_name: String,
    /// The finalizer.
    pub finalizer: Finalizer,
    /// The CSI driver of the objects, if every driver has a controller of its own.
    pub driver: Option<String>,
    /// The result of the search; none if there was no search.
    pub result: Option<HolderSearchResult>,
}

/// The result of searching for a controller.
#[derive(Clone, Debug)]
pub struct HolderSearchResult {
    /// The controller.
    pub found: FoundHolder,
    /// What could not be read.
    pub gaps: Vec<Gap>,
}
