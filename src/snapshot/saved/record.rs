//! The lines of a snapshot file after the first.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::Remains;
use crate::{
    object::ResourceType,
    snapshot::{
        Gap, Seen, Why,
        facts::{Answer, Query},
    },
};

/// One line. Borrowed where it is written, owned where it is read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(super) enum Record<'a> {
    /// A type that the server has.
    Type(Cow<'a, ResourceType>),
    /// What the server could not say of its types.
    TypeGap(Cow<'a, Gap>),
    /// A type that was read.
    Read {
        ty: Cow<'a, ResourceType>,
        objects: u64,
        in_namespaces: Cow<'a, BTreeMap<String, u64>>,
    },
    /// What could not be read.
    Gap(Cow<'a, Gap>),
    /// What is worth knowing.
    Note(Cow<'a, str>),
    /// An object that is being deleted or has a finalizer.
    Kept(Cow<'a, Seen>),
    /// What may have been left behind.
    Remains(Cow<'a, Remains>),
    /// What a diagnosis asked for and got.
    Answer {
        query: Cow<'a, Query>,
        answer: Cow<'a, Answer>,
    },
    /// What a diagnosis asked for and did not get.
    Unanswered {
        query: Cow<'a, Query>,
        why: Cow<'a, Why>,
    },
    /// The end: how many lines there are before it.
    End { records: u64 },
}
