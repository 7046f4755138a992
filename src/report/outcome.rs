//! What came of it, as far as it could be found out by reading again.

use serde::Serialize;

use super::{API_VERSION, ObjectName, plan::OutsideReport};
use crate::object::Finalizer;

/// What came of a plan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Outcome`.
    pub kind: &'static str,
    /// The digest that was confirmed.
    pub digest: String,
    /// One for each object that was confirmed.
    pub outcomes: Vec<Outcome>,
    /// Where the receipts are.
    pub receipts: String,
}

/// How it ended with one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Result {
    /// The object is gone.
    Gone,
    /// The finalizer is out, and others hold the object.
    Held,
    /// The finalizer is out, none is left, and the object is still there.
    Going,
    /// The finalizer is on the object again.
    CameBack,
    /// The object is gone, and another one of its name is there.
    ReCreated,
    /// After a nudge: its controller has acted.
    Woke,
    /// After a nudge: nothing happened.
    Asleep,
    /// Nothing was sent, or what was sent was refused.
    NotDone,
    /// The answer was lost, and what happened could not be found out.
    Unknown,
}

impl Result {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Result::Gone => "gone",
            Result::Held => "held",
            Result::Going => "going",
            Result::CameBack => "came-back",
            Result::ReCreated => "re-created",
            Result::Woke => "woke",
            Result::Asleep => "asleep",
            Result::NotDone => "not-done",
            Result::Unknown => "unknown",
        }
    }
}

/// What came of one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The object.
    pub target: ObjectName,
    /// What was to be taken out.
    pub finalizer: Option<Finalizer>,
    /// How it ended.
    pub result: Result,
    /// The same in words.
    pub says: String,
    /// What holds the object now.
    pub held_by: Vec<Finalizer>,
    /// What is left to be cleaned up outside.
    pub outside: Vec<OutsideReport>,
    /// The copy of the object from before.
    pub backup: Option<String>,
    /// The Event that was left on it, by its name.
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
