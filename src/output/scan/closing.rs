//! The end of a scan: how much was read, and what was not read.

use std::io::{self, Write};

use super::{Scan, count};
use crate::{
    output::safe::harmless,
    report::{GapReport, gaps},
};

impl Scan<'_> {
    pub(super) fn totals(&self, out: &mut impl Write) -> io::Result<()> {
        let totals = &self.report.totals;
        let took = self
            .options
            .took
            .map(|took| format!(", {:.1} s", took.as_secs_f64()))
            .unwrap_or_default();
        let types = count(totals.types as u64, "type");
        let objects = count(totals.objects, "object");
        let scope = self
            .report
            .namespace
            .as_ref()
            .map(|name| format!(" in namespace {name}"))
            .unwrap_or_default();
        let totals = format!("{types}, {objects}{}{took}.", harmless(&scope));
        writeln!(out, "\n{}", self.wrap(&totals, 1))?;
        let unknown = self.report.unknown_finalizers;
        if unknown > 0 {
            let are = if unknown == 1 { "is" } else { "are" };
            let text = format!(
                "{} {are} not in the catalogue.",
                count(unknown as u64, "finalizer")
            );
            writeln!(out, "{}", self.wrap(&text, 0))?;
        }
        for note in &self.report.notes {
            writeln!(out, "{}", self.wrap(&format!("Note: {}", harmless(note)), 6))?;
        }
        Ok(())
    }

    pub(super) fn not_read(&self, out: &mut impl Write) -> io::Result<()> {
        if self.report.not_read.is_empty() {
            return Ok(());
        }
        let groups = gaps::grouped(&self.report.not_read);
        writeln!(
            out,
            "{}",
            self.style
                .warning(&self.wrap("NOT READ, and so not known to be free of what is asked about:", 1))
        )?;
        for group in &groups {
            let most = if self.options.wide { usize::MAX } else { 6 };
            let line = format!("  {}: {}", gaps::first_names(&group.subjects, most), group.why);
            writeln!(out, "{}", self.style.warning(&self.wrap(&harmless(&line), 4)))?;
        }
        if self.report.not_read.iter().any(|gap| gap.reason == "Forbidden") {
            writeln!(
                out,
                "{}",
                self.wrap("  What you may read: kubectl auth can-i --list", 4)
            )?;
        }
        if self.report.not_read.iter().any(|gap| gap.reason == "TimedOut") {
            writeln!(
                out,
                "{}",
                self.wrap("  To wait longer for each answer: --request-timeout 2m", 4)
            )?;
        }
        Ok(())
    }

    /// What the investigation could not read. The list of objects can be complete all the same.
    pub(super) fn weaker(&self, out: &mut impl Write) -> io::Result<()> {
        for group in &gaps::grouped(&self.report.weaker_for) {
            let most = if self.options.wide { usize::MAX } else { 6 };
            let line = format!(
                "{} weaker, because this could not be read: {}: {}",
                if self.report.holders.is_some() {
                    "What is known of holders is"
                } else {
                    "Reasons are"
                },
                gaps::first_names(&group.subjects, most),
                group.why
            );
            writeln!(out, "{}", self.style.warning(&self.wrap(&harmless(&line), 4)))?;
        }
        Ok(())
    }

    pub(super) fn stopped(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.report.interrupted {
            return Ok(());
        }
        let text = if self.report.not_read.iter().any(GapReport::is_interruption) {
            "STOPPED before the end: this is only part of the answer."
        } else {
            "STOPPED before the end: everything was listed, but not everything was looked at, and reasons may be missing."
        };
        writeln!(out, "{}", self.style.warning(&self.wrap(text, 1)))
    }
}
