//! The disk that a plan of `rescue` keeps.

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

/// The disk that a plan keeps.
#[derive(Clone, Debug)]
pub struct Retention {
    /// The reclaim policy that is replaced.
    pub policy: String,
    /// What is true now, a sentence each.
    pub now: Vec<String>,
    /// What is true once the policy is Retain, and who acts next, a sentence each. The steps, if the volume is made again.
    pub then: Vec<String>,
    /// Whether the volume is let go and made again. Otherwise only its policy changes.
    pub again: bool,
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
