//! An object as a report names it, with its deletion, finalizers and conditions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    command::Command,
    diagnose::Verdict,
    object::{Age, Deletion, Finalizer, ObjectRef, in_words, pasteable},
    snapshot::Condition,
};

/// An object, named in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// `apiVersion` in which the object was read.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// `plural.group`, as kubectl accepts it.
    pub resource: String,
    /// Namespace; none for cluster-scoped objects.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// uid; none if the dump does not contain it.
    pub uid: Option<String>,
}

impl ObjectName {
    /// `PersistentVolumeClaim db/data-0`.
    pub fn in_words(&self) -> String {
        in_words(&self.kind, self.namespace.as_deref(), &self.name)
    }

    /// `pvc/data-0 -n db`.
    pub fn pasteable(&self) -> String {
        pasteable(&self.resource, self.namespace.as_deref(), &self.name)
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

/// The deletion of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionReport {
    /// When the deletion was requested.
    pub requested_at: Timestamp,
    /// `metadata.deletionTimestamp`: the end of the grace period.
    pub deletion_timestamp: Timestamp,
    /// `metadata.deletionGracePeriodSeconds`.
    pub grace_period_seconds: i64,
    /// Seconds from the deletion request to the time of the report.
    pub for_seconds: i64,
    /// Whether the grace period still runs. Such an object is slow, not stuck.
    pub in_grace_period: bool,
    /// The same duration in kubectl's form.
    #[serde(skip)]
    pub age: Age,
}

impl DeletionReport {
    /// The deletion as of `now`.
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
    /// Its cluster, if the run reads several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectName,
    /// The type in the form that kubectl needs: `resource`, plus the version if the object is not readable in
    /// the preferred version.
    #[serde(skip)]
    pub kubectl_type: String,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<DeletionReport>,
    /// Its finalizers, each with the list that contains it.
    pub finalizers: Vec<Finalizer>,
    /// Why the object still exists, in one line.
    pub reason: Option<String>,
    /// The verdict on the most telling finalizer; none if nobody investigated the object.
    pub verdict: Option<Verdict>,
    /// What will keep it, if its grace period still runs and it will be stuck soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_risk: Option<String>,
    /// For a Namespace: the objects that this scan counted in it, by `plural.group`.
    #[serde(rename = "left", skip_serializing_if = "BTreeMap::is_empty")]
    pub remaining: BTreeMap<String, u64>,
    /// For a Namespace: the conditions that report a problem, unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionReport>,
    /// The command that explains it, if it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Command>,
}

/// A condition of an object, unchanged.
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
