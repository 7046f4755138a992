//! Prints the plan and the outcome.

use std::io::{BufWriter, Write, stdout};

use serde::Serialize;

use super::prepare::{PreparedPlans, Unchanged};
use crate::{
    cli::PlanFormat,
    error::Error,
    output::{self, Style},
    report::{OutcomeReport, PlanReport, plan::UnchangedReport},
    run::{inform, terminal},
    settings::Guarded,
};

/// Prints the plan.
pub(super) fn plan(
    asked: &Guarded,
    server: &str,
    digest: &str,
    prepared: &PreparedPlans,
) -> Result<(), Error> {
    let lines: Vec<_> = prepared
        .items
        .iter()
        .map(|item| {
            // Nothing but this program writes to etcd like that.
            let is_for_server = item.plan.stored.is_none();
            let command = is_for_server.then(|| item.plan.request.as_kubectl(&item.object));
            (item.plan.clone(), command)
        })
        .collect();
    let unchanged: Vec<_> = prepared.unchanged.iter().map(unchanged).collect();
    if lines.is_empty()
        && prepared.refused.is_empty()
        && unchanged.is_empty()
        && asked.format == PlanFormat::Table
    {
        if !prepared.failed {
            inform("No PersistentVolume is being deleted. Nothing was changed.");
        }
        // Otherwise the errors already say that nothing was found.
        return Ok(());
    }
    let fine = prepared.refused.is_empty() && !prepared.failed && !lines.is_empty();
    let report = PlanReport::new(
        asked.wanted.action(),
        server,
        fine.then(|| digest.to_owned()),
        &lines,
        &prepared.refused,
        unchanged,
    );
    show(asked, &report, output::plan::write)
}

fn unchanged(one: &Unchanged) -> UnchangedReport {
    UnchangedReport {
        target: (&one.target).into(),
        then: one.says.clone(),
    }
}

/// Prints the outcome.
pub(super) fn outcome(asked: &Guarded, report: &OutcomeReport) -> Result<(), Error> {
    if asked.format == PlanFormat::Yaml {
        writeln!(stdout(), "---")?;
    }
    show(asked, report, output::plan::write_outcome)
}

fn show<T: Serialize>(
    asked: &Guarded,
    report: &T,
    table: impl Fn(&T, &Style, &mut BufWriter<std::io::StdoutLock<'static>>) -> std::io::Result<()>,
) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    match asked.format {
        PlanFormat::Json => output::json::write(report, &mut out)?,
        PlanFormat::Yaml => output::yaml::write(report, &mut out)?,
        PlanFormat::Table => table(report, &terminal::style(), &mut out)?,
    }
    out.flush()?;
    Ok(())
}
