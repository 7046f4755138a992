//! The parts of a scan about objects that are not terminating: objects that have finalizers, and the
//! finalizers in use.

use std::io::{self, Write};

use super::{Scan, all_finalizers, count, thousands};
use crate::{
    object::List,
    output::table::{self, Column},
    report::gaps,
};

const OTHERS: &[Column] = &[
    Column::fixed("object"),
    Column::fixed("namespace"),
    Column::optional("uid", 1),
    Column::rest("finalizers"),
];

const FINALIZERS: &[Column] = &[
    Column::fixed("finalizer"),
    Column::fixed("objects"),
    Column::fixed("terminating"),
    Column::optional("on", 2),
    Column::rest("protects"),
    Column::optional("removal by hand costs", 1),
    Column::optional("project", 3),
];

impl Scan<'_> {
    /// With `--all`: the objects that have finalizers and are not terminating.
    pub(super) fn others(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(objects) = self.report.objects.as_ref().filter(|objects| !objects.is_empty()) else {
            return Ok(());
        };
        if !self.options.no_headers {
            let heading = format!(
                "WITH FINALIZERS, NOT BEING DELETED ({})",
                count(objects.len() as u64, "object")
            );
            writeln!(out, "\n{}", self.style.heading(&self.wrap(&heading, 1)))?;
        }
        let rows: Vec<_> = objects
            .iter()
            .map(|object| {
                let uid = object
                    .object
                    .uid
                    .clone()
                    .filter(|_| self.options.wide)
                    .unwrap_or_default();
                vec![
                    self.object(object),
                    self.namespace(object),
                    uid,
                    all_finalizers(object),
                ]
            })
            .collect();
        let lines = table::lines(OTHERS, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }

    /// Whether the table of finalizers is worth its lines: what is stuck comes first.
    pub(super) fn shows_finalizers(&self) -> bool {
        let asked_for = self.report.objects.is_some() || self.options.no_headers;
        self.report.root_causes.is_empty() || asked_for
    }

    pub(super) fn finalizers(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(finalizers) = self
            .report
            .finalizers
            .as_ref()
            .filter(|finalizers| !finalizers.is_empty())
        else {
            return Ok(());
        };
        if !self.options.no_headers {
            writeln!(out, "\n{}", self.style.heading("FINALIZERS IN USE"))?;
        }
        let rows: Vec<_> = finalizers
            .iter()
            .map(|finalizer| {
                let on = if self.options.wide {
                    finalizer.on.join(", ")
                } else {
                    gaps::first_names(&finalizer.on, 1)
                };
                let name = match finalizer.list {
                    List::Metadata => finalizer.name.clone(),
                    List::Spec => format!("spec: {}", finalizer.name),
                };
                let known = finalizer.known.as_ref();
                let protects = known
                    .map_or("not in the catalogue", |known| &known.protects)
                    .to_owned();
                let consequence = known.map(|known| known.consequence.typed()).unwrap_or_default();
                let project = known
                    .filter(|_| self.options.wide)
                    .map(|known| known.project.clone());
                vec![
                    name,
                    thousands(finalizer.objects),
                    thousands(finalizer.terminating),
                    on,
                    protects,
                    consequence,
                    project.unwrap_or_default(),
                ]
            })
            .collect();
        let lines = table::lines(FINALIZERS, &rows, &self.style, 1, !self.options.no_headers);
        self.table(&lines, out)
    }
}
