//! `scan`: read, investigate, report, print.

pub(super) mod clusters;
mod earlier;

use std::{
    io::{self, Read, stderr, stdin},
    path::{Path, PathBuf},
    slice,
    time::{Duration, Instant},
};

use jiff::Timestamp;

use self::earlier::Earlier;
use super::{
    block_on,
    look::{Investigation, Limits, examine},
    print::{Out, Printable, print},
    progress::{self, Line, REDRAW_INTERVAL},
    terminal,
    witness::Witness,
};
use crate::{
    cli::Format,
    cluster::{self, Reading, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output::{self, Style, picture::Graph},
    report::{ScanReport, leftovers::Leftovers},
    settings::{Connection, Scan, Scope, Source},
    snapshot::{
        Snapshot, Why,
        load::{self, Dump, Wanted},
        saved::Saved,
    },
};

pub(super) fn run(scan: &Scan, knowledge: &Knowledge) -> Result<Exit, Error> {
    let earlier = Earlier::of(scan)?;
    let earlier = earlier.as_ref();
    match &scan.source {
        Source::Server(connection) => {
            let began = Instant::now();
            let found = block_on(read(connection, scan, knowledge))?;
            finish(scan, knowledge, found, earlier, Some(began.elapsed()))
        }
        Source::Servers(clusters) => clusters::of_servers(clusters, scan, knowledge),
        Source::Files(paths) => {
            let recordings = load::recordings(paths)?;
            if !recordings.is_empty() {
                return clusters::of_recordings(&recordings, scan, knowledge);
            }
            let mut stdin = stdin().lock();
            if let Some(saved) = load::saved(paths, &mut stdin)? {
                let scan = recorded(scan, &saved);
                if let Some(earlier) = earlier {
                    earlier.check(&saved)?;
                }
                let replayed = replay(Witness::Saved(&saved), &saved, &scan, knowledge, Telling::Aloud);
                let found = block_on(replayed)?;
                finish(&scan, knowledge, found, earlier, None)
            } else {
                let input = piped(paths, &mut stdin)?;
                let wanted = wanted(scan);
                let snapshot = load::load(paths, &mut input.as_slice(), &wanted)?;
                finish_files(scan, knowledge, &snapshot, earlier, || {
                    load::dump(paths, &mut input.as_slice(), wanted.now)
                })
            }
        }
    }
}

/// The scan of a snapshot file: of one namespace, if the file has only one.
fn recorded(scan: &Scan, saved: &Saved) -> Scan {
    let mut scan = scan.clone();
    if let (Scope::All, Some(namespace)) = (&scan.scope, &saved.head.namespace) {
        scan.scope = Scope::Namespace(namespace.clone());
        scan.view.namespace = Some(namespace.clone());
    }
    scan.view.is_recorded = true;
    scan
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

/// Scans the content of a snapshot file.
pub(super) async fn replay(
    witness: Witness<'_>,
    saved: &Saved,
    scan: &Scan,
    knowledge: &Knowledge,
    telling: Telling,
) -> Result<(Snapshot, Investigation), Error> {
    let mut snapshot = saved.snapshot(&wanted(scan))?;
    let investigation = investigate(witness, &mut snapshot, scan, knowledge, telling).await;
    Ok((snapshot, investigation))
}

fn finish(
    scan: &Scan,
    knowledge: &Knowledge,
    found: (Snapshot, Investigation),
    earlier: Option<&Earlier>,
    took: Option<Duration>,
) -> Result<Exit, Error> {
    let changes = earlier.map(|earlier| earlier.changes(&found.0, scan, false));
    let mut report = report(scan, knowledge, found);
    if let Some(changes) = changes {
        report.add_changes(changes);
    }
    show(&report, scan, took)?;
    Ok(exit_code(&report, scan))
}

/// The report of what was read and investigated.
fn report(
    scan: &Scan,
    knowledge: &Knowledge,
    (snapshot, investigation): (Snapshot, Investigation),
) -> ScanReport {
    let mut report = ScanReport::new(&snapshot, knowledge, &scan.view);
    let found = investigation.finish(&snapshot, knowledge, snapshot.interrupted);
    if scan.view.is_by_holder() {
        let searches = found.holders.unwrap_or_default();
        report.add_holders(&snapshot, knowledge, Some(&searches), !scan.view.terminating);
    } else {
        report.add_causes(&found.examined, knowledge, &scan.view.there);
        report.add_leftovers(found.leftovers, &scan.view.there);
    }
    report
}

/// Like [`finish`], for files from kubectl. Their whole objects are read only if something is stuck.
fn finish_files(
    scan: &Scan,
    knowledge: &Knowledge,
    snapshot: &Snapshot,
    earlier: Option<&Earlier>,
    dump: impl FnOnce() -> Result<Dump, Error>,
) -> Result<Exit, Error> {
    let mut report = ScanReport::new(snapshot, knowledge, &scan.view);
    if scan.view.is_by_holder() {
        report.add_holders(snapshot, knowledge, None, !scan.view.terminating);
    } else {
        let is_stuck = snapshot.tally.kept.iter().any(|seen| seen.deletion.is_some());
        if is_stuck {
            let examined = examine(&dump()?, snapshot, Limits::default(), knowledge);
            report.add_causes(&examined, knowledge, &scan.view.there);
        }
        if !scan.view.terminating {
            report.add_leftovers(Leftovers::of_files(snapshot), &scan.view.there);
        }
    }
    if let Some(earlier) = earlier {
        report.add_changes(earlier.changes(snapshot, scan, true));
    }
    show(&report, scan, None)?;
    Ok(exit_code(&report, scan))
}

/// The standard input, if it is one of the files. It is kept, because it cannot be read twice.
fn piped(paths: &[PathBuf], stdin: &mut dyn Read) -> Result<Vec<u8>, Error> {
    let mut input = Vec::new();
    if paths.iter().any(|path| path == Path::new("-")) {
        stdin.read_to_end(&mut input).map_err(|cause| Error::Read {
            path: "stdin".into(),
            cause,
        })?;
    }
    Ok(input)
}

/// Reads the cluster until it is done or the user stops it.
async fn read(
    connection: &Connection,
    scan: &Scan,
    knowledge: &Knowledge,
) -> Result<(Snapshot, Investigation), Error> {
    let server = Server {
        connected: connect(connection).await?,
    };
    let (mut snapshot, connection_lost) = read_cluster(&server, scan).await?;
    let investigation = if connection_lost {
        Investigation::new(&snapshot, scan, Limits::default(), knowledge)
    } else {
        investigate(
            Witness::Server(&server),
            &mut snapshot,
            scan,
            knowledge,
            Telling::Aloud,
        )
        .await
    };
    Ok((snapshot, investigation))
}

/// Reads the cluster. Also returns whether the server stopped responding.
pub(super) async fn read_cluster(server: &Server, scan: &Scan) -> Result<(Snapshot, bool), Error> {
    let reading = Reading::default();
    let so_far = || progress::reading_in_words(&reading.progress());
    let reads = with_progress(Box::pin(cluster::scan(server, scan, None, &reading)), so_far);
    let is_stopped = until_stopped(reads).await.transpose()?.is_none();
    let connection_lost = reading.is_cut_off();
    let mut snapshot = reading.finish(&server.connected.server);
    if !is_stopped && !connection_lost && scan.show.format.is_document() {
        let witness = Witness::Server(server);
        snapshot.server_version = until_stopped(witness.server_version()).await.flatten();
    }
    Ok((snapshot, connection_lost))
}

/// Investigates the scan's result until it is complete or the user stops it.
async fn investigate(
    witness: Witness<'_>,
    snapshot: &mut Snapshot,
    scan: &Scan,
    knowledge: &Knowledge,
    telling: Telling,
) -> Investigation {
    let mut investigation = Investigation::new(snapshot, scan, Limits::default(), knowledge);
    // A server that became unreachable during the scan will not answer now.
    let gone = snapshot
        .gaps
        .iter()
        .any(|gap| matches!(gap.why, Why::Connection(_)));
    if !(gone || snapshot.interrupted) {
        let doing = investigation.doing();
        let so_far = || doing.borrow().clone();
        let work = Box::pin(investigation.run(&witness, knowledge));
        let done = match telling {
            Telling::Aloud => until_stopped(with_progress(work, so_far)).await,
            Telling::Silent => until_stopped(work).await,
        };
        snapshot.interrupted = done.is_none();
    }
    investigation
}

/// Whether an investigation shows its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// On a terminal.
    Aloud,
    /// Not at all: it is one of several.
    Silent,
}

/// Does the work. None if the user stopped it.
async fn until_stopped<T>(work: impl Future<Output = T>) -> Option<T> {
    // What was read until then comes first.
    tokio::select! {
        biased;
        done = work => Some(done),
        _ = tokio::signal::ctrl_c() => None,
    }
}

/// Does the work and shows its progress on a terminal.
async fn with_progress<T>(work: impl Future<Output = T>, so_far: impl Fn() -> String) -> T {
    let mut line = Line::on_terminal();
    let mut ticks = tokio::time::interval(REDRAW_INTERVAL);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => {
                if let Some(line) = &mut line {
                    line.update(&so_far());
                }
            }
        }
    }
}

/// The report, as it is printed.
struct Scanned<'a> {
    report: &'a ScanReport,
    scan: &'a Scan,
    took: Option<Duration>,
}

impl Printable for Scanned<'_> {
    type Document = ScanReport;

    fn documents(&self) -> &[ScanReport] {
        slice::from_ref(self.report)
    }

    fn write_names(&self, out: &mut Out) -> Result<(), Error> {
        let objects = self.report.all_objects();
        let left_out = output::name::write(objects, self.report.namespace.is_some(), &[], out)?;
        warn_of_left_out(left_out);
        Ok(())
    }

    fn write_page(&self, out: &mut Out) -> Result<(), Error> {
        Ok(output::picture::html::write_scan(
            self.report,
            self.scan.is_filtered(),
            out,
        )?)
    }

    fn graph(&self) -> Result<Graph, Error> {
        Ok(Graph::of_scan(self.report))
    }

    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        output::scan::write(self.report, options(self.scan, wide, self.took), style, out)
    }
}

fn show(report: &ScanReport, scan: &Scan, took: Option<Duration>) -> Result<(), Error> {
    print(&Scanned { report, scan, took }, scan.show.format)?;
    warn(report, scan);
    Ok(())
}

fn options(scan: &Scan, wide: bool, took: Option<Duration>) -> output::scan::Options {
    output::scan::Options {
        wide,
        no_headers: scan.show.no_headers,
        took,
        filtered: scan.is_filtered(),
    }
}

fn warn_of_left_out(left_out: usize) {
    if left_out > 0 {
        super::warn(&format!(
            "left out {left_out} objects whose names a shell would take for something else; -o json has them"
        ));
    }
}

/// Whether the output itself says what was not read.
fn says_what_is_missing(scan: &Scan) -> bool {
    let format = scan.show.format;
    format.is_document() || format.is_picture() || format != Format::Name && !scan.show.no_headers
}

/// Prints what was not read to stderr, for formats without a place for it. Without that, an empty output
/// would mean "nothing there".
fn warn(report: &ScanReport, scan: &Scan) {
    if !says_what_is_missing(scan) {
        // If stderr is closed, nobody can read this.
        drop(output::scan::write_not_read(
            report,
            scan.show.format != Format::Name,
            &terminal::plain(),
            &mut stderr().lock(),
        ));
    }
}

fn exit_code(report: &ScanReport, scan: &Scan) -> Exit {
    if report.interrupted {
        return Exit::Interrupted;
    }
    result_code(
        scan,
        report.totals.stuck,
        report.has_gaps_beside(&scan.accepted_gaps),
    )
}

/// The exit code of a scan that ended.
fn result_code(scan: &Scan, stuck: usize, has_gaps: bool) -> Exit {
    match (scan.exit_code, stuck, has_gaps) {
        (false, ..) | (true, 0, false) => Exit::Done,
        (true, 0, true) => Exit::Incomplete,
        (true, ..) => Exit::Stuck,
    }
}
