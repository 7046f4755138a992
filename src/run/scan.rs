//! `scan`: read, report, show.

use std::{
    io::{BufWriter, Write, stderr, stdin, stdout},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    block_on,
    look::{Limits, Look},
    progress::{self, EVERY, Line},
    terminal,
    witness::Witness,
};
use crate::{
    cli::Format,
    cluster::{self, Reading, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output,
    report::{ScanReport, left::LeftBehind},
    settings::{Connection, Scan, Scope, Source},
    snapshot::{
        Snapshot, Why,
        load::{self, Wanted},
        saved::Saved,
    },
};

pub(super) fn run(scan: &Scan, knowledge: &Knowledge) -> Result<Exit, Error> {
    match &scan.source {
        Source::Server(connection) => {
            let began = Instant::now();
            let found = block_on(read(connection, scan, knowledge))?;
            told(scan, knowledge, found, Some(began.elapsed()))
        }
        Source::Files(paths) => {
            let mut stdin = stdin().lock();
            if let Some(saved) = load::saved(paths, &mut stdin)? {
                let mut scan = scan.clone();
                if let (Scope::All, Some(namespace)) = (&scan.scope, &saved.head.namespace) {
                    scan.scope = Scope::Namespace(namespace.clone());
                    scan.view.namespace = Some(namespace.clone());
                }
                let found = block_on(replay(Witness::Saved(&saved), &saved, &scan, knowledge))?;
                told(&scan, knowledge, found, None)
            } else {
                let snapshot = load::load(paths, &mut stdin, &wanted(scan))?;
                told(scan, knowledge, (snapshot, None), None)
            }
        }
    }
}

fn wanted(scan: &Scan) -> Wanted<'_> {
    Wanted {
        namespace: scan.scope.namespace(),
        types: &scan.types,
        exclude: &scan.exclude,
        all: scan.view.all,
        by_holder: scan.view.is_by_holder(),
        filter: &scan.filter,
        now: Timestamp::now(),
    }
}

/// A scan of what a snapshot holds.
pub(super) async fn replay(
    witness: Witness<'_>,
    saved: &Saved,
    scan: &Scan,
    knowledge: &Knowledge,
) -> Result<(Snapshot, Option<Look>), Error> {
    let mut snapshot = saved.snapshot(&wanted(scan))?;
    let look = look(witness, &mut snapshot, scan, knowledge).await;
    Ok((snapshot, Some(look)))
}

fn told(
    scan: &Scan,
    knowledge: &Knowledge,
    (snapshot, look): (Snapshot, Option<Look>),
    took: Option<Duration>,
) -> Result<Exit, Error> {
    let mut report = ScanReport::new(&snapshot, knowledge, &scan.view);
    match look {
        None if scan.view.is_by_holder() => {
            report.add_holders(&snapshot, knowledge, None, !scan.view.terminating);
        }
        Some(look) if scan.view.is_by_holder() => {
            let found = look.finish(&snapshot, knowledge, snapshot.interrupted);
            let sought = found.holders.unwrap_or_default();
            report.add_holders(&snapshot, knowledge, Some(&sought), !scan.view.terminating);
        }
        Some(look) => {
            let found = look.finish(&snapshot, knowledge, snapshot.interrupted);
            report.add_causes(&found.looked);
            report.add_left(found.left);
        }
        None if scan.view.terminating => {}
        None => report.add_left(LeftBehind::of_files(&snapshot)),
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
    let (mut snapshot, cut_off) = see(&server, scan).await?;
    let look = if cut_off {
        Look::new(&snapshot, scan, Limits::default(), knowledge)
    } else {
        look(Witness::Server(&server), &mut snapshot, scan, knowledge).await
    };
    Ok((snapshot, Some(look)))
}

/// What there is, and whether the server stopped answering.
pub(super) async fn see(server: &Server, scan: &Scan) -> Result<(Snapshot, bool), Error> {
    let reading = Reading::default();
    let so_far = || progress::reading(&reading.progress());
    watched(cluster::scan(server, scan, &reading), so_far)
        .await
        .transpose()?;
    let cut_off = reading.is_cut_off();
    Ok((reading.finish(&server.connected.server), cut_off))
}

/// Looks at what the scan has found until it is understood or the user has had enough.
async fn look(witness: Witness<'_>, snapshot: &mut Snapshot, scan: &Scan, knowledge: &Knowledge) -> Look {
    let mut look = Look::new(snapshot, scan, Limits::default(), knowledge);
    // A server that went away while it was read will not say more now.
    let gone = snapshot
        .gaps
        .iter()
        .any(|gap| matches!(gap.why, Why::Connection(_)));
    if !(gone || snapshot.interrupted) {
        let doing = look.doing();
        let so_far = || doing.borrow().clone();
        let done = watched(look.run(&witness, knowledge), so_far).await;
        snapshot.interrupted = done.is_none();
    }
    look
}

/// Does the work, and says on a terminal what it is doing. None if the user had enough before it was done.
async fn watched<T>(work: impl Future<Output = T>, so_far: impl Fn() -> String) -> Option<T> {
    let mut line = Line::on_terminal();
    let mut ticks = tokio::time::interval(EVERY);
    let mut work = std::pin::pin!(work);
    let mut stop = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            done = &mut work => return Some(done),
            _ = &mut stop => return None,
            _ = ticks.tick() => {
                if let Some(line) = &mut line {
                    line.say(&so_far());
                }
            }
        }
    }
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
            scan.show.format != Format::Name,
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
