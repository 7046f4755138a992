//! A scan as tables: what is being deleted, what is in use, what was not read, and what to do next.

use std::{
    io::{self, Write},
    time::Duration,
};

use super::{
    Style,
    safe::harmless,
    table::{self, Column},
};
use crate::{
    diagnose::graph::Group,
    object::List,
    report::{GapReport, ObjectReport, ScanReport, gaps},
};

/// How the tables are to look beyond the [`Style`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Every column.
    pub wide: bool,
    /// Neither headings nor closing lines.
    pub no_headers: bool,
    /// How long the reading took, where that means something.
    pub took: Option<Duration>,
    /// Whether conditions were set on objects, so that "nothing" is said only of what matches.
    pub filtered: bool,
}

/// Writes the tables.
pub fn write(report: &ScanReport, options: Options, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let scan = Scan {
        report,
        options,
        style: if options.wide {
            Style {
                width: None,
                ..*style
            }
        } else {
            *style
        },
    };
    scan.terminating(out)?;
    scan.others(out)?;
    scan.finalizers(out)?;
    if !options.no_headers {
        scan.totals(out)?;
        scan.weaker(out)?;
        scan.not_read(out)?;
        scan.stopped(out)?;
    }
    Ok(())
}

/// Writes what was not read, for outputs that have no place of their own for it.
pub fn write_not_read(report: &ScanReport, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let scan = Scan {
        report,
        options: Options::default(),
        style: *style,
    };
    scan.not_read(out)?;
    scan.stopped(out)
}

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

const OTHERS: &[Column] = &[
    Column::fixed("object"),
    Column::fixed("namespace"),
    Column::optional("uid", 1),
    Column::rest("finalizers"),
];

const FINALIZERS: &[Column] = &[
    Column::fixed("finalizer"),
    Column::fixed("objects"),
    Column::fixed("terminating"),
    Column::optional("on", 2),
    Column::rest("protects"),
    Column::optional("if cut by hand", 1),
    Column::optional("project", 3),
];

struct Scan<'a> {
    report: &'a ScanReport,
    options: Options,
    style: Style,
}

impl Scan<'_> {
    fn terminating(&self, out: &mut impl Write) -> io::Result<()> {
        let objects = &self.report.terminating;
        if objects.is_empty() {
            return if self.options.no_headers {
                Ok(())
            } else {
                writeln!(out, "{}", self.wrap(self.nothing(), 0))
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

    /// The line above the objects that wait for the same.
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
                    Some(object) => match &object.namespace {
                        Some(namespace) => {
                            format!("{} {namespace}/{}: {}", object.kind, object.name, cause.says)
                        }
                        None => format!("{} {}: {}", object.kind, object.name, cause.says),
                    },
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
        // Each cause gets its share, so that the last is named too.
        let share = room.map(|room| (room / causes.len().max(1)).saturating_sub(5).max(20));
        let causes: Vec<_> = causes
            .iter()
            .map(|cause| match (share, causes.len()) {
                (Some(_), 1) | (None, _) => cause.clone(),
                (Some(share), _) => table::cut(cause, share, &self.style),
            })
            .collect();
        let causes = harmless(&causes.join("; and ")).into_owned();
        match room {
            Some(room) if room < 30 => self.wrap(&format!("{label}{causes}{frees}"), 3),
            Some(room) => format!("{label}{}{frees}", table::cut(&causes, room, &self.style)),
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

    /// With `--all`: the objects that have finalizers and are not being deleted.
    fn others(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(objects) = self.report.objects.as_ref().filter(|objects| !objects.is_empty()) else {
            return Ok(());
        };
        if !self.options.no_headers {
            let heading = format!(
                "WITH FINALIZERS, NOT BEING DELETED ({})",
                count(objects.len() as u64, "object")
            );
            writeln!(out, "\n{}", self.style.heading(&self.wrap(&heading, 1)))?;
        }
        let rows: Vec<_> = objects
            .iter()
            .map(|object| {
                let uid = object
                    .object
                    .uid
                    .clone()
                    .filter(|_| self.options.wide)
                    .unwrap_or_default();
                vec![
                    self.object(object),
                    self.namespace(object),
                    uid,
                    all_finalizers(object),
                ]
            })
            .collect();
        let lines = table::lines(OTHERS, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }

    fn finalizers(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(finalizers) = self
            .report
            .finalizers
            .as_ref()
            .filter(|finalizers| !finalizers.is_empty())
        else {
            return Ok(());
        };
        if !self.options.no_headers {
            writeln!(out, "\n{}", self.style.heading("FINALIZERS IN USE"))?;
        }
        let rows: Vec<_> = finalizers
            .iter()
            .map(|finalizer| {
                let on = if self.options.wide {
                    finalizer.on.join(", ")
                } else {
                    gaps::some(&finalizer.on, 1)
                };
                let name = match finalizer.list {
                    List::Metadata => finalizer.name.clone(),
                    List::Spec => format!("spec: {}", finalizer.name),
                };
                let known = finalizer.known.as_ref();
                let protects = known
                    .map_or("not in the catalogue", |known| &known.protects)
                    .to_owned();
                let consequence = known
                    .map(|known| known.consequence.to_string())
                    .unwrap_or_default();
                let project = known
                    .filter(|_| self.options.wide)
                    .map(|known| known.project.clone());
                vec![
                    name,
                    thousands(finalizer.objects),
                    thousands(finalizer.terminating),
                    on,
                    protects,
                    consequence,
                    project.unwrap_or_default(),
                ]
            })
            .collect();
        let lines = table::lines(FINALIZERS, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }

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

    fn totals(&self, out: &mut impl Write) -> io::Result<()> {
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

    fn not_read(&self, out: &mut impl Write) -> io::Result<()> {
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
            let line = format!("  {}: {}", gaps::some(&group.subjects, most), group.why);
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

    /// What could not be seen of what the objects wait for. That everything was listed is another matter.
    fn weaker(&self, out: &mut impl Write) -> io::Result<()> {
        for group in &gaps::grouped(&self.report.weaker_for) {
            let most = if self.options.wide { usize::MAX } else { 6 };
            let line = format!(
                "Reasons are weaker, because this could not be read: {}: {}",
                gaps::some(&group.subjects, most),
                group.why
            );
            writeln!(out, "{}", self.style.warning(&self.wrap(&harmless(&line), 4)))?;
        }
        Ok(())
    }

    fn stopped(&self, out: &mut impl Write) -> io::Result<()> {
        if self.report.not_read.iter().any(GapReport::is_interruption) && self.report.interrupted {
            writeln!(
                out,
                "{}",
                self.style
                    .warning(&self.wrap("STOPPED before the end: this is only part of the answer.", 1))
            )?;
        }
        Ok(())
    }

    /// Said only of what was read.
    fn nothing(&self) -> &'static str {
        match (self.report.complete, self.options.filtered) {
            (true, false) => "Nothing is being deleted.",
            (true, true) => "Nothing that matches is being deleted.",
            (false, _) => {
                "Of what could be read, nothing that was asked for is being deleted. Not everything could be read."
            }
        }
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

    fn finalizer_list(&self, object: &ObjectReport) -> String {
        match object.finalizers.as_slice() {
            [] => "(none)".into(),
            _ if self.options.wide => all_finalizers(object),
            [one] => one.to_string(),
            [first, rest @ ..] => format!("{first} +{}", rest.len()),
        }
    }

    /// Empty where nothing was looked at, as with files.
    fn verdict(&self, object: &ObjectReport) -> String {
        match object.verdict {
            Some(verdict) => verdict.word().to_owned(),
            None if self.report.not_looked_at > 0 => "not looked at".to_owned(),
            None => String::new(),
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

/// `1 object`, `2 objects`.
fn count(number: u64, what: &str) -> String {
    format!(
        "{} {what}{}",
        thousands(number),
        if number == 1 { "" } else { "s" }
    )
}

/// `1234567` as `1,234,567`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
