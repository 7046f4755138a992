//! Filters objects, and defines the item that a filter applies to.

use std::{borrow::Cow, collections::BTreeMap};

use jiff::{SignedDuration, Timestamp};

use super::{Seen, glob::Glob, selector::Selector};
use crate::object::{Finalizer, List};

/// Conditions on objects. All must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Finalizer patterns, of which one must match. Empty for no condition.
    pub finalizers: Vec<Glob>,
    /// A label selector. A server applies it itself; for files it is applied here.
    pub selector: Option<Selector>,
    /// The minimum time since the deletion request.
    pub older_than: Option<SignedDuration>,
}

impl Filter {
    /// Whether an object with these labels passes.
    pub fn labels(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector
            .as_ref()
            .is_none_or(|selector| selector.matches(labels))
    }

    /// Whether this finalizer passes.
    pub fn finalizer(&self, name: &str) -> bool {
        self.finalizers.is_empty() || self.finalizers.iter().any(|glob| glob.matches(name))
    }

    /// Whether this object passes at the time `now`.
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

/// The metadata of one object as a decoder returns it, borrowed from the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item<'a> {
    /// `metadata.namespace`; empty for cluster-scoped objects.
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
    /// Fields that only a Namespace has.
    pub namespace_only: Option<Box<NamespaceOnly>>,
    /// The CSI driver that the object belongs to, if it names one and the decoder reads that.
    pub driver: Option<String>,
}

/// The fields of a Namespace beyond its metadata that decide whether it is deleted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespaceOnly {
    /// `spec.finalizers`.
    pub finalizers: Vec<String>,
    /// `status.conditions`.
    pub conditions: Vec<super::Condition>,
}

impl Item<'_> {
    /// Whether it has neither finalizers nor a deletion mark.
    pub fn is_bare(&self) -> bool {
        self.deletion.is_none()
            && self.finalizers.is_empty()
            && self
                .namespace_only
                .as_ref()
                .is_none_or(|namespace| namespace.finalizers.is_empty())
    }

    /// All finalizers of both lists, `metadata` first.
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
