//! `catalog`: filter the entries, print them.

use std::io::{BufWriter, Write, stderr, stdout};

use super::terminal;
use crate::{
    cli::CatalogFormat,
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output::{self, safe::harmless},
    report::CatalogReport,
    settings::Catalog,
};

pub(super) fn run(catalog: &Catalog, knowledge: &Knowledge) -> Result<Exit, Error> {
    let report = CatalogReport::new(&catalog.filter, knowledge);
    if report.entries.is_empty() {
        report_no_match(&knowledge.near_words(&catalog.filter));
    }
    show(&report, catalog)?;
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

fn show(report: &CatalogReport, catalog: &Catalog) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    match catalog.format {
        CatalogFormat::Json => output::json::write(report, &mut out)?,
        CatalogFormat::Yaml => output::yaml::write(report, &mut out)?,
        CatalogFormat::Name => output::catalog::write_names(report, &mut out)?,
        CatalogFormat::Table | CatalogFormat::Wide if report.entries.is_empty() => {}
        CatalogFormat::Table | CatalogFormat::Wide => {
            let options = output::catalog::Options {
                wide: catalog.format == CatalogFormat::Wide,
                no_headers: catalog.no_headers,
            };
            output::catalog::write(report, options, &terminal::style(), &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}
