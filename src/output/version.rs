//! The output of `version` for people.

use std::io::{self, Write};

use super::safe::harmless;
use crate::report::VersionReport;

/// Writes one line for each version.
pub fn write(report: &VersionReport, out: &mut impl Write) -> io::Result<()> {
    let catalogue = &report.catalogue;
    let built_from: Vec<_> = [report.commit, report.commit_date]
        .into_iter()
        .flatten()
        .collect();
    let built_from = if built_from.is_empty() {
        String::new()
    } else {
        format!(" (commit {})", built_from.join(", "))
    };
    writeln!(out, "Plugin:     v{}{built_from}", report.client)?;
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

#[cfg(test)]
mod tests {
    use super::write;
    use crate::{knowledge::Knowledge, report::VersionReport};

    #[test]
    fn the_commit_stands_behind_the_version_if_it_is_known() {
        let first_line = |commit, commit_date| {
            let report = VersionReport {
                commit,
                commit_date,
                ..VersionReport::new(&Knowledge::builtin(), None)
            };
            let mut out = Vec::new();
            write(&report, &mut out).expect("written");
            let text = String::from_utf8(out).expect("UTF-8");
            text.lines().next().map(str::to_owned)
        };
        let version = env!("CARGO_PKG_VERSION");
        for (commit, date, expected) in [
            (None, None, ""),
            (Some("d4bd6c5f"), None, " (commit d4bd6c5f)"),
            (
                Some("d4bd6c5f"),
                Some("2026-11-24"),
                " (commit d4bd6c5f, 2026-11-24)",
            ),
        ] {
            assert_eq!(
                first_line(commit, date),
                Some(format!("Plugin:     v{version}{expected}"))
            );
        }
    }
}
