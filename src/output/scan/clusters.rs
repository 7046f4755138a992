//! A scan of several clusters: a row for each cluster, then the causes of all of them, then what each has besides.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Options, Scan, causes::SHOWN, closing::HIDDEN, count, rows::Line, terminating::TERMINATING};
use crate::{
    output::{
        Style,
        flow::{Flow, Look},
        safe::harmless,
        table::{self, Column},
    },
    report::{
        ClustersReport, GapReport,
        clusters::{ClusterReport, Member, SharedCauseReport},
        gaps,
        root_causes::RootCauseReport,
    },
};

/// So many clusters of a cause are shown, unless the user asks for all.
const MEMBERS: usize = 3;
/// How many clusters a heading names.
const NAMED: usize = 5;

const CLUSTERS: &[Column] = &[
    Column::fixed("cluster"),
    Column::fixed("stuck"),
    Column::fixed("causes"),
    Column::fixed("not read"),
    Column::fixed("time"),
    Column::optional("server", 1),
    Column::optional("same cluster as", 2),
];

/// Writes the scan of several clusters.
pub fn write_clusters(
    report: &ClustersReport,
    options: Options,
    style: &Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let clusters = Clusters {
        report,
        options,
        style: *style,
    };
    if options.no_headers {
        return clusters.plain(out);
    }
    clusters.answer(out)?;
    clusters.summary(out)?;
    clusters.causes(out)?;
    clusters.others(out)?;
    clusters.totals(out)?;
    clusters.not_read(out)
}

/// Writes what was not read of several clusters, for formats without a place for it.
pub fn write_clusters_not_read(
    report: &ClustersReport,
    style: &Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let clusters = Clusters {
        report,
        options: Options::default(),
        style: *style,
    };
    clusters.not_read(out)
}

struct Clusters<'a> {
    report: &'a ClustersReport,
    options: Options,
    style: Style,
}

/// A cause of one cluster, with what writes it.
struct Part<'a> {
    scan: Scan<'a>,
    cause: &'a RootCauseReport,
    lines: Vec<Line>,
}

impl Clusters<'_> {
    /// The scans, each with its cluster.
    fn scans(&self) -> impl Iterator<Item = (&ClusterReport, Scan<'_>)> {
        self.report
            .clusters
            .iter()
            .filter_map(|cluster| Some((cluster, self.scan(cluster)?)))
    }

    fn scan<'a>(&self, cluster: &'a ClusterReport) -> Option<Scan<'a>> {
        Some(Scan::new(cluster.scan.as_ref()?, self.options, &self.style))
    }

    fn wrap(&self, text: &str, indent: usize) -> String {
        table::wrap(text, self.options.style(&self.style).width, indent)
    }

    fn caution(&self, text: &str, indent: usize, out: &mut impl Write) -> io::Result<()> {
        for line in self.wrap(&harmless(text), indent).lines() {
            writeln!(out, "{}", self.style.caution(line))?;
        }
        Ok(())
    }

    /// The first lines: how much is stuck, and what was not read.
    fn answer(&self, out: &mut impl Write) -> io::Result<()> {
        let totals = self.report.totals;
        let clusters = count(totals.clusters as u64, "cluster");
        let stuck: usize = self.scans().map(|(_, scan)| scan.stuck()).sum();
        let objects = count(stuck as u64, "object");
        let text = match self.report.root_causes.len() {
            _ if stuck == 0 && self.report.complete => format!("{clusters}: nothing is stuck."),
            _ if stuck == 0 => {
                format!("{clusters}: in what could be read, nothing is stuck. Not everything could be read.")
            }
            0 => format!("{clusters}: {objects} stuck."),
            1 => format!("{clusters}: {objects} stuck, 1 cause."),
            causes => format!("{clusters}: {objects} stuck, {causes} causes, worst first."),
        };
        for line in self.wrap(&text, 0).lines() {
            writeln!(out, "{}", self.style.heading(line))?;
        }
        let unread = self
            .report
            .clusters
            .iter()
            .filter(|cluster| cluster.scan.is_none());
        let unread: Vec<_> = unread.map(|cluster| cluster.name.cluster.clone()).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let names = gaps::first_names(&unread, NAMED);
        self.caution(&format!("{HIDDEN} {names}"), 2, out)
    }

    /// A row for each cluster.
    fn summary(&self, out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<_> = self.report.clusters.iter().map(|one| self.row(one)).collect();
        let lines = table::lines(CLUSTERS, &rows, &self.options.style(&self.style), 1, true);
        writeln!(out)?;
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                writeln!(out, "{}", self.style.faint(line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }

    fn row(&self, cluster: &ClusterReport) -> Vec<String> {
        let wide = |text: String| if self.options.wide { text } else { String::new() };
        let scan = self.scan(cluster);
        let number = |number: Option<usize>| number.map_or("?".to_owned(), |number| number.to_string());
        let time = match (cluster.recorded_at(), cluster.seconds) {
            (Some(time), _) => time.strftime("%Y-%m-%d %H:%M").to_string(),
            (None, Some(seconds)) => format!("{seconds:.1} s"),
            (None, None) => "?".to_owned(),
        };
        vec![
            cluster.name.cluster.clone(),
            number(scan.as_ref().map(Scan::stuck)),
            number(scan.as_ref().map(|scan| scan.report.root_causes.len())),
            match &scan {
                Some(scan) => scan.report.not_read.len().to_string(),
                None => "everything".to_owned(),
            },
            time,
            wide(scan.map(|scan| scan.report.source.clone()).unwrap_or_default()),
            wide(cluster.name.other_contexts.join(", ")),
        ]
    }

    fn causes(&self, out: &mut impl Write) -> io::Result<()> {
        let causes = &self.report.root_causes;
        let all = self.options.wide || self.scans().any(|(_, scan)| scan.report.objects.is_some());
        let shown = if all {
            causes.len()
        } else {
            causes.len().min(SHOWN)
        };
        let (first, hidden) = causes.split_at(shown);
        let blocks: Vec<Vec<Part<'_>>> = first
            .iter()
            .enumerate()
            .map(|(number, cause)| {
                let parts = cause
                    .members
                    .iter()
                    .filter_map(|member| self.part(number, *member));
                parts.take(if all { usize::MAX } else { MEMBERS }).collect()
            })
            .collect();
        let lines = || blocks.iter().flatten().flat_map(|part| &part.lines);
        let column = blocks
            .iter()
            .flatten()
            .next()
            .map_or(0, |part| part.scan.column(lines()));
        for (number, (cause, parts)) in first.iter().zip(&blocks).enumerate() {
            writeln!(out)?;
            self.cause(number, cause, parts, column, out)?;
        }
        match self.scans().next() {
            Some((_, scan)) => scan.hidden(hidden.iter().map(|cause| cause.state), out),
            None => Ok(()),
        }
    }

    fn part(&self, number: usize, member: Member) -> Option<Part<'_>> {
        let scan = self.scan(self.report.clusters.get(member.cluster)?)?;
        let cause = scan.report.root_causes.get(member.cause)?;
        let lines = scan.lines(cause.rows.iter().filter(|row| cause.lists(row, number)));
        Some(Part { scan, cause, lines })
    }

    /// A cause with its clusters in front. Of several clusters each has its own objects and its own command.
    fn cause(
        &self,
        number: usize,
        shared: &SharedCauseReport,
        parts: &[Part<'_>],
        column: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Some(first) = parts.first() else {
            return Ok(());
        };
        let sentences = first.scan.sentences(number, first.cause);
        let is_one = shared.members.len() == 1;
        let flow = Flow::default().styled(Look::Name, &gaps::first_names(&shared.clusters, NAMED));
        let flow = flow.text(":").and(sentences);
        let flow = if is_one {
            first.scan.elsewhere(number, first.cause, flow)
        } else {
            flow
        };
        first.scan.head(number, shared.state, &flow, out)?;
        for part in parts {
            if !is_one {
                let cluster = part.cause.cluster.as_deref().unwrap_or_default();
                let flow = Flow::default().styled(Look::Name, cluster).text(":");
                let flow = part.scan.elsewhere(number, part.cause, flow);
                let room = part
                    .scan
                    .style
                    .width
                    .unwrap_or(usize::MAX)
                    .saturating_sub(3)
                    .max(1);
                for line in flow.lines(room, &self.style) {
                    writeln!(out, "   {line}")?;
                }
            }
            part.scan.body(part.cause, &part.lines, column, out)?;
        }
        let more = shared.members.len() - parts.len();
        if more > 0 {
            writeln!(out, "   and {more} more: -o wide")?;
        }
        Ok(())
    }

    /// What each cluster has besides causes.
    fn others(&self, out: &mut impl Write) -> io::Result<()> {
        for (cluster, scan) in self.scans() {
            let mut text = Vec::new();
            if let Some(holders) = &scan.report.holders {
                scan.holders(holders, &mut text)?;
            } else {
                scan.slow(&mut text)?;
                scan.leftovers(&mut text)?;
                scan.others(&mut text)?;
                if scan.report.objects.is_some() {
                    scan.finalizers(&mut text)?;
                }
            }
            if !text.is_empty() {
                let heading = format!("In {}", harmless(&cluster.name.cluster));
                writeln!(out, "\n{}", self.style.heading(&heading))?;
                out.write_all(text.trim_ascii_start())?;
            }
        }
        Ok(())
    }

    fn totals(&self, out: &mut impl Write) -> io::Result<()> {
        let totals = self.report.totals;
        let read = totals.clusters - totals.unread;
        let mut text = format!(
            "{} read in {}.",
            count(totals.objects, "object"),
            count(read as u64, "cluster")
        );
        if !self.report.root_causes.is_empty() {
            text.push_str(" Start with cause 1.");
        }
        writeln!(out, "\n{}", self.wrap(&text, 0))?;
        for (cluster, scan) in self.scans() {
            for note in &scan.report.notes {
                let note = harmless(&format!("Note: {}: {note}", cluster.name.cluster)).into_owned();
                writeln!(out, "{}", self.wrap(&note, 6))?;
            }
        }
        Ok(())
    }

    /// What was not read. Clusters with the same gap share a line.
    fn not_read(&self, out: &mut impl Write) -> io::Result<()> {
        let most = if self.options.wide { usize::MAX } else { NAMED };
        let weaker = |cluster: &ClusterReport| {
            cluster
                .scan
                .iter()
                .flat_map(|scan| scan.weaker_for.clone())
                .collect()
        };
        for (clusters, gaps) in self.gap_lines(weaker) {
            let clusters = gaps::first_names(&clusters, most);
            let line = format!("Not seen, which could change the answers above: {clusters}: {gaps}");
            self.caution(&line, 4, out)?;
        }
        for (_, scan) in self.scans() {
            scan.leftover_gaps(out)?;
        }
        let lines = self.gap_lines(|cluster| cluster.gaps().cloned().collect());
        if !lines.is_empty() {
            self.caution(HIDDEN, 0, out)?;
        }
        for (clusters, gaps) in lines {
            let clusters = gaps::first_names(&clusters, most);
            self.caution(&format!("  {clusters}: {gaps}"), 4, out)?;
        }
        if self.report.interrupted {
            self.caution("STOPPED before the end: this is only part of the answer.", 1, out)?;
        }
        Ok(())
    }

    /// Gaps in words, with the clusters that have them.
    fn gap_lines(&self, of: impl Fn(&ClusterReport) -> Vec<GapReport>) -> Vec<(Vec<String>, String)> {
        let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for cluster in &self.report.clusters {
            for group in gaps::grouped(&of(cluster)) {
                let most = if self.options.wide { usize::MAX } else { 6 };
                let line = format!("{}: {}", gaps::first_names(&group.subjects, most), group.why);
                lines.entry(line).or_default().push(cluster.name.cluster.clone());
            }
        }
        lines
            .into_iter()
            .map(|(line, clusters)| (clusters, line))
            .collect()
    }

    /// Every object as a row for scripts, with its cluster in front.
    fn plain(&self, out: &mut impl Write) -> io::Result<()> {
        for (cluster, scan) in self.scans() {
            if let Some(holders) = &scan.report.holders {
                let mut text = Vec::new();
                scan.holders(holders, &mut text)?;
                for line in String::from_utf8_lossy(&text).lines() {
                    writeln!(out, " {}  {line}", harmless(&cluster.name.cluster))?;
                }
            }
        }
        if self.scans().any(|(_, scan)| scan.report.holders.is_some()) {
            return Ok(());
        }
        let mut columns = vec![Column::fixed("cluster")];
        columns.extend_from_slice(TERMINATING);
        let rows: Vec<Vec<String>> = self
            .scans()
            .flat_map(|(cluster, scan)| {
                let row = |object| {
                    let cells = scan.terminating_row(object);
                    [cluster.name.cluster.clone()].into_iter().chain(cells).collect()
                };
                scan.report
                    .terminating
                    .iter()
                    .map(row)
                    .collect::<Vec<Vec<String>>>()
            })
            .collect();
        for line in table::lines(&columns, &rows, &self.options.style(&self.style), 1, false) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
