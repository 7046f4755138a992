//! The lines of a snapshot file after the first.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::Leftovers;
use crate::{
    object::ResourceType,
    snapshot::{
        Gap, Seen, Why,
        facts::{Answer, Query},
    },
};

/// One line. It borrows when writing, and owns when reading.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(super) enum Record<'a> {
    /// A type that the server has.
    Type(Cow<'a, ResourceType>),
    /// Types that the server could not list.
    TypeGap(Cow<'a, Gap>),
    /// A type that was read.
    Read {
        ty: Cow<'a, ResourceType>,
        objects: u64,
        in_namespaces: Cow<'a, BTreeMap<String, u64>>,
    },
    /// What could not be read.
    Gap(Cow<'a, Gap>),
    /// A note on how it was read.
    Note(Cow<'a, str>),
    /// An object that is being deleted or has a finalizer.
    Kept(Cow<'a, Seen>),
    /// Leftover objects.
    #[serde(rename = "remains")]
    Leftovers(Cow<'a, Leftovers>),
    /// A query with its answer.
    Answer {
        query: Cow<'a, Query>,
        answer: Cow<'a, Answer>,
    },
    /// A query without an answer.
    Unanswered {
        query: Cow<'a, Query>,
        why: Cow<'a, Why>,
    },
    /// The end, with the number of lines before it.
    End { records: u64 },
}
