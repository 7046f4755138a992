//! The declaration of a cause: the finalizer that it explains, and the type of the objects.

use crate::{
    diagnose::{
        model::{Finding, Page},
        view::View,
    },
    object::{Finalizer, join_group},
    snapshot::facts::Object,
};

/// A finalizer on objects of one type, and the function that explains it.
pub(crate) struct Cause {
    /// The API group of the type.
    pub(crate) group: &'static str,
    /// The plural of the type.
    pub(crate) plural: &'static str,
    /// The finalizer. A name that ends in `/` stands for all names with this prefix.
    pub(crate) finalizer: &'static str,
    /// The page about it.
    pub(crate) page: Page,
    /// Explains what the finalizer waits for.
    pub(crate) explain: fn(&Object, &Finalizer, &View<'_>) -> Finding,
}

impl Cause {
    /// Whether this cause explains the finalizer on this object.
    pub(crate) fn explains(&self, object: &Object, finalizer: &Finalizer) -> bool {
        let name = finalizer.name.as_str();
        let is_named =
            self.finalizer == name || self.finalizer.ends_with('/') && name.starts_with(self.finalizer);
        is_named && object.is(self.group, self.plural)
    }

    /// Whether this cause is about objects of this type (`plural.group`).
    pub(crate) fn is_for(&self, type_name: &str) -> bool {
        join_group(self.plural, self.group) == type_name
    }
}
