//! The output of `version` for people.

use std::io::{self, Write};

use super::safe::harmless;
use crate::report::VersionReport;

/// Writes one line for each version.
pub fn write(report: &VersionReport, out: &mut impl Write) -> io::Result<()> {
    let catalogue = &report.catalogue;
    writeln!(out, "Plugin:     v{}", report.client)?;
    writeln!(
        out,
        "Catalogue:  {} finalizers of {} projects, verified in sources up to {}",
        catalogue.names, catalogue.projects, catalogue.verified_until
    )?;
    let Some(server) = &report.server else {
        return Ok(());
    };
    let tested = if server.tested {
        "tested".to_owned()
    } else {
        format!("not tested; the tests run {}", report.tested.join(", "))
    };
    writeln!(out, "Server:     {} ({tested})", harmless(&server.version))
}
