//! `scan` of several clusters: reads them side by side, reports each, and says what they have in common.
//!
//! A cluster that cannot be read is a gap with its reason, and holds up nobody: it has a time limit for its first answer.

use std::{
    cell::Cell,
    collections::BTreeMap,
    io::{self, Write, stderr},
    path::{Path, PathBuf},
    slice,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};

use super::{
    Telling, investigate, options, recorded, replay, report, result_code, says_what_is_missing,
    until_stopped, warn_of_left_out, with_progress,
};
use crate::{
    cluster::{
        self, Reading, Server,
        connect::{FoundCluster, connect_from, surroundings::Surroundings},
    },
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output::{self, Style},
    report::{
        ClustersReport, GapReport, ScanReport,
        clusters::{ClusterName, ClusterReport},
    },
    run::{
        block_on,
        look::{Investigation, Limits},
        print::{Out, Printable, print},
        terminal,
        witness::Witness,
    },
    settings::{Clusters, Connection, Scan},
    snapshot::{Snapshot, Why, load},
};

/// How many clusters are read at once. Each has several requests at once, and all of them share one thread.
pub(in crate::run) const SIDE_BY_SIDE: usize = 8;

/// Scans the clusters of several contexts.
pub(super) fn of_servers(clusters: &Clusters, scan: &Scan, knowledge: &Knowledge) -> Result<Exit, Error> {
    is_no_picture(scan)?;
    let found = cluster::connect::clusters(clusters, &Surroundings::of_this_process())?;
    let reports = block_on(async { Ok(read_all(&found, clusters, scan, knowledge).await) })?;
    finish(&ClustersReport::new(reports), scan)
}

/// Scans the snapshots of a directory, each of which is of a cluster.
pub(super) fn of_recordings(files: &[PathBuf], scan: &Scan, knowledge: &Knowledge) -> Result<Exit, Error> {
    is_no_picture(scan)?;
    if scan.since.is_some() {
        return Err(Error::Usage {
            message: "--since compares one cluster, and this directory has several snapshots".into(),
            hint: Some("name one of its files with --from".into()),
        });
    }
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    let reports = files.iter().map(|file| {
        let path = file.display().to_string();
        let name = ClusterName {
            cluster: file
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            file: Some(path.clone()),
            ..ClusterName::default()
        };
        let mut result = recording(file, scan, knowledge);
        if let Ok((report, Some(server))) = &mut result {
            match sources.get(server) {
                Some(other) => report.notes.push(format!(
                    "it was taken of the same server as {other}, so both count the same objects"
                )),
                None => drop(sources.insert(server.clone(), path)),
            }
        }
        cluster_report(name, None, Some(result.map(|(report, _)| report)))
    });
    finish(&ClustersReport::new(reports.collect()), scan)
}

/// Scans one snapshot. Its printed commands read that file. Also returns the server, unless its name is hidden.
fn recording(file: &Path, scan: &Scan, knowledge: &Knowledge) -> Result<(ScanReport, Option<String>), Error> {
    let saved = load::saved(&[file.to_owned()], &mut std::io::empty())?.ok_or_else(|| Error::Read {
        path: file.to_owned(),
        cause: io::Error::new(io::ErrorKind::InvalidData, "it is not a snapshot"),
    })?;
    let mut scan = recorded(scan, &saved);
    scan.view.there.from = vec![file.display().to_string()];
    let found = block_on(replay(
        Witness::Saved(&saved),
        &saved,
        &scan,
        knowledge,
        Telling::Silent,
    ))?;
    let server = (!saved.head.redacted).then(|| saved.head.source.clone());
    Ok((report(&scan, knowledge, found), server))
}

/// Reads the clusters side by side. The reports are in the order of the clusters.
async fn read_all(
    found: &[FoundCluster],
    clusters: &Clusters,
    scan: &Scan,
    knowledge: &Knowledge,
) -> Vec<ClusterReport> {
    let (done, stopped) = (Cell::new(0_usize), Cell::new(false));
    let so_far = || format!("{} of {} clusters", done.get(), found.len());
    let read = stream::iter(names(found).into_iter().zip(found))
        .enumerate()
        .map(async |(at, (name, found))| {
            let began = Instant::now();
            let connection = connection(found, clusters);
            let scan = scan_of(scan, &name);
            let result = if stopped.get() {
                None
            } else {
                let limit = clusters.first_answer;
                until_stopped(Box::pin(read(&connection, limit, &scan, knowledge))).await
            };
            let is_stopped = match &result {
                Some(Ok(report)) => report.interrupted,
                Some(Err(_)) => false,
                None => true,
            };
            stopped.set(stopped.get() || is_stopped);
            done.set(done.get() + 1);
            (at, cluster_report(name, Some(began.elapsed()), result))
        })
        .buffer_unordered(SIDE_BY_SIDE)
        .collect();
    let mut read: Vec<_> = with_progress(read, so_far).await;
    read.sort_by_key(|(at, _)| *at);
    read.into_iter().map(|(_, report)| report).collect()
}

/// The names of the clusters in the report. Two contexts of one name are in two files.
pub(in crate::run) fn names(found: &[FoundCluster]) -> Vec<ClusterName> {
    let name = |found: &FoundCluster| {
        let kubeconfig = found.kubeconfig.as_deref().map(|path| path.display().to_string());
        ClusterName {
            cluster: match &kubeconfig {
                Some(file) => format!("{} ({file})", found.context),
                None => found.context.clone(),
            },
            context: Some(found.context.clone()),
            kubeconfig,
            other_contexts: found.others.clone(),
            file: None,
        }
    };
    found.iter().map(name).collect()
}

/// How to reach a cluster.
pub(in crate::run) fn connection(found: &FoundCluster, clusters: &Clusters) -> Connection {
    let shared = &clusters.connection;
    Connection {
        context: Some(found.context.clone()),
        kubeconfig: found.kubeconfig.clone().or_else(|| shared.kubeconfig.clone()),
        ..shared.clone()
    }
}

/// The scan of one cluster. Its printed commands name that cluster.
fn scan_of(scan: &Scan, name: &ClusterName) -> Scan {
    let mut scan = scan.clone();
    let there = &mut scan.view.there;
    there.context.clone_from(&name.context);
    if name.kubeconfig.is_some() {
        there.kubeconfig.clone_from(&name.kubeconfig);
    }
    scan
}

fn cluster_report(
    name: ClusterName,
    took: Option<Duration>,
    result: Option<Result<ScanReport, Error>>,
) -> ClusterReport {
    let interrupted =
        || GapReport::of_cluster(&name.cluster, Why::Interrupted.word(), Why::Interrupted.message());
    let (scan, not_read) = match result {
        Some(Ok(scan)) => (Some(scan), None),
        Some(Err(error)) => (None, Some(gap(&name.cluster, &error))),
        None => (None, Some(interrupted())),
    };
    ClusterReport {
        name,
        seconds: took.map(|took| took.as_secs_f64()),
        scan,
        not_read,
    }
}

/// A cluster that could not be read at all.
fn gap(cluster: &str, error: &Error) -> GapReport {
    let reason = match error {
        Error::Unauthorized { .. } => "Unauthorized",
        Error::TimedOut { .. } => "TimedOut",
        Error::Config { .. } | Error::Usage { .. } => "Unusable",
        Error::Read { .. } => "Unreadable",
        _ => "Connection",
    };
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    GapReport::of_cluster(cluster, reason, message)
}

/// Reads one cluster. What was read before the user stopped it stays.
async fn read(
    connection: &Connection,
    first_answer: Option<Duration>,
    scan: &Scan,
    knowledge: &Knowledge,
) -> Result<ScanReport, Error> {
    let server = reach(connection, first_answer).await?;
    let (mut snapshot, connection_lost) = read_within(&server, first_answer, scan).await?;
    let investigation = if connection_lost {
        Investigation::new(&snapshot, scan, Limits::default(), knowledge)
    } else {
        investigate(
            Witness::Server(&server),
            &mut snapshot,
            scan,
            knowledge,
            Telling::Silent,
        )
        .await
    };
    Ok(report(scan, knowledge, (snapshot, investigation)))
}

/// Makes a client. Its credential plugin cannot ask a question: several may run at once.
pub(in crate::run) async fn reach(connection: &Connection, limit: Option<Duration>) -> Result<Server, Error> {
    let surroundings = Surroundings {
        stdin_is_terminal: false,
        ..Surroundings::of_this_process()
    };
    let connected = within(limit, connect_from(connection, &surroundings)).await;
    let connected = connected.unwrap_or_else(|| {
        Err(Error::TimedOut {
            message: "its credential plugin did not end in time".into(),
            hint: None,
        })
    })?;
    Ok(Server { connected })
}

/// Reads the cluster, if it answers in time. Also returns whether the server stopped responding.
pub(in crate::run) async fn read_within(
    server: &Server,
    first_answer: Option<Duration>,
    scan: &Scan,
) -> Result<(Snapshot, bool), Error> {
    let reading = Reading::default();
    let silent = async {
        match first_answer {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
        // Once the types are known, each request has a limit of its own.
        if reading.progress() != cluster::Progress::default() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = until_stopped(Box::pin(cluster::scan(server, scan, None, &reading))) => result.transpose()?,
        () = silent => return Err(server.connected.timed_out()),
    };
    let connection_lost = reading.is_cut_off();
    Ok((reading.finish(&server.connected.server), connection_lost))
}

async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}

/// Fails before anything is read if the format is a picture.
fn is_no_picture(scan: &Scan) -> Result<(), Error> {
    if scan.show.format.is_picture() {
        Err(no_picture())
    } else {
        Ok(())
    }
}

fn no_picture() -> Error {
    Error::Usage {
        message: "-o html, dot and mermaid draw one cluster, and these are several".into(),
        hint: Some("give one --context or one file".into()),
    }
}

/// The report, as it is printed.
struct Scanned<'a> {
    report: &'a ClustersReport,
    scan: &'a Scan,
}

impl Printable for Scanned<'_> {
    type Document = ClustersReport;

    fn documents(&self) -> &[ClustersReport] {
        slice::from_ref(self.report)
    }

    fn write_names(&self, out: &mut Out) -> Result<(), Error> {
        warn_of_left_out(write_names(self.report, self.scan, out)?);
        Ok(())
    }

    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        output::scan::write_clusters(self.report, options(self.scan, wide, None), style, out)
    }

    fn has_no_such_form(&self) -> Error {
        no_picture()
    }
}

/// Prints the report, and says how it ended.
fn finish(report: &ClustersReport, scan: &Scan) -> Result<Exit, Error> {
    print(&Scanned { report, scan }, scan.show.format)?;
    if !says_what_is_missing(scan) {
        // If stderr is closed, nobody can read this.
        drop(output::scan::write_clusters_not_read(
            report,
            &terminal::plain(),
            &mut stderr().lock(),
        ));
    }
    let has_gaps = report.has_gaps_beside(&scan.accepted_gaps);
    Ok(if report.interrupted {
        Exit::Interrupted
    } else if !scan.exit_code && report.totals.unread == report.totals.clusters {
        Exit::Failed
    } else {
        result_code(scan, report.totals.stuck, has_gaps)
    })
}

/// Names for kubectl, with the context of their cluster. Returns how many were left out.
fn write_names(report: &ClustersReport, scan: &Scan, out: &mut impl Write) -> Result<usize, Error> {
    let mut left_out = 0;
    for cluster in &report.clusters {
        let name = &cluster.name;
        let flag =
            |flag: &str, value: &Option<String>| value.as_ref().map(|value| [flag.to_owned(), value.clone()]);
        let kubeconfig = name
            .kubeconfig
            .clone()
            .or_else(|| scan.view.there.kubeconfig.clone());
        let place = [
            flag("--context", &name.context),
            flag("--kubeconfig", &kubeconfig),
        ];
        let place: Vec<_> = place.into_iter().flatten().flatten().collect();
        let objects = cluster.scan.iter().flat_map(ScanReport::all_objects);
        left_out += output::name::write(objects, report_is_of_one_namespace(cluster), &place, out)?;
    }
    Ok(left_out)
}

fn report_is_of_one_namespace(cluster: &ClusterReport) -> bool {
    cluster.scan.as_ref().is_some_and(|scan| scan.namespace.is_some())
}
