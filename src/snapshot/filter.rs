//! Which objects count, and how an object looks before it is decided whether it does.

use std::{borrow::Cow, collections::BTreeMap};

use jiff::{SignedDuration, Timestamp};

use super::{Seen, glob::Glob, selector::Selector};
use crate::object::{Finalizer, List};

/// Conditions on objects; all must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Finalizer patterns; any of them. Empty for no condition.
    pub finalizers: Vec<Glob>,
    /// Labels. A server applies them itself; for files they are applied here.
    pub selector: Option<Selector>,
    /// Deletion asked for at least so long ago.
    pub older_than: Option<SignedDuration>,
}

impl Filter {
    /// Whether an object with these labels counts.
    pub fn labels(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector
            .as_ref()
            .is_none_or(|selector| selector.matches(labels))
    }

    /// Whether this finalizer is one that was asked for.
    pub fn finalizer(&self, name: &str) -> bool {
        self.finalizers.is_empty() || self.finalizers.iter().any(|glob| glob.matches(name))
    }

    /// Whether this object counts, at the time `now`.
    pub fn seen(&self, seen: &Seen, now: Timestamp) -> bool {
        let finalizer = self.finalizers.is_empty()
            || seen
                .finalizers
                .iter()
                .any(|finalizer| self.finalizer(&finalizer.name));
        let age = self.older_than.is_none_or(|limit| {
            seen.deletion
                .is_some_and(|deletion| now.duration_since(deletion.requested_at()) >= limit)
        });
        finalizer && age
    }
}

/// One object's metadata as a decoder hands it over, borrowed from the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item<'a> {
    /// `metadata.namespace`, empty if none.
    pub namespace: Cow<'a, str>,
    /// `metadata.name`.
    pub name: Cow<'a, str>,
    /// `metadata.uid`; empty for objects that are computed and not stored, such as metrics.
    pub uid: Cow<'a, str>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// `metadata.deletionTimestamp`.
    pub deletion: Option<Timestamp>,
    /// `metadata.deletionGracePeriodSeconds`.
    pub grace_seconds: Option<i64>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<Cow<'a, str>>,
    /// What only a Namespace is asked for.
    pub namespace_only: Option<Box<NamespaceOnly>>,
    /// The CSI driver that it belongs to, if it says so and that was asked for.
    pub driver: Option<String>,
}

/// The parts of a Namespace beyond its metadata that decide whether it goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespaceOnly {
    /// `spec.finalizers`.
    pub finalizers: Vec<String>,
    /// `status.conditions`.
    pub conditions: Vec<super::Condition>,
}

impl Item<'_> {
    /// Whether there is nothing to say about it beyond that it exists.
    pub fn is_bare(&self) -> bool {
        self.deletion.is_none()
            && self.finalizers.is_empty()
            && self
                .namespace_only
                .as_ref()
                .is_none_or(|namespace| namespace.finalizers.is_empty())
    }

    /// All its finalizers, `metadata` first.
    pub fn all_finalizers(&self) -> Vec<Finalizer> {
        let metadata = self.finalizers.iter().map(|name| Finalizer {
            list: List::Metadata,
            name: name.clone().into_owned(),
        });
        let spec = self
            .namespace_only
            .iter()
            .flat_map(|namespace| &namespace.finalizers);
        metadata
            .chain(spec.map(|name| Finalizer {
                list: List::Spec,
                name: name.clone(),
            }))
            .collect()
    }
}
