//! The part of a scan about leftovers.

use std::io::{self, Write};

use jiff::SignedDuration;

use super::{Scan, count, thousands};
use crate::{
    object::Age,
    output::safe::harmless,
    report::{
        gaps,
        leftovers::{LeftoverGap, LeftoverObjectsReport, LeftoversReport, MissingNamespaceReport},
    },
};

/// Maximum number of lines for each kind, unless the user asks for all.
const SHOWN: usize = 10;

impl Scan<'_> {
    pub(super) fn leftovers(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(leftovers) = self
            .report
            .leftovers
            .as_ref()
            .filter(|leftovers| leftovers.count() > 0)
        else {
            return Ok(());
        };
        if !self.options.no_headers {
            let heading = format!(
                "LEFT BEHIND ({}): nobody deletes what should be gone",
                count(leftovers.count(), "object")
            );
            writeln!(out, "\n{}", self.style.heading(&self.wrap(&heading, 1)))?;
        }
        let namespaces = leftovers.namespaces.as_deref().unwrap_or_default();
        let (shown, hidden) = namespaces.split_at(self.shown(namespaces.len()));
        for namespace in shown {
            self.missing_namespace(namespace, out)?;
        }
        let hidden: u64 = hidden.iter().map(|namespace| namespace.objects).sum();
        self.more(hidden, "object", " in other namespaces that do not exist", out)?;
        for objects in [&leftovers.volumes, &leftovers.attachments].into_iter().flatten() {
            self.leftover_objects(objects, out)?;
        }
        Ok(())
    }

    fn shown(&self, all: usize) -> usize {
        if self.options.wide { all } else { all.min(SHOWN) }
    }

    fn missing_namespace(&self, namespace: &MissingNamespaceReport, out: &mut impl Write) -> io::Result<()> {
        let types: Vec<_> = namespace
            .types
            .iter()
            .map(|ty| {
                let names = if ty.first.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", first_of(&ty.first, ty.objects))
                };
                format!("{} {}{names}", thousands(ty.objects), ty.resource)
            })
            .collect();
        let types = gaps::first_names(&types, if self.options.wide { usize::MAX } else { 4 });
        let objects = count(namespace.objects, "object");
        let name = format!("{objects} in namespace {}", namespace.name);
        if self.options.no_headers {
            return self.item(&name, None, &format!("{types}. {}", namespace.reason), out);
        }
        self.item(&name, None, &types, out)?;
        self.below(&namespace.reason, 4, out)?;
        for (at, step) in namespace.steps.iter().enumerate() {
            self.below(&format!("{}. {}", at + 1, step.text), 7, out)?;
            self.command(step.command.line(), 7, out)?;
        }
        self.below("Look closer:", 4, out)?;
        self.command(namespace.next.line(), 7, out)
    }

    fn leftover_objects(&self, objects: &LeftoverObjectsReport, out: &mut impl Write) -> io::Result<()> {
        let shown = self.shown(objects.first.len());
        for one in objects.first.iter().take(shown) {
            let resource = &one.object.resource;
            let name = format!(
                "{}/{}",
                self.report.short.get(resource).unwrap_or(resource),
                one.object.name
            );
            let age = one
                .for_seconds
                .map(|seconds| Age(SignedDuration::from_secs(seconds)).to_string());
            self.item(
                &name,
                age.as_deref(),
                &format!("{}: {}", one.verdict.word(), one.reason),
                out,
            )?;
            if !self.options.no_headers {
                self.below("Look closer:", 4, out)?;
                self.command(one.next.line(), 7, out)?;
            }
        }
        let resource = objects.first.first().map(|one| one.object.resource.as_str());
        let hidden = objects.count - shown as u64;
        self.more(hidden, resource.unwrap_or("object"), "", out)
    }

    /// One line per leftover. Without headings it is not wrapped.
    fn item(&self, name: &str, age: Option<&str>, why: &str, out: &mut impl Write) -> io::Result<()> {
        let age = age.map(|age| format!("   {age}")).unwrap_or_default();
        let line = format!(" {name}{age}   {why}");
        let line = harmless(&line);
        if self.options.no_headers {
            writeln!(out, "{line}")
        } else {
            writeln!(out, "{}", self.wrap(&line, 4))
        }
    }

    fn below(&self, text: &str, indent: usize, out: &mut impl Write) -> io::Result<()> {
        let text = format!("    {}", harmless(text));
        writeln!(out, "{}", self.style.faint(&self.wrap(&text, indent)))
    }

    /// A command on a line of its own, which is never wrapped, so that it can be copied.
    fn command(&self, line: Option<&str>, indent: usize, out: &mut impl Write) -> io::Result<()> {
        let Some(line) = line else { return Ok(()) };
        let text = format!("{}{}", " ".repeat(indent), harmless(line));
        writeln!(out, "{}", self.style.faint(&text))
    }

    fn more(&self, number: u64, what: &str, rest: &str, out: &mut impl Write) -> io::Result<()> {
        if number == 0 || self.options.no_headers {
            return Ok(());
        }
        let what = if what.ends_with('s') || what.contains('.') || number == 1 {
            format!("{} more {what}", thousands(number))
        } else {
            format!("{} more {what}s", thousands(number))
        };
        let text = format!(" {what}{rest}; -o json has them");
        writeln!(out, "{}", self.wrap(&text, 4))
    }

    /// Writes which leftovers are unknown, so that they do not count as none.
    pub(super) fn leftover_gaps(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(leftovers) = &self.report.leftovers else {
            return Ok(());
        };
        for line in gap_lines(leftovers) {
            let line = self.wrap(&harmless(&line), 4);
            writeln!(out, "{}", self.style.warning(&line))?;
        }
        Ok(())
    }
}

/// One line for each reason: one missing permission hides all kinds in the same way.
fn gap_lines(leftovers: &LeftoversReport) -> Vec<String> {
    let mut rest: Vec<&LeftoverGap> = leftovers.gaps.iter().collect();
    let mut lines = Vec::new();
    while let Some(first) = rest.first().copied() {
        let alike = |one: &&LeftoverGap| {
            one.reason == first.reason && (one.message == first.message || one.reason == "Forbidden")
        };
        let mut kinds: Vec<&str> = rest
            .iter()
            .filter(|one| alike(one))
            .map(|one| one.kind.words())
            .collect();
        kinds.dedup();
        rest.retain(|one| !alike(one));
        lines.push(format!(
            "Not known whether there are {}: {}",
            kinds.join(", or "),
            first.message
        ));
    }
    lines
}

/// The first names, and the number of the others.
fn first_of(names: &[String], all: u64) -> String {
    let listed = names.join(", ");
    match all.saturating_sub(names.len() as u64) {
        0 => listed,
        rest => format!("{listed} and {} more", thousands(rest)),
    }
}
