//! The report on an executed plan, from reading the objects again.

use serde::Serialize;

use super::{API_VERSION, ObjectName, plan::OutsideReport};
use crate::object::Finalizer;

/// The result of executing a plan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Outcome`.
    pub kind: &'static str,
    /// The digest that was confirmed.
    pub digest: String,
    /// One outcome for each confirmed object.
    pub outcomes: Vec<Outcome>,
    /// The path of the receipts.
    pub receipts: String,
}

/// How the change of one object ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeResult {
    /// The object is gone.
    Gone,
    /// The finalizer is removed, and other finalizers remain.
    Held,
    /// The last finalizer is removed, and the object still exists.
    Going,
    /// Somebody added the finalizer again, or set the policy back.
    CameBack,
    /// The object is gone, and a new object has its name.
    ReCreated,
    /// After a nudge: the controller acted.
    Woke,
    /// After a nudge: nothing happened.
    Asleep,
    /// The reclaim policy of the volume is Retain.
    Retained,
    /// The volume or its claim was made again, and both are Bound.
    Rescued,
    /// A rescue ended between two steps.
    Unfinished,
    /// Nothing was sent, or the server refused the request.
    NotDone,
    /// The response was lost, and reading again did not clarify what happened.
    Unknown,
}

impl OutcomeResult {
    /// The word in the JSON.
    pub fn word(self) -> &'static str {
        match self {
            OutcomeResult::Gone => "gone",
            OutcomeResult::Held => "held",
            OutcomeResult::Going => "going",
            OutcomeResult::CameBack => "came-back",
            OutcomeResult::ReCreated => "re-created",
            OutcomeResult::Woke => "woke",
            OutcomeResult::Asleep => "asleep",
            OutcomeResult::Retained => "retained",
            OutcomeResult::Rescued => "rescued",
            OutcomeResult::Unfinished => "unfinished",
            OutcomeResult::NotDone => "not-done",
            OutcomeResult::Unknown => "unknown",
        }
    }
}

/// The outcome of one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The object.
    pub target: ObjectName,
    /// The finalizer to remove.
    pub finalizer: Option<Finalizer>,
    /// How the change ended.
    pub result: OutcomeResult,
    /// The result in words.
    pub says: String,
    /// The finalizers that remain.
    pub held_by: Vec<Finalizer>,
    /// How an object that was made again differs from before, apart from what must.
    pub differences: Vec<String>,
    /// External resources that still need a cleanup.
    pub outside: Vec<OutsideReport>,
    /// Path of the copy of the object from before the change.
    pub backup: Option<String>,
    /// Path of the copy of the claim, if the object is a volume that has one.
    pub claim_backup: Option<String>,
    /// Path of the old value from etcd, after a rescue with `--etcd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_backup: Option<String>,
    /// Name of the Event that was created for it.
    pub event: Option<String>,
}

impl OutcomeReport {
    /// The report on these outcomes.
    pub fn new(digest: String, outcomes: Vec<Outcome>, receipts: String) -> Self {
        OutcomeReport {
            api_version: API_VERSION,
            kind: "Outcome",
            digest,
            outcomes,
            receipts,
        }
    }
}
