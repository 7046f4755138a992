//! An explanation as text: the state, the tree of waits, what happens next, what to do, what not to do. Empty
//! lines separate the parts. Evidence is only counted unless the user asks for all of it.

mod tree;

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::{Style, name::is_plain, safe::harmless, table::wrap};
use crate::report::{
    ObjectName,
    explain::{EffectReport, ExplainReport, StepReport},
    gaps,
};

/// Width of the column with the labels.
const LABEL: usize = 21;
/// Indentation if labels stand on their own line.
const BELOW: usize = 4;
/// On a narrower line, text beside a label would be too narrow to read.
const NARROW: usize = 60;
/// Width in a pipe.
const USUAL: usize = 100;
/// Maximum width: longer lines are hard to read.
const WIDEST: usize = 120;
/// Minimum width of a wrapped line.
const NARROWEST: usize = 30;
/// Maximum number of names for one reason in `NOT READ`; all with `-o wide`.
const GAPS: usize = 6;
/// Maximum number of affected objects per effect; all with `-o wide`.
const AFFECTED: usize = 3;

/// Writes one explanation.
pub fn write(report: &ExplainReport, wide: bool, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let layout = Layout {
        style,
        width: style.width.unwrap_or(USUAL).clamp(NARROWEST, WIDEST),
    };
    let mut parts = vec![layout.head(report), layout.tree(report)];
    let outlook = report.outlook.iter();
    parts.push(
        outlook
            .map(|outlook| layout.labelled(&outlook.when, &outlook.then, 0))
            .collect(),
    );
    parts.push(layout.if_deleted(report, wide));
    for steps in report.steps.chunk_by(|a, b| a.when == b.when) {
        parts.push(layout.steps(steps));
    }
    parts.push(layout.bullets("do not", &report.do_not));
    parts.push(layout.evidence(report, wide));
    parts.push(layout.not_read(report, wide));
    parts.retain(|part| !part.is_empty());
    write!(out, "{}", parts.join("\n"))
}

/// An effect with the names of the first objects. Names in the target's namespace have no namespace in front.
fn effect_in_words(effect: &EffectReport, report: &ExplainReport, most: usize) -> String {
    let own = report.target.namespace.as_ref();
    let home = (report.target.resource == "namespaces").then_some(&report.target.name);
    let name = |object: &ObjectName| match &object.namespace {
        Some(place) if Some(place) != own && Some(place) != home => format!("{place}/{}", object.name),
        _ => object.name.clone(),
    };
    let mut names: Vec<_> = effect.objects.iter().take(most).map(name).collect();
    // Leave out a name that the sentence already contains.
    names.retain(|name| !effect.says.contains(name.as_str()));
    let rest = effect.objects.len().saturating_sub(most);
    if rest > 0 {
        names.push(format!("and {rest} more"));
    }
    if names.is_empty() {
        return effect.says.clone();
    }
    format!("{} ({})", effect.says, names.join(", "))
}

/// Writes `TYPE/NAME` and, if the object has one, `-n NAMESPACE`: the arguments of a kubectl command. Returns
/// false and writes nothing if a shell would misread the name.
pub fn write_name(report: &ExplainReport, out: &mut impl Write) -> io::Result<bool> {
    let object = &report.target;
    let words = [&object.resource, &object.name]
        .into_iter()
        .chain(&object.namespace);
    if !words.into_iter().all(|word| is_plain(word)) {
        return Ok(false);
    }
    write!(out, "{}/{}", object.resource, object.name)?;
    match &object.namespace {
        Some(namespace) => writeln!(out, " -n {namespace}")?,
        None => writeln!(out)?,
    }
    Ok(true)
}

struct Layout<'a> {
    style: &'a Style,
    width: usize,
}

impl Layout<'_> {
    fn head(&self, report: &ExplainReport) -> String {
        let mut head = String::new();
        for line in self.lines(&harmless(&report.headline), 0, 0) {
            head.extend([&*self.style.heading(&line), "\n"]);
        }
        if report.interrupted {
            head += &self.warning("STOPPED before everything was read; what is missing is named at the end.");
        }
        head + &self.bullets("note", &report.notes)
    }

    /// The effects on other objects, with one label for each kind of effect.
    fn if_deleted(&self, report: &ExplainReport, wide: bool) -> String {
        if report.if_deleted.is_empty() {
            return String::new();
        }
        let most = if wide { usize::MAX } else { AFFECTED };
        let mut text = format!("{}\n", self.style.heading("with its deletion"));
        for effects in report.if_deleted.chunk_by(|a, b| a.fate == b.fate) {
            let texts: Vec<_> = effects
                .iter()
                .map(|effect| effect_in_words(effect, report, most))
                .collect();
            let label = effects.first().map_or("", |effect| effect.fate.word());
            text += &self.bullets(&format!("  {label}"), &texts);
        }
        text
    }

    /// A heading and its steps in order, each with its command. Commands are never wrapped, because a wrapped
    /// command cannot be copied.
    fn steps(&self, steps: &[StepReport]) -> String {
        let mut text = String::new();
        for (at, step) in steps.iter().enumerate() {
            let number = format!("{}. ", at + 1);
            let label = if at == 0 { &*step.when } else { "" };
            text += &self.labelled(label, &format!("{number}{}", step.text), number.len());
            if let Some(line) = step.command.line() {
                let indent = " ".repeat(self.margin() + number.len());
                text.extend([&*indent, &*harmless(line), "\n"]);
            }
        }
        text
    }

    fn evidence(&self, report: &ExplainReport, wide: bool) -> String {
        if wide {
            let each = report.evidence.iter();
            let texts: Vec<_> = each
                .map(|evidence| {
                    format!(
                        "{}: {} ({})",
                        evidence.source,
                        evidence.value,
                        evidence.strength.word()
                    )
                })
                .collect();
            return self.bullets("evidence", &texts);
        }
        match report.evidence.len() {
            0 => String::new(),
            1 => self.labelled("evidence", "1 observation: see -o wide", 0),
            many => self.labelled("evidence", &format!("{many} observations: see -o wide"), 0),
        }
    }

    fn not_read(&self, report: &ExplainReport, wide: bool) -> String {
        let most = if wide { usize::MAX } else { GAPS };
        let groups = gaps::grouped(&report.not_read);
        let texts: Vec<_> = groups
            .iter()
            .map(|group| format!("{}: {}", gaps::first_names(&group.subjects, most), group.why))
            .collect();
        let mut text = self.bullets("NOT READ", &texts);
        if !texts.is_empty() {
            text += &self.warning("What was not read weakens what is said above.");
        }
        text
    }

    /// Texts of several sentences, with a bullet each if there is more than one.
    fn bullets(&self, label: &str, texts: &[String]) -> String {
        let mark = if texts.len() > 1 { "- " } else { "" };
        let each = texts.iter().enumerate().map(|(at, text)| {
            let label = if at == 0 { label } else { "" };
            self.labelled(label, &format!("{mark}{text}"), mark.len())
        });
        each.collect()
    }

    /// A text beside its label. Lines after the first are indented by `hanging`. On a narrow line, or with a
    /// long label, the text goes below the label.
    fn labelled(&self, label: &str, text: &str, hanging: usize) -> String {
        let label = harmless(label);
        let margin = self.margin();
        let mut written = String::new();
        let mut start = " ".repeat(margin);
        if margin == BELOW || label.width() >= LABEL {
            if !label.is_empty() {
                written.extend([&*self.style.heading(&label), "\n"]);
            }
        } else if !label.is_empty() {
            let space = " ".repeat(LABEL - label.width());
            start = format!("{}{space}", self.style.heading(&label));
        }
        for line in self.lines(&harmless(text), margin, hanging) {
            written.extend([&*start, &*line, "\n"]);
            start = " ".repeat(margin);
        }
        written
    }

    fn warning(&self, text: &str) -> String {
        let lines = self.lines(text, 0, 0);
        lines
            .iter()
            .flat_map(|line| [self.style.warning(line), "\n".to_owned()])
            .collect()
    }

    fn margin(&self) -> usize {
        if self.width < NARROW { BELOW } else { LABEL }
    }

    /// Wraps a text to the line width minus `used` columns.
    fn lines(&self, text: &str, used: usize, hanging: usize) -> Vec<String> {
        let room = self.width.saturating_sub(used).max(NARROWEST);
        wrap(text, Some(room), hanging)
            .lines()
            .map(str::to_owned)
            .collect()
    }
}
