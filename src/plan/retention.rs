//! The disk that a plan of `rescue` keeps.

use serde::{Deserialize, Serialize};

use crate::snapshot::facts::Object;

/// The reclaim policy that keeps the disk.
pub const RETAIN: &str = "Retain";

/// The claim of a volume, as far as it could be read.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The volume names none.
    None,
    /// The claim.
    Found(Box<Object>),
    /// It does not exist, or another claim has its name.
    Gone,
    /// It could not be read.
    Unread(String),
}

/// What was deleted, and is made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Lost {
    /// The volume of a claim.
    #[default]
    Volume,
    /// The claim of a volume that stays.
    Claim,
}

/// The disk that a plan keeps.
#[derive(Clone, Debug)]
pub struct Retention {
    /// The reclaim policy that is replaced.
    pub policy: String,
    /// What is true now, a sentence each.
    pub now: Vec<String>,
    /// What is true once the policy is Retain, and who acts next, a sentence each. The steps, if something is made again.
    pub then: Vec<String>,
    /// What is made again; none if only the policy changes.
    pub again: Option<Lost>,
    /// The claim, which is copied too.
    pub claim: Claim,
}

impl Retention {
    /// What a newer plan for the same volume says, and this one does not.
    pub(super) fn news<'a>(&'a self, now: &'a Retention) -> impl Iterator<Item = &'a String> {
        let all = now.now.iter().chain(&now.then);
        all.filter(|one| !self.now.contains(one) && !self.then.contains(one))
    }
}
