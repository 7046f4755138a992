//! The one value that every output shows. Its serde form is the public JSON: documented and versioned in
//! `docs/`, and changed only with [`API_VERSION`].

pub mod catalog;
pub mod causes;
pub mod explain;
pub mod finalizer;
pub mod gaps;
pub mod holders;
pub mod left;
pub mod outcome;
pub mod plan;
mod reason;
pub mod scan;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

pub use self::{
    catalog::CatalogReport, explain::ExplainReport, finalizer::FinalizersReport, gaps::GapReport,
    outcome::OutcomeReport, plan::PlanReport, scan::ScanReport,
};
use crate::{
    diagnose::Verdict,
    object::{Age, Deletion, Finalizer, ObjectRef, in_words},
    snapshot::Condition,
};

/// Version of the public JSON.
pub const API_VERSION: &str = "kubectl-finalizers/v1";

/// An object, named in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// `apiVersion` that it was read in.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// `plural.group`, as kubectl takes it.
    pub resource: String,
    /// Namespace; none for cluster-scoped objects.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// uid; none where a dump leaves it out.
    pub uid: Option<String>,
}

impl ObjectName {
    /// `PersistentVolumeClaim db/data-0`.
    pub fn in_words(&self) -> String {
        in_words(&self.kind, self.namespace.as_deref(), &self.name)
    }
}

impl From<&ObjectRef> for ObjectName {
    fn from(object: &ObjectRef) -> Self {
        ObjectName {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            resource: object.type_name.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: Some(object.uid.clone()).filter(|uid| !uid.is_empty()),
        }
    }
}

/// That an object is being deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionReport {
    /// When delete was asked for.
    pub requested_at: Timestamp,
    /// `metadata.deletionTimestamp`: when its grace period ends or ended.
    pub deletion_timestamp: Timestamp,
    /// `metadata.deletionGracePeriodSeconds`.
    pub grace_period_seconds: i64,
    /// Seconds since delete was asked for, at the time of the report.
    pub for_seconds: i64,
    /// Whether the grace period still runs: slow by agreement, not stuck.
    pub in_grace_period: bool,
    /// The same span as people read it.
    #[serde(skip)]
    pub age: Age,
}

impl DeletionReport {
    /// A deletion as it stands at `now`.
    pub fn new(deletion: &Deletion, now: Timestamp) -> Self {
        let requested_at = deletion.requested_at();
        let age = Age::between(requested_at, now);
        DeletionReport {
            requested_at,
            deletion_timestamp: deletion.timestamp,
            grace_period_seconds: deletion.grace_seconds,
            for_seconds: age.0.as_secs(),
            in_grace_period: deletion.in_grace(now),
            age,
        }
    }
}

/// One object of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectName,
    /// Its type as kubectl must be given it: `resource`, or with the version where only another than the
    /// preferred one can be read.
    #[serde(skip)]
    pub kubectl_type: String,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<DeletionReport>,
    /// Its finalizers, with the list that each stands in.
    pub finalizers: Vec<Finalizer>,
    /// Why it has not gone, in one line.
    pub reason: Option<String>,
    /// How it stands with the finalizer that says most; none if that was not looked at.
    pub verdict: Option<Verdict>,
    /// What is left in it, if it is a Namespace: objects by `plural.group`, counted by this reading.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<String, u64>,
    /// Its conditions that are not as they should be, if it is a Namespace, literally.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionReport>,
}

/// A condition, literally.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionReport {
    /// `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `status`.
    pub status: String,
    /// `reason`.
    pub reason: String,
    /// `message`.
    pub message: String,
    /// `lastTransitionTime`.
    pub last_transition_time: Option<Timestamp>,
}

impl From<&Condition> for ConditionReport {
    fn from(condition: &Condition) -> Self {
        ConditionReport {
            kind: condition.kind.clone(),
            status: condition.status.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            last_transition_time: condition.since,
        }
    }
}
