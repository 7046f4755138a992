//! An explanation as text: where it stands, the answer, what to do, what not to do, and the chain behind it. Empty lines
//! separate the parts. Evidence is only counted unless the user asks for all of it.

mod answer;
mod chain;
mod layout;
mod steps;

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use self::layout::Layout;
pub(super) use self::{
    answer::{STOPPED, paragraphs, recorded_in_words, standing, state_of_wait, verdict},
    chain::{KEEPS, ROOT, wait_in_words},
    layout::sentence,
    steps::blocks,
};
use super::{Style, name::is_plain, paste, together::together_in_words, when};
use crate::{
    command::Shown,
    diagnose::Fate,
    report::{
        ObjectName,
        explain::{CauseReport, EffectReport, ExplainReport},
        gaps,
        root_causes::Together,
    },
};

/// Lines of an explanation that is read at once. Steps that do not fit are shown with `-o wide`.
const LINES: usize = 30;
/// The heading of what a deletion would do to other things.
pub(super) const WOULD: &str = "Deleting this would have these effects";
/// The heading of what was not read.
pub(super) const NOT_READ: &str = "NOT READ (could change the answer):";
/// Maximum number of names for one reason in `NOT READ`; all with `-o wide`.
pub(super) const GAPS: usize = 6;
/// Maximum number of affected objects per effect; all with `-o wide`.
const AFFECTED: usize = 3;

/// Writes one explanation.
pub fn write(report: &ExplainReport, wide: bool, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let layout = Layout::new(style);
    let head = layout.head(report);
    // What a deletion would do comes first, while it can still be left.
    let answers =
        |general: usize| layout.if_deleted(report, wide) + &layout.answers_in_short(report, wide, general);
    let mut told = answers(usize::MAX);
    let after = [
        layout.chain(report, wide),
        layout.not_read(report, wide),
        layout.last(report, report.steps.len(), wide),
    ];
    // An empty line behind each of them.
    let lines = |part: &str| part.lines().count() + usize::from(!part.is_empty());
    let others: usize = [&head].into_iter().chain(&after).map(|part| lines(part)).sum();
    let beside = |told: &str, do_not: &str| {
        layout.first_steps(report, LINES.saturating_sub(others + lines(told) + lines(do_not)))
    };
    let mut do_not = layout.do_not(report, wide);
    let (steps, left_out) = if wide {
        (layout.steps(&report.steps), 0)
    } else {
        let mut shown = beside(&told, &do_not);
        if shown.1 > 0 {
            // What to do helps more than why not to do something else, and that more than what the controller does in general.
            for (general, sentences) in [(usize::MAX, 2), (usize::MAX, 1), (2, 1), (1, 1), (1, 0)] {
                told = answers(general);
                do_not = layout.do_not_in_short(report, sentences);
                shown = beside(&told, &do_not);
                if others + lines(&told) + do_not.lines().count() + shown.0.lines().count() < LINES {
                    break;
                }
            }
        }
        shown
    };
    let [chain, not_read, _] = after;
    let last = layout.last(report, left_out, wide);
    let mut parts = vec![head, told, steps, do_not, chain, not_read, last];
    if wide {
        parts.push(layout.evidence(report));
    }
    parts.retain(|part| !part.is_empty());
    write!(out, "{}", parts.join("\n"))
}

/// The plans for several objects that were explained.
pub fn write_together(together: &Together, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let text = Layout::new(style)
        .lines(&together_in_words(together), 0, 0)
        .join("\n");
    writeln!(out, "\nTogether\n{text}")?;
    for command in together.commands() {
        for line in paste::lines(&Shown::from(command), 2, style.width) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Where it stands, what keeps it, and the first step.
pub fn brief(report: &ExplainReport, style: &Style) -> String {
    let layout = Layout::new(style);
    let mut text = layout.head(report) + &layout.answers(report, false);
    text += &layout.steps(report.steps.get(..1).unwrap_or_default());
    text
}

/// The verdict and what keeps it, in one line of any length.
pub fn in_one_line(report: &ExplainReport) -> String {
    answer::in_one_line(report)
}

/// The lines of a text in the width of the terminal.
pub fn wrapped(text: &str, style: &Style) -> Vec<String> {
    Layout::new(style).lines(text, 0, 2)
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

impl Layout<'_> {
    /// The effects on other objects, each with its kind in front.
    fn if_deleted(&self, report: &ExplainReport, wide: bool) -> String {
        if report.if_deleted.is_empty() {
            return String::new();
        }
        let mut text = self.heading(WOULD);
        for effect in effects(report, wide) {
            text += &self.hanging(&format!("- {effect}"), 2, 4);
        }
        text
    }

    fn do_not(&self, report: &ExplainReport, wide: bool) -> String {
        warnings(report, wide)
            .iter()
            .map(|text| self.hanging(text, 0, 2))
            .collect()
    }

    /// So many sentences of each warning behind the bare order.
    fn do_not_in_short(&self, report: &ExplainReport, sentences: usize) -> String {
        warnings(report, false)
            .iter()
            .map(|text| self.hanging(&first_sentences(text, sentences), 0, 2))
            .collect()
    }

    /// How much more `-o wide` shows, and the pages.
    fn last(&self, report: &ExplainReport, left_out: usize, wide: bool) -> String {
        let counted = |many: usize, what: &str| match many {
            _ if wide => None,
            0 => None,
            1 => Some(format!("1 {what}")),
            many => Some(format!("{many} {what}s")),
        };
        let steps = counted(left_out, "step");
        let observations = counted(report.evidence.len(), "observation");
        let more: Vec<_> = steps.into_iter().chain(observations).collect();
        let pages = pages(report, if wide { usize::MAX } else { 1 });
        let text = if more.is_empty() {
            pages
        } else {
            format!("More: {} under -o wide. {pages}", more.join(" and "))
        };
        self.hanging(text.trim(), 0, 2)
    }

    fn evidence(&self, report: &ExplainReport) -> String {
        if report.evidence.is_empty() {
            return String::new();
        }
        let mut text = self.heading("Evidence");
        for evidence in &report.evidence {
            let strength = evidence.strength.word();
            let line = format!("- {}: {} ({strength})", evidence.source, evidence.value);
            text += &self.hanging(&line, 2, 4);
        }
        text
    }

    fn not_read(&self, report: &ExplainReport, wide: bool) -> String {
        let groups = gaps::grouped(&report.not_read);
        if groups.is_empty() {
            return String::new();
        }
        let most = if wide { usize::MAX } else { GAPS };
        let line = |group: &gaps::GapGroup<'_>| {
            format!("{}: {}", gaps::first_names(&group.subjects, most), group.why)
        };
        if let [only] = &*groups {
            let text = self.hanging(&format!("{NOT_READ} {}", line(only)), 0, 2);
            return text.replacen(NOT_READ, &self.style.caution(NOT_READ), 1);
        }
        let mut text = self.warning(NOT_READ);
        for group in &groups {
            text += &self.hanging(&format!("- {}", line(group)), 2, 4);
        }
        text
    }
}

/// What a deletion does to other objects, each with its kind in front.
pub(super) fn effects(report: &ExplainReport, wide: bool) -> Vec<String> {
    let most = if wide { usize::MAX } else { AFFECTED };
    let effects = report.if_deleted.iter().map(|effect| {
        let says = sentence(&effect_in_words(effect, report, most));
        let fate = effect.fate.word();
        match effect.fate {
            Fate::Destroyed | Fate::Leaked => format!("{}: {says}", fate.to_uppercase()),
            _ => format!("{fate}: {says}"),
        }
    });
    effects.collect()
}

/// What not to do, and how to see that the work is done.
pub(super) fn warnings(report: &ExplainReport, wide: bool) -> Vec<String> {
    let do_not = report.do_not.iter();
    let mut all: Vec<_> = do_not
        .map(|what| format!("Do not {}", uncapitalized_sentence(what)))
        .collect();
    let ends = report.outlook.iter().filter(|outlook| wide && outlook.is_end());
    all.extend(ends.map(|outlook| sentence(&format!("{} {}", when::condition(outlook.when), outlook.then))));
    all
}

/// So many sentences of a text, at least one, and a mark if it goes on. An order without a reason does not count.
fn first_sentences(text: &str, many: usize) -> String {
    let mut ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let is_bare = text
        .split(". ")
        .next()
        .is_some_and(|first| first.ends_with(" by hand"));
    let many = many.saturating_add(usize::from(is_bare)).max(1);
    match ends.nth(many - 1).and_then(|end| text.get(..end)) {
        Some(first) => format!("{first} …"),
        None => text.to_owned(),
    }
}

/// The named causes, the worst first, each once.
pub(super) fn causes(report: &ExplainReport) -> Vec<&CauseReport> {
    let mut waits: Vec<_> = report.waits_for.iter().collect();
    waits.sort_by_key(|wait| wait.verdict.rank());
    let of_fault = report.fault.iter().filter_map(|fault| fault.cause.as_ref());
    let causes = of_fault.chain(waits.into_iter().filter_map(|wait| wait.cause.as_ref()));
    let mut told = BTreeSet::new();
    causes.filter(|cause| told.insert(&cause.id)).collect()
}

/// The pages about the named causes.
fn pages(report: &ExplainReport, most: usize) -> String {
    let causes = causes(report).into_iter().take(most);
    let pages: Vec<_> = causes.map(CauseReport::page).collect();
    match pages.len() {
        0 => String::new(),
        1 => format!("Page: {}", pages.join("")),
        _ => format!("Pages: {}", pages.join(", ")),
    }
}

/// The rest of a sentence that begins elsewhere.
fn uncapitalized_sentence(text: &str) -> String {
    let mut sentence = text.trim().to_owned();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_says_so() {
        let text = "Do not remove it. The disk stays. Nothing names it.";
        assert_eq!(first_sentences(text, 1), "Do not remove it. …");
        assert_eq!(first_sentences(text, 2), "Do not remove it. The disk stays. …");
        assert_eq!(first_sentences(text, 3), text);
    }
}
