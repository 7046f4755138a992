//! The root causes in a scan report: worst first, each with the objects that wait for it and the next command.

use std::cmp::Reverse;

use serde::Serialize;

use super::{ObjectName, ObjectReport};
use crate::{
    command::{Command, RunFlags},
    diagnose::{CauseState, Release},
    knowledge::Consequence,
    object::{Finalizer, short_type},
};

/// The plans to remove one finalizer from several objects.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Together {
    /// The command that shows the plan for most of them.
    pub command: Command,
    /// The same for the others: for other namespaces, and for what is beyond what a person reads in one plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Command>,
    /// How many objects these commands name.
    pub objects: usize,
    /// How many more there are.
    pub rest: usize,
}

impl Together {
    /// All commands.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        std::iter::once(&self.command).chain(&self.more)
    }
}

/// Something that blocks objects and waits for nothing itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RootCauseReport {
    /// Its cluster, if the run reads several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// How it stands.
    pub state: CauseState,
    /// The object; none if the cause is not an object.
    pub object: Option<ObjectName>,
    /// The finalizer that nothing blocks and that is not removed, if the cause is one.
    pub finalizer: Option<Finalizer>,
    /// The controller that must remove it, by its name in the catalogue.
    pub controller: Option<String>,
    /// The state of the object, or a description of the cause.
    pub says: String,
    /// What a removal of its finalizers by hand costs.
    pub if_removed: Option<IfRemoved>,
    /// The disks and snapshots outside the cluster that are lost once the held objects are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lets_go: Vec<Release>,
    /// How many of `objects` wait for nothing else.
    pub frees: usize,
    /// The objects that wait for it, directly or through other objects.
    pub objects: Vec<ObjectName>,
    /// The command that explains the cause itself, or the first of these objects.
    pub next: Option<Command>,
    /// The command that makes the controller of the first of them look again, if nothing blocks it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<Command>,
    /// The plan that removes the finalizer from all of these objects at once, where a removal is advised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Whether it is only that nobody finishes the deletion: nothing else blocks it.
    #[serde(skip)]
    pub is_own: bool,
    /// Whether its objects were investigated.
    #[serde(skip)]
    pub is_known: bool,
    /// The same objects with what else they wait for, those that wait for it directly first.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// What a removal by hand costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IfRemoved {
    /// The worst consequence.
    pub consequence: Consequence,
    /// Whether the catalogue knows it. It is assumed otherwise.
    pub known: bool,
}

/// One object below a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The object, as an index into the terminating objects of the report.
    pub at: usize,
    /// The object through which it waits for the cause.
    pub through: Option<ObjectName>,
    /// The other causes that it waits for, as indexes.
    pub also: Vec<usize>,
}

/// The order of causes, worst first.
pub(super) type Rank = (CauseState, Reverse<Option<Consequence>>, Reverse<usize>);

/// The place of a cause with this state, this cost of a removal and so many objects.
pub(super) fn rank(state: CauseState, cost: Option<IfRemoved>, objects: usize) -> Rank {
    let cost = cost.map(|cost| cost.consequence);
    (state, Reverse(cost), Reverse(objects))
}

impl RootCauseReport {
    /// Whether the object stands below this cause: no worse one holds it.
    pub fn lists(&self, row: &Row, number: usize) -> bool {
        row.also.iter().all(|&other| other > number)
    }
}

/// The command that explains a root cause which is not being deleted; none if no other run can see it.
pub(super) fn explain_fault(object: &ObjectName, there: &RunFlags) -> Option<Command> {
    Command::explain(short_type(&object.resource), &object.name, "").again(there)
}

/// The command that explains an object; none if no other run can see it.
pub(super) fn explain(object: &ObjectReport, there: &RunFlags) -> Option<Command> {
    let name = &object.object;
    let namespace = name.namespace.as_deref().unwrap_or_default();
    Command::explain(short_type(&object.kubectl_type), &name.name, namespace).again(there)
}
