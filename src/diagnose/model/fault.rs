//! What is wrong with an object that is not being deleted, and which deletions wait for it.

use super::{CauseState, Page};
use crate::object::ObjectRef;

/// A fault that others wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How it stands.
    pub state: CauseState,
    /// What is wrong, in sentences.
    pub says: Vec<String>,
    /// The objects in deletion that wait for it; none if nobody looked for them.
    pub holds: Option<Held>,
    /// The page about it.
    pub page: Option<Page>,
}

/// Objects of one type that wait for a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What one of them is: `namespace`.
    pub what: &'static str,
    /// The objects.
    pub objects: Vec<ObjectRef>,
}
