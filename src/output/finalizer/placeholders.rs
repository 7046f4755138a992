//! Shows the `{words}` of commands in capitals, for the user to fill in.
//!
//! Words that the entry knows are filled in already, so that most commands need only the object's name. A
//! part of the finalizer's name goes into a command only if every shell takes it for one plain word: names
//! come from clusters, and strangers can write there.

use std::collections::BTreeSet;

use crate::{
    command::{Command, Template, is_for_the_reader},
    knowledge::{
        Entry,
        schema::{PLACEHOLDERS, fill, placeholders},
    },
};

/// Fills in the words that need no object.
pub(super) struct Words<'a> {
    entry: &'a Entry,
    finalizer: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(entry: &'a Entry, finalizer: &'a str) -> Self {
        Words { entry, finalizer }
    }

    /// Fills in a text for the user.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(text, |word| {
            Some(self.value(word).unwrap_or_else(|| capitals(word)))
        })
    }

    /// Fills in a command for the user.
    pub(super) fn command(&self, template: &Template) -> Command {
        template.fill(|word| self.value(word))
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.entry.fix.iter().filter_map(|step| step.command.as_ref())
    }

    /// The words that this entry's commands leave to the user, in the order of the schema, each with its
    /// meaning.
    pub(super) fn unfilled(&self) -> Vec<(String, &'static str)> {
        let commands: Vec<_> = self.templates().map(|template| self.command(template)).collect();
        meanings(commands.iter().flat_map(Command::open))
    }

    /// Whether a command contains the controller's usual namespace or name, which can differ in this cluster.
    pub(super) fn assumes_usual_holder(&self) -> bool {
        self.templates().any(|template| {
            placeholders(template.text())
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
            // kubectl accepts the singular. It is the kind in lower case for all but a few types.
            "type" => self.kind().map(|(kind, group)| match group {
                "" => kind.to_lowercase(),
                group => format!("{}.{group}", kind.to_lowercase()),
            }),
            _ => None,
        };
        found.filter(|value| is_word(value))
    }

    /// The kind, if the entry is about a single one.
    fn kind(&self) -> Option<(&str, &str)> {
        match self.entry.kinds.as_slice() {
            [one] if !one.kind().contains('*') && !one.group().contains('*') => {
                Some((one.kind(), one.group()))
            }
            _ => None,
        }
    }
}

/// These words, in the order of the schema, each with its meaning. Those that a step itself explains come last.
pub(super) fn meanings<'a>(words: impl Iterator<Item = &'a str>) -> Vec<(String, &'static str)> {
    let used: BTreeSet<&str> = words.collect();
    let known = PLACEHOLDERS
        .iter()
        .filter(|(word, _)| used.contains(*word))
        .map(|&(word, about)| (capitals(word), about));
    let explained = used.iter().filter(|word| is_for_the_reader(word));
    let explained = explained.map(|word| ((*word).to_owned(), "explained by its step"));
    known.chain(explained).collect()
}

/// A placeholder as the user sees it.
pub(super) fn capitals(word: &str) -> String {
    word.to_uppercase()
}

/// Whether every shell takes this for one plain word, and no program takes it for a flag.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c))
}
