//! A plan and its outcome as text: what is removed, what stays, why, what it costs, the alternatives, and the
//! exact request. The user confirms this text, so it leaves nothing out.

use std::io::{self, Write};

use super::{Style, sheet::Sheet};
use crate::{
    command::Command,
    object::Finalizer,
    report::{
        OutcomeReport, PlanReport,
        outcome::{self, Outcome},
        plan::{CostReport, LineReport, OutsideReport, RefusalReport, RetentionReport},
    },
};

/// Writes what the plan would send, or why it will send nothing.
pub fn write(report: &PlanReport, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    for line in &report.plans {
        write_plan(line, &mut sheet)?;
        sheet.gap()?;
    }
    for refusal in &report.refused {
        write_refusal(refusal, &mut sheet)?;
        sheet.gap()?;
    }
    for one in &report.unchanged {
        sheet.heading(&one.target.in_words())?;
        sheet.fact("unchanged", "its policy is Retain already")?;
        sheet.facts("then", &one.then)?;
        sheet.gap()?;
    }
    match &report.digest {
        Some(digest) => {
            sheet.fact("server", &report.server)?;
            sheet.fact("digest", digest)
        }
        None if report.plans.is_empty() && report.refused.is_empty() => Ok(()),
        None => sheet.warning("REFUSED: nothing was sent."),
    }
}

fn write_plan<W: Write>(line: &LineReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.heading(&line.target.in_words())?;
    if let Some(retention) = &line.retention {
        write_retention(retention, sheet)?;
        write_cost(&line.cost, sheet)?;
        return write_request(line, sheet);
    }
    match &line.finalizer {
        Some(finalizer) => {
            sheet.fact("takes out", &finalizer.to_string())?;
            sheet.fact("stays", &joined(&line.stays, "no other: the object then goes"))?;
        }
        None => sheet.fact("touches", "an annotation; the finalizers stay as they are")?,
    }
    if let Some(verdict) = line.verdict {
        sheet.fact("verdict", &format!("{}: {}", verdict.word(), line.says))?;
    }
    sheet.bullets(
        "evidence",
        line.evidence
            .iter()
            .map(|one| format!("{}: {} ({})", one.source, one.value, one.strength.word())),
    )?;
    write_cost(&line.cost, sheet)?;
    let safer = line.safer.iter();
    sheet.steps(
        "safer",
        safer.map(|step| (step.text.clone(), step.command.line())),
    )?;
    write_request(line, sheet)
}

fn write_request<W: Write>(line: &LineReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    if let Some(why) = &line.untried {
        sheet.fact("dry run", &format!("only once you have confirmed: {why}"))?;
    }
    sheet.command(
        "request",
        "as kubectl would send it:",
        line.command.line().unwrap_or_default(),
    )
}

fn write_retention<W: Write>(retention: &RetentionReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.fact(
        "sets",
        &format!(
            "the reclaim policy to Retain; now it is {}. Nothing else changes",
            retention.policy
        ),
    )?;
    sheet.facts("now", &retention.now)?;
    sheet.facts("then", &retention.then)
}

fn write_cost<W: Write>(cost: &CostReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    let word = cost.consequence.replace('-', " ");
    if cost.consequence == "none" {
        sheet.fact("costs", &format!("nothing: {}", cost.text))?;
    } else {
        sheet.warning_fact("costs", &word.to_uppercase(), &cost.text)?;
    }
    write_outside(&cost.outside, "left outside", sheet)
}

fn write_outside<W: Write>(
    outside: &[OutsideReport],
    label: &str,
    sheet: &mut Sheet<'_, W>,
) -> io::Result<()> {
    sheet.bullets(
        label,
        outside
            .iter()
            .map(|one| format!("{}: {} ({})", one.what, one.id, one.field)),
    )
}

fn write_refusal<W: Write>(refusal: &RefusalReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.heading(&refusal.target.in_words())?;
    sheet.warning_fact("refused", "REFUSED", &refusal.why)?;
    sheet.fact("only if", &refusal.needs)
}

/// Writes the outcome.
pub fn write_outcome(report: &OutcomeReport, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    sheet.gap()?;
    for outcome in &report.outcomes {
        write_one_outcome(outcome, &mut sheet)?;
        sheet.gap()?;
    }
    sheet.fact("receipt", &report.receipts)
}

fn write_one_outcome<W: Write>(outcome: &Outcome, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.heading(&outcome.target.in_words())?;
    sheet.fact("outcome", &format!("{}: {}", outcome.result.word(), outcome.says))?;
    if outcome.result == outcome::OutcomeResult::Held {
        sheet.fact("held by", &joined(&outcome.held_by, "nothing"))?;
    }
    write_outside(&outcome.outside, "clean up outside", sheet)?;
    if outcome.result == outcome::OutcomeResult::Retained && !outcome.held_by.is_empty() {
        sheet.fact("finalizers", &joined(&outcome.held_by, "none"))?;
    }
    if let Some(event) = &outcome.event {
        sheet.fact("event", event)?;
    }
    if let Some(backup) = &outcome.backup {
        sheet.fact("copy", backup)?;
        if let Some(claim) = &outcome.claim_backup {
            sheet.fact("", claim)?;
        }
        if matches!(
            outcome.result,
            outcome::OutcomeResult::Gone | outcome::OutcomeResult::ReCreated
        ) {
            sheet.command(
                "undo",
                "what is gone does not come back as it was, but its copy can be applied:",
                &Command::of("kubectl apply --server-side -f {}", [backup]).to_string(),
            )?;
        }
    }
    Ok(())
}

fn joined(finalizers: &[Finalizer], none: &str) -> String {
    if finalizers.is_empty() {
        return none.to_owned();
    }
    let names: Vec<_> = finalizers.iter().map(ToString::to_string).collect();
    names.join(", ")
}
