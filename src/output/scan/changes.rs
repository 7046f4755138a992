//! What changed since an earlier snapshot, a line for each object.

use std::io::{self, Write};

use super::Scan;
use crate::{
    output::{
        flow::Look,
        safe::harmless,
        table::{self, Column},
    },
    report::changes::{ChangedObject, ChangesReport, NotKnown, Time},
};

/// So many objects of each kind of change are shown, unless the user asks for all.
const SHOWN: usize = 10;

/// What the word of some objects means.
pub(in crate::output) const NOT_KNOWN: &str =
    "Not known: what was not read at both times is neither new nor gone.";

const CHANGES: &[Column] = &[
    Column::fixed("change"),
    Column::fixed("object"),
    Column::fixed("for"),
    Column::rest("what is known of it"),
];

impl Scan<'_> {
    pub(super) fn changes(&self, changes: &ChangesReport, out: &mut impl Write) -> io::Result<()> {
        let (rows, hidden) = self.change_rows(changes);
        if !self.options.no_headers {
            let text = format!("CHANGES {}", changes_in_words(changes));
            for line in self.wrap(&text, 0).lines() {
                writeln!(out, "{}", self.style.heading(line))?;
            }
        }
        for line in table::lines(CHANGES, &rows, &self.style, 1, false) {
            writeln!(out, "{line}")?;
        }
        if hidden > 0 {
            writeln!(out, " and {hidden} more: -o wide")?;
        }
        Ok(())
    }

    /// The rows, and how many more there are. What stays is counted, because the causes below have it, unless it lost a
    /// finalizer.
    fn change_rows(&self, changes: &ChangesReport) -> (Vec<Vec<String>>, usize) {
        let is_full = self.options.wide || self.options.no_headers;
        let most = if is_full { usize::MAX } else { SHOWN };
        let is_told = |one: &&ChangedObject| is_full || !one.finalizers_removed.is_empty();
        let stays: Vec<_> = changes.stays.iter().filter(is_told).collect();
        let (new, went) = (changes.new.iter().collect(), changes.went.iter().collect());
        let mut rows = Vec::new();
        let mut hidden = 0;
        let kinds: [(&str, Vec<&ChangedObject>); 3] = [("new", new), ("went", went), ("stays", stays)];
        for (word, objects) in kinds {
            rows.extend(objects.iter().take(most).map(|one| row(word, one, removed(one))));
            hidden += objects.len().saturating_sub(most);
        }
        let unknown = changes.not_known.iter().take(most);
        rows.extend(unknown.map(|one| row("not known", &one.object, reason(one))));
        hidden += changes.not_known.len().saturating_sub(most);
        (rows, hidden)
    }

    /// The last lines about what is not known.
    pub(super) fn not_known(&self, changes: &ChangesReport, out: &mut impl Write) -> io::Result<()> {
        if changes.not_known.is_empty() {
            return Ok(());
        }
        for line in self.wrap(NOT_KNOWN, 2).lines() {
            writeln!(out, "{}", Look::Caution.paint(line, &self.style))?;
        }
        Ok(())
    }
}

/// Since when, and how many objects changed in which way.
pub(in crate::output) fn changes_in_words(changes: &ChangesReport) -> String {
    let time = changes.since.strftime("%Y-%m-%d %H:%M");
    format!(
        "since {time} UTC: {} new, {} went, {} {}, {} not known.",
        changes.new.len(),
        changes.went.len(),
        changes.stays.len(),
        if changes.stays.len() == 1 { "stays" } else { "stay" },
        changes.not_known.len(),
    )
}

fn row(word: &str, one: &ChangedObject, why: String) -> Vec<String> {
    vec![word.to_owned(), one.object.pasteable(), one.age.to_string(), why]
}

/// Which finalizers somebody took off meanwhile. Two snapshots tell that, and not who did it.
fn removed(one: &ChangedObject) -> String {
    let names: Vec<_> = one.finalizers_removed.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        String::new()
    } else {
        harmless(&format!("removed since: {}", names.join(", "))).into_owned()
    }
}

/// Why it is not known what became of an object.
pub(in crate::output) fn reason(one: &NotKnown) -> String {
    let time = match one.not_read {
        Time::Before => "not read then",
        Time::Now => "not read now",
    };
    harmless(&format!("{time}: {}", one.message)).into_owned()
}

#[cfg(test)]
mod tests;
