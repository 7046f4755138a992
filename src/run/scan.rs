//! `scan`: read, report, show.

use std::{
    io::{BufWriter, Write, stderr, stdin, stdout},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    block_on,
    causes::Look,
    progress::{EVERY, Line},
    terminal,
};
use crate::{
    cli::Format,
    cluster::{self, Reading, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output,
    report::ScanReport,
    settings::{Connection, Scan, Scope, Source},
    snapshot::{
        Snapshot, Why,
        load::{Wanted, load},
    },
};

pub(super) fn run(scan: &Scan, knowledge: &Knowledge) -> Result<Exit, Error> {
    let (snapshot, look, took) = match &scan.source {
        Source::Server(connection) => {
            let began = Instant::now();
            let (snapshot, look) = block_on(read(connection, scan, knowledge))?;
            (snapshot, look, Some(began.elapsed()))
        }
        Source::Files(paths) => {
            let wanted = Wanted {
                namespace: scan.scope.namespace(),
                types: &scan.types,
                exclude: &scan.exclude,
                all: scan.view.all,
                filter: &scan.filter,
                now: Timestamp::now(),
            };
            (load(paths, &mut stdin().lock(), &wanted)?, None, None)
        }
    };
    let mut report = ScanReport::new(&snapshot, knowledge, &scan.view);
    if let Some(look) = look {
        report.add_causes(&look.finish(&snapshot, knowledge));
    }
    show(&report, scan, took)?;
    Ok(exit(&report, scan))
}

/// Reads the cluster until it is done or the user has had enough.
async fn read(
    connection: &Connection,
    scan: &Scan,
    knowledge: &Knowledge,
) -> Result<(Snapshot, Option<Look>), Error> {
    let server = Server {
        connected: connect(connection).await?,
    };
    let reading = Reading::default();
    let mut line = Line::on_terminal();
    let mut ticks = tokio::time::interval(EVERY);
    {
        let mut work = std::pin::pin!(cluster::scan(&server, scan, &reading));
        let mut stop = std::pin::pin!(tokio::signal::ctrl_c());
        loop {
            tokio::select! {
                done = &mut work => {
                    done?;
                    break;
                }
                _ = &mut stop => break,
                _ = ticks.tick() => {
                    if let Some(line) = &mut line {
                        line.draw(&reading.progress());
                    }
                }
            }
        }
    }
    drop(line);
    let cut_off = reading.is_cut_off();
    let mut snapshot = reading.finish(&server.connected.server);
    let look = if cut_off {
        None
    } else {
        why(&server, &mut snapshot, scan, knowledge).await
    };
    Ok((snapshot, look))
}

/// Looks at what is being deleted, if anything is, until it is understood or the user has had enough.
async fn why(server: &Server, snapshot: &mut Snapshot, scan: &Scan, knowledge: &Knowledge) -> Option<Look> {
    let all_types = scan.types.is_empty() && scan.exclude.is_empty() && scan.scope == Scope::All;
    let mut look = Look::new(snapshot, scan.is_narrowed(), all_types)?;
    // A server that went away while it was read will not say more now.
    let gone = snapshot
        .gaps
        .iter()
        .any(|gap| matches!(gap.why, Why::Connection(_)));
    if snapshot.interrupted || gone {
        return Some(look);
    }
    let stopped = tokio::select! {
        () = look.run(server, knowledge) => false,
        _ = tokio::signal::ctrl_c() => true,
    };
    snapshot.interrupted |= stopped;
    Some(look)
}

fn show(report: &ScanReport, scan: &Scan, took: Option<Duration>) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    match scan.show.format {
        Format::Json => output::json::write(report, &mut out)?,
        Format::Yaml => output::yaml::write(report, &mut out)?,
        Format::Name => {
            let left_out = output::name::write(report.all_objects(), report.namespace.is_some(), &mut out)?;
            if left_out > 0 {
                super::warn(&format!(
                    "left out {left_out} objects whose names a shell would take for something else; -o json has them"
                ));
            }
        }
        Format::Table | Format::Wide => {
            let options = output::scan::Options {
                wide: scan.show.format == Format::Wide,
                no_headers: scan.show.no_headers,
                took,
                filtered: scan.is_filtered(),
            };
            output::scan::write(report, options, &terminal::style(), &mut out)?;
        }
    }
    out.flush()?;
    warn(report, scan);
    Ok(())
}

/// Names and bare rows have no place for what was not read, and without it an empty output would read as
/// "nothing there": it goes to stderr.
fn warn(report: &ScanReport, scan: &Scan) {
    let says_so_itself = match scan.show.format {
        Format::Json | Format::Yaml => true,
        Format::Table | Format::Wide => !scan.show.no_headers,
        Format::Name => false,
    };
    if !says_so_itself {
        // With stderr gone there is nobody left to tell.
        drop(output::scan::write_not_read(
            report,
            &terminal::plain(),
            &mut stderr().lock(),
        ));
    }
}

fn exit(report: &ScanReport, scan: &Scan) -> Exit {
    if report.interrupted {
        Exit::Interrupted
    } else if !scan.exit_code {
        Exit::Done
    } else if report.totals.stuck > 0 {
        Exit::Stuck
    } else if !report.complete {
        Exit::Incomplete
    } else {
        Exit::Done
    }
}
