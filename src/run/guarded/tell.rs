//! Prints the plan and the outcome.

use std::{io, slice};

use super::prepare::{PreparedPlans, Unchanged};
use crate::{
    cli::Format,
    error::Error,
    output::{self, Style},
    report::{OutcomeReport, PlanReport, plan::UnchangedReport},
    run::{
        inform,
        print::{Out, Printable, print},
    },
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
        && asked.format == Format::Table
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
    print(&report, asked.format)
}

fn unchanged(one: &Unchanged) -> UnchangedReport {
    UnchangedReport {
        target: (&one.target).into(),
        then: one.says.clone(),
    }
}

/// Prints the outcome.
pub(super) fn outcome(asked: &Guarded, report: &OutcomeReport) -> Result<(), Error> {
    print(report, asked.format)
}

impl Printable for PlanReport {
    type Document = Self;

    fn documents(&self) -> &[Self] {
        slice::from_ref(self)
    }

    fn write_table(&self, _: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        output::plan::write(self, style, out)
    }
}

impl Printable for OutcomeReport {
    type Document = Self;

    fn documents(&self) -> &[Self] {
        slice::from_ref(self)
    }

    fn write_table(&self, _: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        output::plan::write_outcome(self, style, out)
    }
}
