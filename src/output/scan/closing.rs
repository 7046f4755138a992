//! The end of a scan: how much was read, and what was not read.

use std::io::{self, Write};

use super::{Scan, causes::cause_of_gap, count};
use crate::{
    output::safe::harmless,
    report::{GapReport, ScanReport, gaps},
};

/// What stands before the names of what was not read.
pub(in crate::output) const HIDDEN: &str = "NOT READ (may hide stuck objects):";

/// What stands before the names of what only the investigation could not read.
pub(in crate::output) const SEEN_LESS: &str = "Not seen, which could change the answers above:";

impl Scan<'_> {
    pub(super) fn totals(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.wrap(&self.totals_in_words(), 0))?;
        for note in &self.report.notes {
            writeln!(out, "{}", self.wrap(&format!("Note: {}", harmless(note)), 6))?;
        }
        Ok(())
    }

    pub(super) fn totals_in_words(&self) -> String {
        let totals = &self.report.totals;
        let took = self
            .options
            .took
            .map(|took| format!(" in {:.1} s", took.as_secs_f64()))
            .unwrap_or_default();
        let types = count(totals.types as u64, "type");
        let objects = count(totals.objects, "object");
        let scope = self
            .report
            .namespace
            .as_ref()
            .map(|name| format!(" in namespace {name}"))
            .unwrap_or_default();
        let mut sentences = vec![format!("{types}, {objects} read{}{took}.", harmless(&scope))];
        let in_use = self.report.finalizers.as_ref().map_or(0, Vec::len);
        if !self.shows_finalizers() && in_use > 0 {
            sentences.push(format!("{} in use: --all.", count(in_use as u64, "finalizer")));
        }
        let unknown = self.report.unknown_finalizers;
        if unknown > 0 {
            let are = if unknown == 1 { "is" } else { "are" };
            let finalizers = count(unknown as u64, "finalizer");
            sentences.push(format!("{finalizers} {are} not in the catalogue."));
        }
        if !self.report.root_causes.is_empty() {
            sentences.push("Start with cause 1.".to_owned());
        }
        sentences.join(" ")
    }

    /// What was not read, before the answer.
    pub(super) fn not_read_in_short(&self, out: &mut impl Write) -> io::Result<()> {
        let Some((text, is_whole)) = self.head_of_gaps() else {
            return Ok(());
        };
        let end = if is_whole { "" } else { ". Reasons at the end." };
        self.warning(&harmless(&format!("{HIDDEN} {text}{end}")), 2, out)
    }

    /// What was not read, as it stands at the head, and whether that is all; none if it stands at the end alone. A reason
    /// that a cause tells is not told here.
    fn head_of_gaps(&self) -> Option<(String, bool)> {
        const NAMED: usize = 3;
        let report = self.report;
        // The answer itself says that something is missing if nothing was found.
        let has_head = !report.terminating.is_empty() && report.holders.is_none() && !self.options.no_headers;
        if report.not_read.is_empty() || !has_head {
            return None;
        }
        let (mut parts, mut untold) = (Vec::new(), Vec::new());
        for gap in &report.not_read {
            match cause_of_gap(&report.root_causes, gap) {
                Some(number) => parts.push(format!("{} (see cause {number})", gap.subject())),
                None => untold.push(gap.clone()),
            }
        }
        match &*gaps::grouped(&untold) {
            [] if parts.len() <= NAMED => Some((parts.join(", "), true)),
            [only] if parts.len() + only.subjects.len() <= NAMED => {
                parts.push(format!("{}: {}", only.subjects.join(", "), only.why));
                Some((parts.join(", "), true))
            }
            _ => {
                parts.extend(untold.iter().map(GapReport::subject));
                Some((gaps::first_names(&parts, NAMED), false))
            }
        }
    }

    /// A text that qualifies the rest. Each line has the colour, so that a pager keeps it.
    pub(super) fn warning(&self, text: &str, indent: usize, out: &mut impl Write) -> io::Result<()> {
        for line in self.wrap(text, indent).lines() {
            writeln!(out, "{}", self.style.caution(line))?;
        }
        Ok(())
    }

    pub(super) fn not_read(&self, out: &mut impl Write) -> io::Result<()> {
        if self.report.not_read.is_empty() {
            return Ok(());
        }
        if self.head_of_gaps().is_none_or(|(_, is_whole)| !is_whole) {
            self.warning(HIDDEN, 0, out)?;
            for group in &gaps::grouped(&self.report.not_read) {
                let most = if self.options.wide { usize::MAX } else { 6 };
                let line = format!("  {}: {}", gaps::first_names(&group.subjects, most), group.why);
                self.warning(&harmless(&line), 4, out)?;
            }
        }
        if self.report.not_read.iter().any(|gap| gap.reason == "Forbidden") {
            writeln!(
                out,
                "{}",
                self.wrap("What you may read: kubectl auth can-i --list", 4)
            )?;
        }
        if self.report.not_read.iter().any(|gap| gap.reason == "TimedOut") {
            writeln!(
                out,
                "{}",
                self.wrap("To wait longer for each answer: --request-timeout 2m", 4)
            )?;
        }
        Ok(())
    }

    /// What the investigation could not read. The list of objects can be complete all the same.
    pub(super) fn weaker(&self, out: &mut impl Write) -> io::Result<()> {
        for group in &gaps::grouped(&self.report.weaker_for) {
            let most = if self.options.wide { usize::MAX } else { 6 };
            let line = format!(
                "{SEEN_LESS} {}: {}",
                gaps::first_names(&group.subjects, most),
                group.why
            );
            self.warning(&harmless(&line), 4, out)?;
        }
        Ok(())
    }

    pub(super) fn stopped(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.report.interrupted {
            return Ok(());
        }
        self.warning(stopped_in_words(self.report), 1, out)
    }
}

/// Whether a part of the list is missing, or only reasons.
pub(in crate::output) fn stopped_in_words(report: &ScanReport) -> &'static str {
    if report.not_read.iter().any(GapReport::is_interruption) {
        "STOPPED before the end: this is only part of the answer."
    } else {
        "STOPPED before the end: everything was listed, but not everything was looked at, and reasons may be missing."
    }
}
