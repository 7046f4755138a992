//! The causes of several clusters. The same cause in many clusters is one, because one person repairs it in one way.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    command::Command,
    diagnose::CauseState,
    object::Finalizer,
    report::{
        ObjectName, ScanReport,
        root_causes::{IfRemoved, RootCauseReport, rank},
    },
};

/// A cause that one or several clusters have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedCauseReport {
    /// The clusters.
    pub clusters: Vec<String>,
    /// How it stands.
    pub state: CauseState,
    /// The object; none if the cause is not an object.
    pub object: Option<ObjectName>,
    /// The finalizer that nothing blocks and that is not removed, if the cause is one.
    pub finalizer: Option<Finalizer>,
    /// The controller that must remove it, by its name in the catalogue.
    pub controller: Option<String>,
    /// The state of the object, or a description of the cause, in the first cluster.
    pub says: String,
    /// What a removal of its finalizers by hand costs, at worst.
    pub if_removed: Option<IfRemoved>,
    /// How many objects wait for it, in all clusters.
    pub objects: usize,
    /// How many of these wait for nothing else.
    pub frees: usize,
    /// The next command for each cluster.
    pub next: Vec<NextInCluster>,
    /// Where the reports of the clusters have it.
    #[serde(skip)]
    pub members: Vec<Member>,
}

/// The command that explains a cause in one cluster.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextInCluster {
    /// The cluster.
    pub cluster: String,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}

/// One cause in the report of one cluster, as indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The cluster.
    pub cluster: usize,
    /// The cause in its report.
    pub cause: usize,
}

/// What two causes have in common if they are the same: the state, who must act, the finalizer, and otherwise the
/// object or the text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    state: CauseState,
    controller: Option<String>,
    finalizer: Option<Finalizer>,
    object: Option<(String, Option<String>, String)>,
    says: Option<String>,
}

impl Kind {
    fn of(cause: &RootCauseReport) -> Self {
        let is_finalizer = cause.is_own && cause.finalizer.is_some();
        let object = cause.object.as_ref().filter(|_| !is_finalizer);
        Kind {
            state: cause.state,
            controller: cause.controller.clone(),
            finalizer: cause.finalizer.clone(),
            object: object.map(|name| (name.resource.clone(), name.namespace.clone(), name.name.clone())),
            says: (object.is_none() && !is_finalizer).then(|| cause.says.clone()),
        }
    }
}

/// The causes of all clusters, the worst first. The rows of each report then have the numbers of these causes.
pub(super) fn causes(scans: &mut [Option<&mut ScanReport>]) -> Vec<SharedCauseReport> {
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut shared: Vec<SharedCauseReport> = Vec::new();
    for (cluster, scan) in scans.iter().enumerate() {
        for (number, cause) in scan.iter().flat_map(|scan| &scan.root_causes).enumerate() {
            let at = *kinds.entry(Kind::of(cause)).or_insert(shared.len());
            let member = Member {
                cluster,
                cause: number,
            };
            match shared.get_mut(at) {
                Some(known) => known.add(member, cause),
                None => shared.push(SharedCauseReport::of(member, cause)),
            }
        }
    }
    shared.sort_by_key(|cause| rank(cause.state, cause.if_removed, cause.objects));
    renumber(scans, &shared);
    shared
}

/// Gives the rows of each report the numbers of the shared causes.
fn renumber(scans: &mut [Option<&mut ScanReport>], shared: &[SharedCauseReport]) {
    for (cluster, scan) in scans.iter_mut().enumerate() {
        let numbers: BTreeMap<usize, usize> = shared
            .iter()
            .enumerate()
            .flat_map(|(number, cause)| cause.members.iter().map(move |member| (member, number)))
            .filter(|(member, _)| member.cluster == cluster)
            .map(|(member, number)| (member.cause, number))
            .collect();
        for (at, cause) in scan.iter_mut().flat_map(|scan| &mut scan.root_causes).enumerate() {
            let own = numbers.get(&at);
            for row in &mut cause.rows {
                row.also = row
                    .also
                    .iter()
                    .filter_map(|other| numbers.get(other))
                    .filter(|other| Some(*other) != own)
                    .copied()
                    .collect();
                row.also.sort_unstable();
                row.also.dedup();
            }
        }
    }
}

impl SharedCauseReport {
    fn of(member: Member, cause: &RootCauseReport) -> Self {
        let mut shared = SharedCauseReport {
            clusters: Vec::new(),
            state: cause.state,
            object: cause.object.clone(),
            finalizer: cause.finalizer.clone(),
            controller: cause.controller.clone(),
            says: cause.says.clone(),
            if_removed: None,
            objects: 0,
            frees: 0,
            next: Vec::new(),
            members: Vec::new(),
        };
        shared.add(member, cause);
        shared
    }

    fn add(&mut self, member: Member, cause: &RootCauseReport) {
        let cluster = cause.cluster.clone().unwrap_or_default();
        if !self.clusters.contains(&cluster) {
            // An object of one cluster is not the object of another, though it has the same name.
            if let Some(object) = self.object.as_mut().filter(|_| !self.clusters.is_empty()) {
                object.uid = None;
            }
            self.clusters.push(cluster.clone());
        }
        self.if_removed = self.if_removed.max(cause.if_removed);
        self.objects += cause.objects.len();
        self.frees += cause.frees;
        self.next.extend(
            cause
                .next
                .clone()
                .map(|command| NextInCluster { cluster, command }),
        );
        self.members.push(member);
    }
}

#[cfg(test)]
mod tests;
