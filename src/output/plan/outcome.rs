//! How a change ended, as text.

use std::io::{self, Write};

use super::{explain, joined, write_outside};
use crate::{
    command::Command,
    output::{Style, sheet::Sheet},
    report::{
        OutcomeReport,
        outcome::{Outcome, OutcomeResult},
    },
};

/// Writes the outcome.
pub fn write(report: &OutcomeReport, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    sheet.gap()?;
    for outcome in &report.outcomes {
        write_one(outcome, &mut sheet)?;
        if outcome.result == OutcomeResult::Unfinished {
            let resume = Command::of(
                "kubectl finalizers rescue pv/{} --resume {}",
                [&outcome.target.name, &report.receipts],
            );
            sheet.command("next", "Go on with the next step:", &resume.to_string())?;
        }
        sheet.gap()?;
    }
    sheet.fact("receipt", &report.receipts)
}

fn write_one<W: Write>(outcome: &Outcome, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    use OutcomeResult::{
        Asleep, CameBack, Going, Gone, Held, NotDone, ReCreated, Rescued, Retained, Unfinished, Unknown, Woke,
    };

    sheet.heading(&outcome.target.pasteable())?;
    match outcome.result {
        NotDone => sheet.warning_fact("result", "NOT DONE", &outcome.says)?,
        CameBack => sheet.warning_fact("result", "CAME BACK", &outcome.says)?,
        Unfinished => sheet.warning_fact("result", "UNFINISHED", &outcome.says)?,
        Unknown => sheet.warning_fact("result", "UNKNOWN", &outcome.says)?,
        Gone | Held | Going | ReCreated | Woke | Asleep | Retained | Rescued => {
            sheet.fact("result", &outcome.says)?;
        }
    }
    sheet.facts("differs", &outcome.differences)?;
    if !outcome.held_by.is_empty() && matches!(outcome.result, Held | Retained) {
        sheet.fact("held by", &joined(&outcome.held_by))?;
    }
    write_outside(&outcome.outside, "clean up outside", sheet)?;
    if let Some(event) = &outcome.event {
        sheet.fact("event", event)?;
    }
    if let Some(backup) = &outcome.backup {
        sheet.fact("copy", backup)?;
        if let Some(claim) = &outcome.claim_backup {
            sheet.fact("", claim)?;
        }
        if let Some(stored) = &outcome.stored_backup {
            sheet.fact("old value", stored)?;
        }
        if matches!(outcome.result, Gone | ReCreated) {
            sheet.command(
                "undo",
                "Recreate it from the copy (with a new uid):",
                &Command::of("kubectl apply --server-side -f {}", [backup]).to_string(),
            )?;
        }
    }
    if matches!(outcome.result, Held | Going | Asleep | CameBack) {
        sheet.command("next", "See what still holds it:", &explain(&outcome.target))?;
    }
    Ok(())
}
