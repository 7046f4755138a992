//! With `--by holder`: the controllers that must remove the finalizers, which objects each blocks, and
//! whether it runs.

use std::io::{self, Write};

use super::{Scan, thousands};
use crate::{
    object::Finalizer,
    output::table::{self, Column},
    report::{gaps, holders::HolderReport},
};

const HOLDERS: &[Column] = &[
    Column::fixed("controller"),
    Column::fixed("state"),
    Column::fixed("objects"),
    Column::fixed("terminating"),
    Column::optional("on", 1),
    Column::optional("finalizers", 2),
    Column::optional("project", 3),
    Column::rest("what shows it"),
];

impl Scan<'_> {
    pub(super) fn holders(&self, holders: &[HolderReport], out: &mut impl Write) -> io::Result<()> {
        if !self.options.no_headers {
            let heading = if holders.is_empty() {
                self.no_holders_found().to_owned()
            } else {
                self.style
                    .heading(&format!("CONTROLLERS ({})", thousands(holders.len() as u64)))
            };
            writeln!(out, "{}", self.wrap(&heading, 1))?;
        }
        if holders.is_empty() {
            return Ok(());
        }
        let rows: Vec<_> = holders.iter().map(|holder| self.holder(holder)).collect();
        let lines = table::lines(HOLDERS, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }

    fn holder(&self, holder: &HolderReport) -> Vec<String> {
        let on: Vec<_> = holder.on.iter().cloned().collect();
        let finalizers: Vec<_> = holder
            .finalizers
            .iter()
            .map(|held| Finalizer {
                list: held.list,
                name: held.name.clone(),
            })
            .map(|finalizer| finalizer.to_string())
            .collect();
        let some = |names: &[String]| {
            if self.options.wide {
                names.join(", ")
            } else {
                gaps::first_names(names, 1)
            }
        };
        let project = holder.project.clone().filter(|_| self.options.wide);
        // The doubt is who the controller is, and not whether it runs.
        let probably = if holder.likely { " (probably)" } else { "" };
        vec![
            format!("{}{probably}", holder.name),
            holder.state.word().to_owned(),
            thousands(holder.objects),
            thousands(holder.terminating),
            some(&on),
            some(&finalizers),
            project.unwrap_or_default(),
            holder.says.clone(),
        ]
    }

    /// The line for an empty result. It covers only what was read.
    fn no_holders_found(&self) -> &'static str {
        // Without the table of finalizers, the scan is about terminating objects only.
        let going = self.report.finalizers.is_none();
        match (self.report.complete, self.options.filtered) {
            (true, false) if going => "Nothing that is being deleted has a finalizer.",
            (true, false) => "No finalizers are in use.",
            (true, true) => "Nothing that matches has a finalizer.",
            (false, _) => {
                "Of what could be read, nothing that was asked for has a finalizer. Not everything could be read."
            }
        }
    }
}
