//! How finalizers are used: on how many objects, and on which types.

use std::collections::BTreeMap;

use crate::object::ResourceType;

/// How one finalizer is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Objects that have it.
    pub objects: u64,
    /// How many of them are being deleted.
    pub terminating: u64,
    /// How many of these objects are of each type.
    pub on: BTreeMap<OnType, u64>,
}

/// A type that a finalizer is used on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnType {
    /// `plural.group`.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// API group, empty for core.
    pub group: String,
}

impl From<&ResourceType> for OnType {
    fn from(ty: &ResourceType) -> Self {
        OnType {
            name: ty.name(),
            kind: ty.kind.clone(),
            group: ty.group.clone(),
        }
    }
}
