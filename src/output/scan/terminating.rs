//! The part of a scan about terminating objects, grouped by root cause.

use std::io::{self, Write};

use super::{Scan, all_finalizers, count};
use crate::{
    diagnose::graph::Group,
    output::{
        safe::harmless,
        table::{self, Column},
    },
    report::ObjectReport,
};

const TERMINATING: &[Column] = &[
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
        let objects = &self.report.terminating;
        if objects.is_empty() {
            return if self.options.no_headers {
                Ok(())
            } else {
                writeln!(out, "{}", self.wrap(self.nothing_found(), 0))
            };
        }
        if !self.options.no_headers {
            let slow = objects.len() - self.report.totals.stuck;
            let grace = if slow > 0 {
                format!(", {slow} of them still in their grace period")
            } else {
                String::new()
            };
            let causes = match self.report.root_causes.len() {
                0 => String::new(),
                some => format!(", {}", count(some as u64, "root cause")),
            };
            let objects = count(objects.len() as u64, "object");
            let heading = format!("TERMINATING ({objects}{causes}{grace})");
            writeln!(out, "{}", self.style.heading(&self.wrap(&heading, 1)))?;
        }
        let groups = &self.report.grouping.groups;
        if groups.is_empty() || self.options.no_headers {
            let rows: Vec<_> = objects
                .iter()
                .map(|object| self.terminating_row(object))
                .collect();
            let lines = table::lines(TERMINATING, &rows, &self.style, 1, !self.options.no_headers);
            return self.table(&lines, out);
        }
        let alone = &self.report.grouping.alone;
        let rows: Vec<_> = groups
            .iter()
            .flat_map(|group| &group.objects)
            .chain(alone)
            .map(|&at| self.terminating_row(&objects[at]))
            .collect();
        let lines = table::lines(TERMINATING, &rows, &self.style, 3, true);
        let (heading, mut rest) = lines.split_at(1);
        self.table(heading, out)?;
        for group in groups {
            writeln!(out, "{}", self.style.heading(&self.root_causes(group)))?;
            let (lines, others) = rest.split_at(group.objects.len().min(rest.len()));
            for line in lines {
                writeln!(out, "{line}")?;
            }
            rest = others;
        }
        if !rest.is_empty() {
            writeln!(
                out,
                "{}",
                self.style
                    .heading(&self.wrap(" no root cause beyond the object itself", 1))
            )?;
        }
        rest.iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// The heading of the objects that wait for the same causes.
    fn root_causes(&self, group: &Group) -> String {
        const SHOWN: usize = 2;
        let most = if self.options.wide { usize::MAX } else { SHOWN };
        let mut causes: Vec<_> = group
            .causes
            .iter()
            .take(most)
            .map(|&at| {
                let cause = &self.report.root_causes[at];
                match &cause.object {
                    Some(object) => format!("{}: {}", object.in_words(), cause.says),
                    None => cause.says.clone(),
                }
            })
            .collect();
        if group.causes.len() > causes.len() {
            causes.push(format!("{} more", group.causes.len() - causes.len()));
        }
        let (label, frees) = if group.causes.len() == 1 {
            (" root cause: ", "frees")
        } else {
            (" root causes: ", "together free")
        };
        let frees = format!("   {frees} {}", count(group.objects.len() as u64, "object"));
        let room = self
            .style
            .width
            .map(|width| width.saturating_sub(label.len() + frees.len()));
        // Each cause gets its share of the line, so that the last one is visible too.
        let share = room.map(|room| (room / causes.len().max(1)).saturating_sub(5).max(20));
        let causes: Vec<_> = causes
            .iter()
            .map(|cause| match (share, causes.len()) {
                (Some(_), 1) | (None, _) => cause.clone(),
                (Some(share), _) => table::truncate(cause, share, &self.style),
            })
            .collect();
        let causes = harmless(&causes.join("; and ")).into_owned();
        match room {
            Some(room) if room < 30 => self.wrap(&format!("{label}{causes}{frees}"), 3),
            Some(room) => format!("{label}{}{frees}", table::truncate(&causes, room, &self.style)),
            None => format!("{label}{causes}{frees}"),
        }
    }

    fn terminating_row(&self, object: &ObjectReport) -> Vec<String> {
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
            (true, false) => "Nothing is being deleted.",
            (true, true) => "Nothing that matches is being deleted.",
            (false, _) => {
                "Of what could be read, nothing that was asked for is being deleted. Not everything could be read."
            }
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
