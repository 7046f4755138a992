//! What is known of finalizers, without any object: the answer of `explain FINALIZER`.

use serde::Serialize;

use super::API_VERSION;
use crate::knowledge::{Deduced, Entry, Knowledge};

/// What is known of the finalizers that were asked about.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalizersReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Explanation`.
    pub kind: &'static str,
    /// One for each name, in the order in which they were given.
    pub finalizers: Vec<Explained>,
}

/// What is known of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The name as it was given.
    pub given: String,
    /// The name that it was taken for: another case, where only that is known.
    pub name: String,
    /// Whether the catalogue knows whose it is. If not, `entries` are those that would speak for it on objects of
    /// their kinds, and `deduced` is there.
    pub in_catalogue: bool,
    /// What speaks for it: several where the name means different things on different kinds.
    pub entries: Vec<Entry>,
    /// What its name tells, if the catalogue does not know it. None of this was read anywhere.
    pub deduced: Option<Deduced>,
}

impl FinalizersReport {
    /// What is known of these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, knowledge: &Knowledge) -> Self {
        FinalizersReport {
            api_version: API_VERSION,
            kind: "Explanation",
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
            // A guess is about the name as it stands.
            name: if in_catalogue { name } else { given.to_owned() },
            given: given.to_owned(),
            in_catalogue,
            entries,
        }
    }
}
