//! The report of a `scan` of several clusters: each cluster, and the causes of all of them, worst first.

mod shared;

use jiff::Timestamp;
use serde::Serialize;

pub use self::shared::{Member, NextInCluster, SharedCauseReport};
use super::{API_VERSION, GapReport, ScanReport, TOOL_VERSION};

/// The result of scanning several clusters.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClustersReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `ClusterScans`.
    pub kind: &'static str,
    /// Version of this program.
    pub tool_version: &'static str,
    /// Whether everything that was requested was read, in all clusters.
    pub complete: bool,
    /// Whether the user stopped the scan.
    pub interrupted: bool,
    /// The sums of all clusters.
    pub totals: ClusterTotals,
    /// The causes of all clusters, the worst first. A cause that several clusters have is one.
    pub root_causes: Vec<SharedCauseReport>,
    /// The clusters, in the order of the contexts or files.
    pub clusters: Vec<ClusterReport>,
}

/// The sums of all clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTotals {
    /// Number of clusters.
    pub clusters: usize,
    /// How many of them could not be read at all.
    pub unread: usize,
    /// Number of objects that were read.
    pub objects: u64,
    /// Number of stuck objects.
    pub stuck: usize,
    /// Number of leftover objects.
    #[serde(rename = "leftBehind")]
    pub leftovers: u64,
}

/// One cluster.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterReport {
    /// Which cluster.
    #[serde(flatten)]
    pub name: ClusterName,
    /// How many seconds reading took; none for a recording.
    pub seconds: Option<f64>,
    /// Its scan; none if it could not be read at all.
    pub scan: Option<ScanReport>,
    /// Why it could not be read at all.
    pub not_read: Option<GapReport>,
}

/// How a cluster is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterName {
    /// The name in this report: that of the context or of the file, and no other cluster has it.
    pub cluster: String,
    /// Its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The kubeconfig of that context, if it is not in the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// Other contexts of the same cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_contexts: Vec<String>,
    /// The file that it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl ClustersReport {
    /// The report of these clusters. It names the cluster in every record, and numbers the causes anew.
    pub fn new(mut clusters: Vec<ClusterReport>) -> Self {
        let mut totals = ClusterTotals {
            clusters: clusters.len(),
            ..ClusterTotals::default()
        };
        for cluster in &mut clusters {
            let Some(scan) = &mut cluster.scan else {
                totals.unread += 1;
                continue;
            };
            scan.mark(&cluster.name.cluster);
            totals.objects += scan.totals.objects;
            totals.stuck += scan.totals.stuck;
            totals.leftovers += scan.totals.leftovers;
        }
        let mut scans: Vec<_> = clusters.iter_mut().map(|cluster| cluster.scan.as_mut()).collect();
        let root_causes = shared::causes(&mut scans);
        let read = || clusters.iter().filter_map(|cluster| cluster.scan.as_ref());
        ClustersReport {
            api_version: API_VERSION,
            kind: "ClusterScans",
            tool_version: TOOL_VERSION,
            complete: totals.unread == 0 && read().all(|scan| scan.complete),
            interrupted: read().any(|scan| scan.interrupted)
                || clusters
                    .iter()
                    .any(|cluster| cluster.not_read.as_ref().is_some_and(GapReport::is_interruption)),
            totals,
            root_causes,
            clusters,
        }
    }

    /// Whether more was not read than these API groups.
    pub fn has_gaps_beside(&self, groups: &[String]) -> bool {
        self.clusters.iter().any(|cluster| match &cluster.scan {
            Some(scan) => scan.has_gaps_beside(groups),
            None => true,
        })
    }
}

impl ClusterReport {
    /// When a recording of it was made.
    pub fn recorded_at(&self) -> Option<Timestamp> {
        let scan = self.scan.as_ref()?;
        scan.is_recorded.then_some(scan.observed_at)
    }

    /// What was not read of it.
    pub fn gaps(&self) -> impl Iterator<Item = &GapReport> {
        let inside = self.scan.iter().flat_map(|scan| &scan.not_read);
        self.not_read.iter().chain(inside)
    }
}
