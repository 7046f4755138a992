//! Prints a report in the format that was chosen. Only this file turns a format into what is written.

use std::{
    io::{self, BufWriter, StdoutLock, Write, stdout},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use super::terminal;
use crate::{
    cli::Format,
    error::Error,
    output::{
        self, Style,
        picture::{Graph, dot, mermaid},
    },
};

/// Whether this process has printed a YAML document. The next one then needs a line before it; JSON needs none.
static HAS_YAML: AtomicBool = AtomicBool::new(false);

/// Where reports are printed.
pub(super) type Out = BufWriter<StdoutLock<'static>>;

/// What a verb found, in each form that it can have.
pub(super) trait Printable {
    /// What JSON and YAML hold.
    type Document: Serialize;

    /// The documents, usually one.
    fn documents(&self) -> &[Self::Document];

    /// For people. `wide` leaves nothing out.
    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()>;

    /// Names alone, one a line.
    fn write_names(&self, _: &mut Out) -> Result<(), Error> {
        Err(self.has_no_such_form())
    }

    /// A page for a browser.
    fn write_page(&self, _: &mut Out) -> Result<(), Error> {
        Err(self.has_no_such_form())
    }

    /// What waits for what.
    fn graph(&self) -> Result<Graph, Error> {
        Err(self.has_no_such_form())
    }

    /// The error for a form that this report lacks.
    fn has_no_such_form(&self) -> Error {
        Error::Usage {
            message: "there is no such form of this output".to_owned(),
            hint: Some("use -o table, json or yaml".to_owned()),
        }
    }
}

/// Prints it on stdout.
pub(super) fn print(report: &impl Printable, format: Format) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    match format {
        Format::Json => {
            let mut documents = report.documents().iter();
            documents.try_for_each(|document| output::json::write(document, &mut out))?;
        }
        Format::Yaml => {
            for document in report.documents() {
                if HAS_YAML.swap(true, Ordering::Relaxed) {
                    writeln!(out, "---")?;
                }
                output::yaml::write(document, &mut out)?;
            }
        }
        Format::Name => report.write_names(&mut out)?,
        Format::Html => report.write_page(&mut out)?,
        Format::Dot => dot::write(&report.graph()?, &mut out)?,
        Format::Mermaid => {
            let graph = report.graph()?;
            warn_of_size(&graph);
            mermaid::write(&graph, &mut out)?;
        }
        Format::Table | Format::Wide => {
            report.write_table(format == Format::Wide, &terminal::style(), &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints an empty line between two reports for people.
pub(super) fn separate(format: Format) -> Result<(), Error> {
    if matches!(format, Format::Table | Format::Wide) {
        writeln!(stdout())?;
    }
    Ok(())
}

/// Warns if Mermaid would not draw the graph.
fn warn_of_size(graph: &Graph) {
    if graph.edges() > mermaid::MOST_EDGES {
        super::warn(&format!(
            "Mermaid draws at most {} lines unless its maxEdges says more, and this picture has {}; -o dot has no limit",
            mermaid::MOST_EDGES,
            graph.edges()
        ));
    }
}
