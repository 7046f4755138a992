//! `catalog`: filter the entries, print them.

use std::{
    io::{self, Write, stderr},
    slice,
};

use super::print::{Out, Printable, print};
use crate::{
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output::{self, Style, safe::harmless},
    report::CatalogReport,
    settings::Catalog,
};

pub(super) fn run(catalog: &Catalog, knowledge: &Knowledge) -> Result<Exit, Error> {
    let report = CatalogReport::new(&catalog.filter, knowledge);
    if report.entries.is_empty() {
        report_no_match(&knowledge.near_words(&catalog.filter));
    }
    let no_headers = catalog.no_headers;
    print(&Listed { report, no_headers }, catalog.format)?;
    // As in `kubectl get`, an empty result is not a failure.
    Ok(Exit::Done)
}

fn report_no_match(near: &[String]) {
    let hint = if near.is_empty() {
        "kubectl finalizers catalog lists all".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    drop(writeln!(
        stderr(),
        "Nothing in the catalogue matches; {}",
        harmless(&hint)
    ));
}

/// The entries, as they are printed.
struct Listed {
    report: CatalogReport,
    no_headers: bool,
}

impl Printable for Listed {
    type Document = CatalogReport;

    fn documents(&self) -> &[CatalogReport] {
        slice::from_ref(&self.report)
    }

    fn write_names(&self, out: &mut Out) -> Result<(), Error> {
        Ok(output::catalog::write_names(&self.report, out)?)
    }

    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        if self.report.entries.is_empty() {
            return Ok(());
        }
        let options = output::catalog::Options {
            wide,
            no_headers: self.no_headers,
        };
        output::catalog::write(&self.report, options, style, out)
    }
}
