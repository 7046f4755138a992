//! The catalogue as a table.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::{
    Style,
    finalizer::{kinds, pattern},
    safe::harmless,
    table::{self, Column},
};
use crate::{
    knowledge::{Entry, List},
    report::CatalogReport,
};

/// Options of the table besides the [`Style`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Show every column in full.
    pub wide: bool,
    /// Leave out headings and the closing line.
    pub no_headers: bool,
}

const COLUMNS: &[Column] = &[
    Column::fixed("finalizer"),
    Column::optional("on", 2),
    Column::rest("protects"),
    Column::optional("removed by hand", 1),
    Column::optional("project", 3),
    Column::optional("verified", 4),
    Column::optional("removed by", 5),
];

/// Writes the table.
pub fn write(
    report: &CatalogReport,
    options: Options,
    style: &Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let style = Style {
        width: style.width.filter(|_| !options.wide),
        ..*style
    };
    // A name is only useful in full. A name longer than half the line would leave no room for the other
    // columns, so it gets its own line above its row.
    let limit = style.width.map_or(usize::MAX, |width| width / 2);
    let long = |entry: &Entry| Some(name(entry)).filter(|name| name.width() > limit);
    let mut rows: Vec<Vec<String>> = report.entries.iter().map(|entry| row(entry, options)).collect();
    for (row, entry) in rows.iter_mut().zip(&report.entries) {
        if let Some(name) = row.first_mut().filter(|_| long(entry).is_some()) {
            name.clear();
        }
    }
    let headings = !options.no_headers;
    let lines = table::lines(COLUMNS, &rows, &style, 0, headings);
    let (heading, lines) = lines.split_at(usize::from(headings));
    for line in heading {
        writeln!(out, "{}", style.faint(line))?;
    }
    for (line, entry) in lines.iter().zip(&report.entries) {
        if let Some(name) = long(entry) {
            writeln!(out, "{}", harmless(&name))?;
        }
        writeln!(out, "{line}")?;
    }
    if headings {
        let all = report.total;
        let shown = report.entries.len();
        let of = if shown == all {
            String::new()
        } else {
            format!(" of {all}")
        };
        let line = format!("{shown}{of} known finalizers. Details: kubectl finalizers explain NAME");
        writeln!(out, "\n{}", table::wrap(&line, style.width, 0))?;
    }
    Ok(())
}

/// Writes one name per line. A name with several entries appears once.
pub fn write_names(report: &CatalogReport, out: &mut impl Write) -> io::Result<()> {
    let mut last = None;
    for entry in &report.entries {
        let name = pattern(entry);
        if last.as_ref() != Some(&name) {
            writeln!(out, "{}", harmless(&name))?;
        }
        last = Some(name);
    }
    Ok(())
}

fn row(entry: &Entry, options: Options) -> Vec<String> {
    let wide = |text: String| if options.wide { text } else { String::new() };
    let verified = if entry.verified { "yes" } else { "no" };
    let on = if options.wide {
        kinds(entry)
    } else {
        first_kinds(entry)
    };
    vec![
        name(entry),
        on,
        entry.protects.clone(),
        entry.if_removed.consequence.typed(),
        entry.project.clone(),
        wide(verified.to_owned()),
        wide(entry.removed_by.clone()),
    ]
}

/// As in a scan, names from the other list have a prefix.
fn name(entry: &Entry) -> String {
    match entry.list {
        List::Metadata => pattern(entry),
        List::NamespaceSpec => format!("spec: {}", pattern(entry)),
    }
}

/// The first kind without its group, and the number of the others.
fn first_kinds(entry: &Entry) -> String {
    match entry.kinds.as_slice() {
        [one, rest @ ..] => {
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(" +{}", rest.len())
            };
            match one.kind() {
                "*" if rest.is_empty() => kinds(entry),
                "*" => format!("{one}{more}"),
                kind => format!("{kind}{more}"),
            }
        }
        [] => String::new(),
    }
}
