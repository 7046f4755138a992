//! The root causes in a scan report, and the groups of objects that wait for them.

use serde::Serialize;

use super::ObjectName;
use crate::diagnose::graph;

/// Something that blocks objects and waits for nothing itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RootCauseReport {
    /// The object; none if the cause is not an object.
    pub object: Option<ObjectName>,
    /// The state of the object, or a description of the cause.
    pub says: String,
    /// How many of `objects` wait for nothing else.
    pub frees: usize,
    /// The objects that wait for it, directly or through other objects.
    pub objects: Vec<ObjectName>,
}

/// The rows of the table that share root causes, as indexes into the lists of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Sets of causes, each with the objects that wait for exactly these causes.
    pub groups: Vec<graph::Group>,
    /// Objects whose cause is only in themselves.
    pub alone: Vec<usize>,
}
