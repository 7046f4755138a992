//! The first lines of a scan, and its objects as a plain table for scripts.

use std::io::{self, Write};

use super::{Scan, all_finalizers, count};
use crate::{
    output::{
        explain::recorded_in_words,
        table::{self, Column},
    },
    report::ObjectReport,
};

pub(super) const TERMINATING: &[Column] = &[
    Column::fixed("object"),
    Column::fixed("namespace"),
    Column::fixed("for"),
    Column::optional("deletion requested", 3),
    Column::optional("uid", 4),
    Column::optional("finalizers", 1),
    Column::fixed("verdict"),
    Column::rest("why it is still there"),
];

impl Scan<'_> {
    pub(super) fn terminating(&self, out: &mut impl Write) -> io::Result<()> {
        let changes = self.report.changes.as_ref();
        if self.options.no_headers {
            return match changes {
                Some(changes) => self.changes(changes, out),
                None => self.rows(out),
            };
        }
        self.answer(out)?;
        self.not_read_in_short(out)?;
        if let Some(changes) = changes {
            writeln!(out)?;
            self.changes(changes, out)?;
            self.not_known(changes, out)?;
        }
        if self.report.root_causes.is_empty() && self.stuck() > 0 {
            self.rows(out)?;
        }
        self.causes(out)
    }

    /// Every object, without its cause.
    fn rows(&self, out: &mut impl Write) -> io::Result<()> {
        let objects = &self.report.terminating;
        let rows: Vec<_> = objects
            .iter()
            .map(|object| self.terminating_row(object))
            .collect();
        let lines = table::lines(TERMINATING, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }

    /// How many objects are stuck, as far as known.
    pub(super) fn stuck(&self) -> usize {
        self.report.totals.stuck.saturating_sub(self.report.gone)
    }

    /// The first line: how much is stuck.
    fn answer(&self, out: &mut impl Write) -> io::Result<()> {
        let text = self.wrap(&self.answer_in_words(), 0);
        text.lines()
            .try_for_each(|line| writeln!(out, "{}", self.style.heading(line)))
    }

    pub(super) fn answer_in_words(&self) -> String {
        let report = self.report;
        let stuck = count(self.stuck() as u64, "object");
        let mut sentences = vec![match report.root_causes.len() {
            _ if report.terminating.is_empty() => self.nothing_found().to_owned(),
            _ if self.stuck() == 0 => "Nothing is stuck.".to_owned(),
            0 => format!("{stuck} stuck."),
            1 => format!("{stuck} stuck, 1 cause."),
            causes => format!("{stuck} stuck, {causes} causes, worst first."),
        }];
        if report.gone > 0 {
            let gone = count(report.gone as u64, "object");
            sentences.push(format!("{gone} finished meanwhile."));
        }
        if report.is_recorded {
            sentences.push(recorded_in_words(report.observed_at));
        }
        sentences.join(" ")
    }

    pub(super) fn terminating_row(&self, object: &ObjectReport) -> Vec<String> {
        let deletion = object.deletion.as_ref();
        let wide = |text: Option<String>| text.filter(|_| self.options.wide).unwrap_or_default();
        vec![
            self.object(object),
            self.namespace(object),
            deletion
                .map(|deletion| deletion.age.to_string())
                .unwrap_or_default(),
            wide(deletion.map(|deletion| deletion.requested_at.to_string())),
            wide(object.object.uid.clone()),
            self.finalizer_list(object),
            self.verdict(object),
            object.reason.clone().unwrap_or_default(),
        ]
    }

    /// The line for an empty result. It covers only what was read.
    fn nothing_found(&self) -> &'static str {
        match (self.report.complete, self.options.filtered) {
            (true, false) => "Nothing is stuck: no object is being deleted.",
            (true, true) => "Nothing is stuck: no object that matches is being deleted.",
            (false, _) => "In what could be read, nothing is stuck. Not everything could be read.",
        }
    }

    fn finalizer_list(&self, object: &ObjectReport) -> String {
        match object.finalizers.as_slice() {
            [] => "(none)".into(),
            _ if self.options.wide => all_finalizers(object),
            [one] => one.to_string(),
            [first, rest @ ..] => format!("{first} +{}", rest.len()),
        }
    }

    /// Empty if nothing was investigated, as with files.
    fn verdict(&self, object: &ObjectReport) -> String {
        match object.verdict {
            Some(verdict) => verdict.word().to_owned(),
            None if self.report.not_looked_at > 0 => "not looked at".to_owned(),
            None => String::new(),
        }
    }
}
