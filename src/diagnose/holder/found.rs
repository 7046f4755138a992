//! The holder of any finalizer, described or not, for whoever asks for all of them.

use super::{described, driver, trace::Holder, undescribed};
use crate::{diagnose::view::View, knowledge::Entry, object::Finalizer, snapshot::facts::Object};

/// Who must remove a finalizer from an object, and what was seen of that somebody.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the catalogue says of it; none if nothing.
    pub entry: Option<Entry>,
    /// The CSI driver whose holder it is, where each driver has its own.
    pub driver: Option<String>,
    /// Whether other objects with the same finalizer may be of other drivers: its own name does not say which.
    pub of_others_too: bool,
    /// What was seen.
    pub holder: Holder,
}

/// Looks for the holder, as a rule that knows nothing else of the object does.
pub fn find(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Found {
    let reference = object.reference();
    let entry = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
    match entry {
        Some(entry) => Found {
            holder: described(object, finalizer, &entry, view),
            driver: driver::of(object, finalizer, &entry),
            of_others_too: driver::is_of_each(&entry)
                && entry.matched(&finalizer.name).is_none_or(str::is_empty),
            entry: Some(entry),
        },
        None => Found {
            entry: None,
            driver: None,
            of_others_too: false,
            holder: undescribed(object, finalizer, view),
        },
    }
}
