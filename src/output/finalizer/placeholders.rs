//! The `{words}` of commands as people see them: in capitals, to be filled in.
//!
//! What the entry itself tells is filled in already, so that most commands need nothing but the object's name. A
//! part of the finalizer's name gets into a command only where no shell could take it for anything but a word:
//! names come from clusters, and clusters hold what strangers write.

use std::collections::BTreeSet;

use crate::knowledge::{
    Entry, Step,
    schema::{PLACEHOLDERS, fill, placeholders},
};

/// Fills in what is known without an object.
pub(super) struct Words<'a> {
    entry: &'a Entry,
    finalizer: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(entry: &'a Entry, finalizer: &'a str) -> Self {
        Words { entry, finalizer }
    }

    /// The text for people.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(text, |word| {
            Some(self.value(word).unwrap_or_else(|| capitals(word)))
        })
    }

    /// The words of the commands of this entry that are left to the reader, in the order of the schema, each with
    /// what it stands for.
    pub(super) fn left_open(&self) -> impl Iterator<Item = (String, &'static str)> {
        left_open(&self.entry.fix, |word| self.value(word).is_none())
    }

    /// Whether a command names the holder's usual place, which may be another one in this cluster.
    pub(super) fn assumes_place(&self) -> bool {
        let mut commands = self.entry.fix.iter().filter_map(|step| step.command.as_deref());
        commands.any(|command| {
            placeholders(command)
                .iter()
                .any(|word| word.starts_with("holder") && self.value(word).is_some())
        })
    }

    fn value(&self, word: &str) -> Option<String> {
        let holder = &self.entry.holder;
        let fixed = |text: &&String| !text.contains(['*', '{']);
        let found = match word {
            "finalizer" => Some(self.finalizer.to_owned()),
            "matched" => self.entry.matched(self.finalizer).map(str::to_owned),
            "holder-namespace" => holder.namespaces.first().filter(fixed).cloned(),
            "holder" => {
                let mut names = holder.workloads.iter().filter_map(|work| work.name.as_ref());
                names.find(fixed).cloned()
            }
            "kind" => self.kind().map(|(kind, _)| kind.to_owned()),
            "group" => self.kind().map(|(_, group)| group.to_owned()),
            // kubectl takes the singular, which is the kind in lower case for all but a few.
            "type" => self.kind().map(|(kind, group)| match group {
                "" => kind.to_lowercase(),
                group => format!("{}.{group}", kind.to_lowercase()),
            }),
            _ => None,
        };
        found.filter(|value| is_word(value))
    }

    /// The kind, where the entry is about a single one.
    fn kind(&self) -> Option<(&str, &str)> {
        match self.entry.kinds.as_slice() {
            [one] if !one.kind().contains('*') && !one.group().contains('*') => {
                Some((one.kind(), one.group()))
            }
            _ => None,
        }
    }
}

/// The words of the commands of steps that belong to no entry.
pub(super) fn of_steps(steps: &[Step]) -> impl Iterator<Item = (String, &'static str)> {
    left_open(steps, |_| true)
}

fn left_open(steps: &[Step], is_open: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, &'static str)> {
    let commands = steps.iter().filter_map(|step| step.command.as_deref());
    let used: BTreeSet<&str> = commands
        .flat_map(placeholders)
        .filter(|word| is_open(word))
        .collect();
    PLACEHOLDERS
        .iter()
        .filter(move |(word, _)| used.contains(word))
        .map(|&(word, about)| (capitals(word), about))
}

/// A placeholder as people see it.
pub(super) fn capitals(word: &str) -> String {
    word.to_uppercase()
}

/// Whether every shell takes this for one word and nothing else, and no program for a flag.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c))
}
