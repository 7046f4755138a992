//! What follows, and under which condition.

use serde::Serialize;

/// What happens, and under which condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The condition.
    pub when: Moment,
    /// What then happens.
    pub then: String,
}

/// The condition of an outlook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// Nobody does anything.
    NothingDone,
    /// Until something is done.
    Meanwhile,
    /// How to see that the work is done.
    Done,
    /// Until the object is gone.
    UntilGone,
    /// Soon, whatever is done.
    Soon,
    /// No condition: it tells who deleted the object.
    WhoDeleted,
    /// No condition: it tells of the namespace of the object.
    Namespace,
    /// The object goes.
    Goes,
    /// The claim goes.
    ClaimGoes,
    /// The claims of the volumes go.
    ClaimsGo,
    /// The work of the controller succeeds.
    Succeeds,
    /// The work that the object is needed for is done.
    WorkDone,
    /// The object is deleted now.
    DeletedNow,
    /// The finalizer is removed, by whomever.
    Removal,
    /// The finalizer is removed now.
    RemovedNow,
    /// The finalizer is removed by hand.
    RemovedByHand,
}

impl Moment {
    /// Whether it says what happens without any action, which the verdict tells in short.
    pub fn is_meanwhile(self) -> bool {
        matches!(self, Moment::NothingDone | Moment::Meanwhile)
    }
}
