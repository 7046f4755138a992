//! The page about a scan: summary, what was not read, what changed, causes, objects, evidence.

use std::io;

use super::{
    cause::Card,
    changes, missing,
    table::{self, Row},
    text::Html,
};
use crate::{
    output::scan::{HIDDEN, SEEN_LESS, Words, hidden_in_words, stopped_in_words},
    report::{ObjectReport, ScanReport},
};

/// So many causes have a card, unless the user asks for all.
const CARDS: usize = 50;
/// So many objects have their evidence. `explain` has that of each.
const EVIDENCE: usize = 100;

pub(super) fn add(page: &mut Html, report: &ScanReport, filtered: bool) -> io::Result<()> {
    let words = Words::new(report, filtered);
    page.markup("<section><h2>Summary</h2><p><strong>");
    page.text(&words.answer()).markup("</strong></p>");
    page.element("p", &words.totals());
    for note in &report.notes {
        page.markup("<p>Note: ").text(note).markup("</p>");
    }
    page.markup("</section>\n");
    if report.interrupted {
        missing::stopped(page, stopped_in_words(report));
    }
    missing::add(page, HIDDEN, &report.not_read);
    if let Some(found) = &report.changes {
        changes::add(page, found);
    }
    let cards = causes(page, report, &words);
    missing::add(page, SEEN_LESS, &report.weaker_for);
    table::add(page, &rows(report), "Cause", cards);
    evidence(page, &report.terminating);
    let others = words.others()?;
    if !others.trim().is_empty() {
        page.markup("<section><h2>Not in deletion</h2><pre class=table>");
        for line in others.trim_matches('\n').lines() {
            page.text(line).markup("\n");
        }
        page.markup("</pre></section>\n");
    }
    Ok(())
}

/// The cards, and how many there are.
fn causes(page: &mut Html, report: &ScanReport, words: &Words<'_>) -> usize {
    let causes = &report.root_causes;
    let cards = if report.objects.is_some() {
        causes.len()
    } else {
        causes.len().min(CARDS)
    };
    if causes.is_empty() {
        return 0;
    }
    page.markup("<section><h2>Causes</h2>\n");
    for (number, cause) in causes.iter().take(cards).enumerate() {
        let card = Card {
            report,
            words,
            number,
            cause,
            cards,
        };
        card.add(page);
    }
    let hidden = causes.iter().skip(cards).map(|cause| cause.state);
    if let Some(hidden) = hidden_in_words(hidden) {
        page.markup("<p>").text(&hidden);
        page.markup(" All of them: <code>--all</code></p>");
    }
    page.markup("</section>\n");
    cards
}

fn rows(report: &ScanReport) -> Vec<Row<'_>> {
    let mut causes = vec![Vec::new(); report.terminating.len()];
    for (number, cause) in report.root_causes.iter().enumerate() {
        for row in &cause.rows {
            if let Some(causes) = causes.get_mut(row.at) {
                causes.push(number);
            }
        }
    }
    report
        .terminating
        .iter()
        .zip(causes)
        .map(|(object, cards)| Row {
            object: &object.object,
            deletion: object.deletion.as_ref(),
            is_at_risk: object.at_risk.is_some(),
            verdict: object.verdict,
            finalizers: object.finalizers.iter().collect(),
            cards,
        })
        .collect()
}

/// Why each object is still there, to open.
fn evidence(page: &mut Html, objects: &[ObjectReport]) {
    let shown = objects.iter().take(EVIDENCE);
    if objects.is_empty() {
        return;
    }
    page.markup("<section><h2>Evidence</h2>\n");
    for object in shown {
        page.markup("<details><summary><code>");
        page.text(&object.object.pasteable())
            .markup("</code></summary><ul>");
        if let Some(reason) = &object.reason {
            page.element("li", reason);
        }
        if let Some(deletion) = &object.deletion {
            page.markup("<li>deletion requested ");
            page.text(&deletion.requested_at.to_string()).markup("</li>");
        }
        for condition in &object.conditions {
            page.markup("<li>").text(&condition.kind).markup(": ");
            page.text(&condition.message).markup("</li>");
        }
        for (resource, count) in &object.remaining {
            page.markup("<li>left in it: ").number(*count).markup(" ");
            page.text(resource).markup("</li>");
        }
        page.markup("</ul></details>\n");
    }
    if let Some(more) = objects.len().checked_sub(EVIDENCE).filter(|&more| more > 0) {
        page.markup("<p>").number(more as i128);
        page.markup(" more objects have theirs in <code>-o json</code>.</p>");
    }
    page.markup("</section>\n");
}
