//! An explanation for people: the state, the tree of waits, what happens next, what to do, what not to do.

use std::io::{self, Write};

use super::{
    Style,
    safe::harmless,
    table::{cut, wrap},
};
use crate::report::{
    explain::{BlockerReport, ExplainReport, WaitReport},
    gaps,
};

/// Names of parts stand in a column this wide.
const LABEL: usize = 21;
/// Evidence beyond this is shown with `-o wide`.
const EVIDENCE: usize = 3;
/// Of things that were not read for one reason, more than these are counted; all with `-o wide`.
const GAPS: usize = 6;

/// Writes one explanation.
pub fn write(report: &ExplainReport, wide: bool, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let page = Page {
        style,
        width: style.width.unwrap_or(100).max(40),
    };
    writeln!(
        out,
        "{}",
        page.style.heading(&page.wrapped(&harmless(&report.headline), 0))
    )?;
    if !report.waits_for.is_empty() {
        let heading = if report.deletion.is_some() {
            "waits for"
        } else {
            "would be held by"
        };
        writeln!(out, "\n{}", page.style.heading(heading))?;
        page.waits(&report.waits_for, "", out)?;
    }
    if !report.outlook.is_empty() {
        writeln!(out)?;
    }
    for outlook in &report.outlook {
        page.labelled(&outlook.when, &outlook.then, out)?;
    }
    page.steps(report, out)?;
    for (at, text) in report.do_not.iter().enumerate() {
        let label = if at == 0 { "do not" } else { "" };
        page.labelled(label, text, out)?;
    }
    page.evidence(report, wide, out)?;
    if !report.not_read.is_empty() {
        for (at, group) in gaps::grouped(&report.not_read).iter().enumerate() {
            let most = if wide { usize::MAX } else { GAPS };
            let text = format!("{}: {}", gaps::some(&group.subjects, most), group.why);
            page.labelled(if at == 0 { "NOT READ" } else { "" }, &text, out)?;
        }
        writeln!(
            out,
            "{}",
            page.style
                .warning("What was not read weakens what is said above.")
        )?;
    }
    Ok(())
}

struct Page<'a> {
    style: &'a Style,
    width: usize,
}

/// The lines of a tree.
struct Branch {
    item: &'static str,
    last: &'static str,
    through: &'static str,
    root: &'static str,
}

impl Page<'_> {
    fn branch(&self) -> Branch {
        if self.style.unicode {
            Branch {
                item: "├─ ",
                last: "└─ ",
                through: "│  ",
                root: "   ← root cause",
            }
        } else {
            Branch {
                item: "|- ",
                last: "`- ",
                through: "|  ",
                root: "   <- root cause",
            }
        }
    }

    fn wrapped(&self, text: &str, indent: usize) -> String {
        wrap(text, Some(self.width), indent)
    }

    fn waits(&self, waits: &[WaitReport], prefix: &str, out: &mut impl Write) -> io::Result<()> {
        let branch = self.branch();
        for (at, wait) in waits.iter().enumerate() {
            let last = at + 1 == waits.len();
            let name = wait
                .finalizer
                .as_ref()
                .map_or("(no finalizer)".to_owned(), ToString::to_string);
            let item = if last { branch.last } else { branch.item };
            writeln!(
                out,
                "{prefix}{item}{}   {}",
                self.style.heading(&harmless(&name)),
                self.style.warning(wait.verdict.word())
            )?;
            let below = format!("{prefix}{}", if last { "   " } else { branch.through });
            self.under(&wait.says, &below, out)?;
            self.blockers(&wait.blockers, &below, out)?;
        }
        Ok(())
    }

    fn blockers(&self, blockers: &[BlockerReport], prefix: &str, out: &mut impl Write) -> io::Result<()> {
        let branch = self.branch();
        for (at, blocker) in blockers.iter().enumerate() {
            let last = at + 1 == blockers.len();
            let item = if last { branch.last } else { branch.item };
            let name = blocker.object.as_ref().map(|object| match &object.namespace {
                Some(namespace) => format!("{} {namespace}/{}: ", object.kind, object.name),
                None => format!("{} {}: ", object.kind, object.name),
            });
            let root = if blocker.root_cause { branch.root } else { "" };
            let text = format!("{}{}{root}", name.unwrap_or_default(), blocker.says);
            let below = format!("{prefix}{}", if last { "   " } else { branch.through });
            let lines = self.wrapped(&harmless(&text), 0);
            for (line, text) in self.narrow(&lines, below.chars().count()).lines().enumerate() {
                writeln!(
                    out,
                    "{}{text}",
                    if line == 0 {
                        format!("{prefix}{item}")
                    } else {
                        below.clone()
                    }
                )?;
            }
            self.blockers(&blocker.blockers, &below, out)?;
            self.waits(&blocker.waits_for, &below, out)?;
        }
        Ok(())
    }

    /// The text again, wrapped for a line that begins at `indent`.
    fn narrow(&self, text: &str, indent: usize) -> String {
        let text = text.replace('\n', " ");
        wrap(&text, Some(self.width.saturating_sub(indent).max(30)), 0)
    }

    fn under(&self, text: &str, prefix: &str, out: &mut impl Write) -> io::Result<()> {
        for line in self.narrow(&harmless(text), prefix.chars().count()).lines() {
            writeln!(out, "{prefix}{line}")?;
        }
        Ok(())
    }

    fn labelled(&self, label: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
        let label = cut(&harmless(label), LABEL - 1, self.style);
        for (at, line) in self.narrow(&harmless(text), LABEL).lines().enumerate() {
            let shown = if at == 0 { &*label } else { "" };
            writeln!(out, "{}{line}", self.style.heading(&format!("{shown:LABEL$}")))?;
        }
        Ok(())
    }

    fn steps(&self, report: &ExplainReport, out: &mut impl Write) -> io::Result<()> {
        let mut when = "";
        let mut number = 0;
        for step in &report.steps {
            if step.when == when {
                number += 1;
            } else {
                number = 1;
                writeln!(out)?;
            }
            let label = if number == 1 { &*step.when } else { "" };
            self.labelled(label, &format!("{number}. {}", step.text), out)?;
            if let Some(command) = &step.command {
                writeln!(out, "{:indent$}{}", "", harmless(command), indent = LABEL + 3)?;
            }
            when = &step.when;
        }
        if !report.steps.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    }

    fn evidence(&self, report: &ExplainReport, wide: bool, out: &mut impl Write) -> io::Result<()> {
        let most = if wide { usize::MAX } else { EVIDENCE };
        for (at, evidence) in report.evidence.iter().take(most).enumerate() {
            let label = if at == 0 { "evidence" } else { "" };
            let strength = serde_json::to_value(evidence.strength).ok();
            let strength = strength
                .as_ref()
                .and_then(|value| value.as_str())
                .unwrap_or_default()
                .to_owned();
            self.labelled(
                label,
                &format!("{}: {} ({strength})", evidence.source, evidence.value),
                out,
            )?;
        }
        let rest = report.evidence.len().saturating_sub(most);
        if rest > 0 {
            self.labelled("", &format!("{rest} more with -o wide"), out)?;
        }
        Ok(())
    }
}
