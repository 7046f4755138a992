//! The page about explained objects, a card for each.

use super::{
    missing,
    table::{self, Row},
    text::{Html, class},
    tree,
};
use crate::{
    diagnose::Safety,
    output::{
        explain::{
            NOT_READ, STOPPED, WOULD, blocks, causes, effects, paragraphs, sentence, standing, warnings,
        },
        flow::Look,
        picture::Graph,
    },
    report::{ExplainReport, explain::StepReport},
};

pub(super) fn add(page: &mut Html, reports: &[ExplainReport]) {
    if reports.len() > 1 {
        table::add(page, &rows(reports), "Explanation", reports.len());
    }
    for (at, report) in reports.iter().enumerate() {
        object(page, at, report);
    }
}

fn rows(reports: &[ExplainReport]) -> Vec<Row<'_>> {
    let rows = reports.iter().enumerate().map(|(at, report)| Row {
        object: &report.target,
        deletion: report.deletion.as_ref(),
        is_at_risk: report.at_risk.is_some(),
        verdict: report
            .waits_for
            .iter()
            .map(|wait| wait.verdict)
            .min_by_key(|verdict| verdict.rank()),
        finalizers: report
            .waits_for
            .iter()
            .filter_map(|wait| wait.finalizer.as_ref())
            .collect(),
        cards: vec![at],
    });
    rows.collect()
}

fn object(page: &mut Html, at: usize, report: &ExplainReport) {
    let (verdict, state) = standing(report);
    let look = verdict.as_ref().map_or(Look::Plain, |(_, look)| *look);
    page.markup("<article class=\"box ").markup(class(look));
    page.markup("\" id=c").number((at + 1) as i128).markup("><h2>");
    if let Some((word, look)) = &verdict {
        page.styled(*look, word).markup(" ");
    }
    page.element("code", &report.target.pasteable());
    page.text(&format!(", {state}")).markup("</h2>\n");
    if report.interrupted {
        missing::stopped(page, STOPPED);
    }
    for note in &report.notes {
        page.markup("<p>Note: ").text(&sentence(note)).markup("</p>");
    }
    for text in paragraphs(report, false) {
        page.element("p", &text);
    }
    if !report.if_deleted.is_empty() {
        page.element("h3", WOULD);
        page.markup("<ul>");
        for effect in effects(report, true) {
            page.element("li", &effect);
        }
        page.markup("</ul>");
    }
    steps(page, &report.steps);
    for text in warnings(report, true) {
        page.markup("<p><strong>").text(&text).markup("</strong></p>");
    }
    tree::add(page, &Graph::of_explanations(std::slice::from_ref(report)));
    missing::add(page, NOT_READ, &report.not_read);
    evidence(page, report);
    for cause in causes(report) {
        page.markup("<p>Page: <a rel=\"noreferrer noopener\" href=\"");
        page.text(&cause.url).markup("\">");
        page.text(&cause.page()).markup("</a></p>");
    }
    page.markup("</article>\n");
}

/// The steps. They are numbered through, because texts name them by number.
fn steps(page: &mut Html, steps: &[StepReport]) {
    let mut number = 0_usize;
    for (heading, block) in blocks(steps) {
        page.element("h3", &heading);
        for step in block {
            number += 1;
            page.markup("<p>").number(number as i128).markup(". ");
            page.styled(look_of_safety(step.safety), &format!("[{}]", step.safety.word()));
            page.markup(" ").text(&sentence(&step.text)).markup("</p>");
            page.command(&step.command).markup("\n");
        }
    }
}

fn look_of_safety(safety: Safety) -> Look {
    match safety {
        Safety::Destructive => Look::Fault,
        Safety::Reversible => Look::Caution,
        Safety::Safe => Look::Fine,
        Safety::ReadOnly => Look::Plain,
    }
}

fn evidence(page: &mut Html, report: &ExplainReport) {
    if report.evidence.is_empty() {
        return;
    }
    page.markup("<details><summary>Evidence: ");
    page.number(report.evidence.len() as i128);
    page.markup("</summary><ul>");
    for evidence in &report.evidence {
        page.markup("<li><code>")
            .text(&evidence.source)
            .markup("</code>: ");
        page.text(&evidence.value).markup(" (");
        page.text(evidence.strength.word()).markup(")</li>");
    }
    page.markup("</ul></details>\n");
}
