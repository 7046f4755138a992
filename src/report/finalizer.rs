//! The report of `explain FINALIZER`, which needs no cluster.

use serde::Serialize;

use super::{API_VERSION, TOOL_VERSION};
use crate::knowledge::{Deduced, Entry, Knowledge};

/// What the catalogue knows about the requested finalizers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalizersReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `FinalizerExplanation`.
    pub kind: &'static str,
    /// Version of this program.
    pub tool_version: &'static str,
    /// One item for each name, in the given order.
    pub finalizers: Vec<Explained>,
}

/// What the catalogue knows about one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The name as given.
    pub given: String,
    /// The name that was looked up. It differs in case if only that spelling is known.
    pub name: String,
    /// Whether the catalogue knows the owner. If not, `entries` are those that apply on objects of their
    /// kinds, and `deduced` is set.
    pub in_catalogue: bool,
    /// The matching entries: several if the name has different meanings on different kinds.
    pub entries: Vec<Entry>,
    /// What the name alone suggests, if the catalogue does not know it. No source confirms it.
    pub deduced: Option<Deduced>,
}

impl FinalizersReport {
    /// Looks up these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, knowledge: &Knowledge) -> Self {
        FinalizersReport {
            api_version: API_VERSION,
            kind: "FinalizerExplanation",
            tool_version: TOOL_VERSION,
            finalizers: names
                .into_iter()
                .map(|name| Explained::new(name, knowledge))
                .collect(),
        }
    }
}

impl Explained {
    fn new(given: &str, knowledge: &Knowledge) -> Self {
        let recognised = knowledge.recognise(given);
        let in_catalogue = recognised.as_ref().is_some_and(|found| found.certain);
        let (name, entries) = match recognised {
            Some(found) => (found.name, found.entries),
            None => (given.to_owned(), Vec::new()),
        };
        Explained {
            deduced: (!in_catalogue).then(|| knowledge.deduce(given)),
            // A guess uses the name as given.
            name: if in_catalogue { name } else { given.to_owned() },
            given: given.to_owned(),
            in_catalogue,
            entries,
        }
    }
}
