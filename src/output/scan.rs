//! A scan as tables: terminating objects, leftovers, finalizers in use, what was not read, and what to do
//! next.

mod causes;
mod changes;
mod closing;
mod clusters;
mod finalizers;
mod holders;
mod leftovers;
mod rows;
mod terminating;
mod words;

use std::{
    io::{self, Write},
    time::Duration,
};

pub use self::clusters::{write_clusters, write_clusters_not_read};
pub(super) use self::{
    causes::hidden_in_words,
    changes::{NOT_KNOWN, changes_in_words, reason},
    closing::{HIDDEN, SEEN_LESS, stopped_in_words},
    words::Words,
};
pub(super) use super::flow::look_of_state;
use super::{
    Style,
    number::{count, thousands},
    table,
};
use crate::report::{ObjectReport, ScanReport};

/// Options of the tables besides the [`Style`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Show every column.
    pub wide: bool,
    /// Leave out headings and closing lines.
    pub no_headers: bool,
    /// How long reading took, if that is meaningful.
    pub took: Option<Duration>,
    /// Whether the user limited the objects, so that "nothing" means "nothing that matches".
    pub filtered: bool,
}

/// Writes the tables.
pub fn write(report: &ScanReport, options: Options, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let scan = Scan::new(report, options, style);
    if let Some(holders) = &report.holders {
        scan.holders(holders, out)?;
    } else {
        scan.terminating(out)?;
        scan.leftovers(out)?;
        scan.others(out)?;
        if scan.shows_finalizers() {
            scan.finalizers(out)?;
        }
    }
    if !options.no_headers {
        scan.totals(out)?;
        scan.weaker(out)?;
        scan.leftover_gaps(out)?;
        scan.not_read(out)?;
        scan.stopped(out)?;
    }
    Ok(())
}

/// Writes what was not read, for formats without a place for it. `with_leftovers` includes the gaps about
/// leftovers.
pub fn write_not_read(
    report: &ScanReport,
    with_leftovers: bool,
    style: &Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let scan = Scan {
        report,
        options: Options {
            no_headers: true,
            ..Options::default()
        },
        style: *style,
    };
    if with_leftovers {
        scan.leftover_gaps(out)?;
    }
    scan.not_read(out)?;
    scan.stopped(out)
}

struct Scan<'a> {
    report: &'a ScanReport,
    options: Options,
    style: Style,
}

impl<'a> Scan<'a> {
    fn new(report: &'a ScanReport, options: Options, style: &Style) -> Self {
        Scan {
            report,
            options,
            style: options.style(style),
        }
    }
}

impl Options {
    /// The style for these options.
    fn style(self, style: &Style) -> Style {
        Style {
            width: style.width.filter(|_| !self.wide),
            ..*style
        }
    }
}

impl Scan<'_> {
    fn table(&self, lines: &[String], out: &mut impl Write) -> io::Result<()> {
        for (at, line) in lines.iter().enumerate() {
            if at == 0 && !self.options.no_headers {
                writeln!(out, "{}", self.style.faint(line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }

    fn object(&self, object: &ObjectReport) -> String {
        let name = &object.object;
        format!(
            "{}/{}",
            self.report.short.get(&name.resource).unwrap_or(&name.resource),
            name.name
        )
    }

    fn namespace(&self, object: &ObjectReport) -> String {
        match &object.object.namespace {
            Some(namespace) if self.report.namespace.is_none() => format!("-n {namespace}"),
            _ => String::new(),
        }
    }

    fn wrap(&self, text: &str, indent: usize) -> String {
        table::wrap(text, self.style.width, indent)
    }
}

fn all_finalizers(object: &ObjectReport) -> String {
    object
        .finalizers
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
pub(super) mod tests;
