//! The report of the `scan` command.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    API_VERSION, DeletionReport, GapReport, ObjectReport, TOOL_VERSION,
    changes::ChangesReport,
    gaps, holders,
    holders::{HolderReport, HolderSearch},
    leftovers::{Leftovers, LeftoversReport},
    reason::{self, Content, Coverage},
    root_causes::{self, RootCauseReport},
};
use crate::{
    command::RunFlags,
    knowledge::{Consequence, GroupKind, Knowledge},
    object::{Finalizer, List, ObjectRef},
    snapshot::{OnType, Seen, Snapshot},
};

/// Which part of a scan to report, and in which order.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct ScanView {
    /// Report every object with a finalizer, not only terminating objects.
    pub all: bool,
    /// Report only terminating objects.
    pub terminating: bool,
    /// How objects are grouped.
    pub by: GroupBy,
    /// Whether the scan was limited to types or labels, so that it can miss content of a namespace.
    pub narrowed: bool,
    /// The requested namespace; none for all namespaces.
    pub namespace: Option<String>,
    /// The order of the objects.
    pub sort_by: SortBy,
    /// Whether the snapshot is a recording.
    pub is_recorded: bool,
    /// Where it was read, for the commands that come next.
    pub there: RunFlags,
}

/// How objects are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By root cause.
    #[default]
    Cause,
    /// By the controller that must remove their finalizers.
    Holder,
}

impl ScanView {
    /// Whether the scan groups objects by controller, so that it explains no single objects.
    pub fn is_by_holder(&self) -> bool {
        self.by == GroupBy::Holder
    }
}

/// The order of the objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// The longest terminating object first.
    #[default]
    Age,
    /// GroupBy name.
    Name,
    /// GroupBy namespace, then type, then name.
    Namespace,
    /// GroupBy type, then namespace, then name.
    Type,
    /// GroupBy first finalizer.
    Finalizer,
}

/// The result of a scan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScanReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Scan`.
    pub kind: &'static str,
    /// Version of this program.
    pub tool_version: &'static str,
    /// Version of the API server; none if it is not known.
    pub server_version: Option<String>,
    /// The cluster, if the run reads several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// When the cluster was read, by the server's clock.
    pub observed_at: Timestamp,
    /// The server's address, or the files.
    pub source: String,
    /// The requested namespace; none for all namespaces.
    pub namespace: Option<String>,
    /// Whether everything that was requested was read.
    pub complete: bool,
    /// Whether the user stopped the scan.
    pub interrupted: bool,
    /// How much was read.
    pub totals: Totals,
    /// The terminating objects.
    pub terminating: Vec<ObjectReport>,
    /// The root causes of these objects, the worst first.
    pub root_causes: Vec<RootCauseReport>,
    /// How many terminating objects were not investigated, because there are too many.
    pub not_looked_at: usize,
    /// What the investigation could not read. It makes reasons and verdicts weaker.
    pub weaker_for: Vec<GapReport>,
    /// The leftovers; none if not requested.
    #[serde(rename = "leftBehind")]
    pub leftovers: Option<LeftoversReport>,
    /// How many of the terminating objects have gone since they were listed.
    #[serde(skip)]
    pub gone: usize,
    /// Whether it comes from a recording, so that its ages do not grow.
    #[serde(skip)]
    pub is_recorded: bool,
    /// With `--all`: the other objects that have finalizers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<ObjectReport>>,
    /// The finalizers in use; not present with `--terminating`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizers: Option<Vec<FinalizerReport>>,
    /// With `--by holder`: the controllers, the one that blocks most terminating objects first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holders: Option<Vec<HolderReport>>,
    /// How many finalizers in use the catalogue does not know.
    pub unknown_finalizers: usize,
    /// With `--since`: what changed since an earlier snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesReport>,
    /// What was not read.
    pub not_read: Vec<GapReport>,
    /// Notes about how the scan was read.
    pub notes: Vec<String>,
    /// The type names in tables: `plural.group` → the shortest name that no other type has.
    #[serde(skip)]
    pub short: BTreeMap<String, String>,
}

/// How much was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Number of types.
    pub types: usize,
    /// Number of objects.
    pub objects: u64,
    /// Number of terminating objects whose grace period is over.
    pub stuck: usize,
    /// Number of leftover objects.
    #[serde(rename = "leftBehind")]
    pub leftovers: u64,
}

/// A finalizer in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalizerReport {
    /// The name.
    pub name: String,
    /// The list that contains it.
    pub list: List,
    /// Number of objects that have it.
    pub objects: u64,
    /// How many of them are terminating.
    pub terminating: u64,
    /// The types of these objects, as `plural.group`.
    pub on: Vec<String>,
    /// The same types, each with the number of its objects.
    #[serde(skip)]
    pub objects_on: Vec<(String, u64)>,
    /// What the catalogue knows about it; none if it is unknown.
    pub known: Option<Known>,
}

/// What the catalogue knows about a finalizer, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// The project that owns it.
    pub project: String,
    /// What it protects.
    pub protects: String,
    /// What is lost, or remains without an owner, if it is removed by hand.
    pub consequence: Consequence,
    /// Whether somebody read the owner's source for this entry.
    pub verified: bool,
}

impl ScanReport {
    /// Adds the controllers. `searches` is none if nothing could be searched, as in files from kubectl.
    pub fn add_holders(
        &mut self,
        snapshot: &Snapshot,
        knowledge: &Knowledge,
        searches: Option<&[HolderSearch]>,
        all: bool,
    ) {
        self.holders = Some(holders::holders(snapshot, knowledge, searches, all));
        let results = searches
            .into_iter()
            .flatten()
            .filter_map(|one| one.result.as_ref());
        self.add_weaker(results.flat_map(|one| &one.gaps));
    }

    /// The scan report of a snapshot.
    pub fn new(snapshot: &Snapshot, knowledge: &Knowledge, view: &ScanView) -> Self {
        let now = snapshot.observed_at;
        let not_read: Vec<GapReport> = snapshot.gaps.iter().map(GapReport::from).collect();
        let complete = not_read.is_empty();
        let coverage = match (complete, view.narrowed) {
            (_, true) => Coverage::Chosen,
            (false, false) => Coverage::Gaps,
            (true, false) => Coverage::Full,
        };
        let preferred = snapshot
            .types
            .iter()
            .map(|read| (read.ty.name(), read.ty.api_version()))
            .collect();
        let context = Context {
            snapshot,
            knowledge,
            coverage,
            preferred: &preferred,
            there: &view.there,
        };
        let mut kept: Vec<&Seen> = snapshot.tally.kept.iter().collect();
        sort(&mut kept, view.sort_by);
        let (terminating, others): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|seen| seen.deletion.is_some());
        let terminating: Vec<_> = terminating.into_iter().map(|seen| context.object(seen)).collect();
        let finalizers = finalizers(snapshot, knowledge);
        let stuck = terminating
            .iter()
            .filter(|o| o.deletion.as_ref().is_some_and(|d| !d.in_grace_period))
            .count();
        ScanReport {
            api_version: API_VERSION,
            kind: "Scan",
            tool_version: TOOL_VERSION,
            server_version: snapshot.server_version.clone(),
            cluster: None,
            observed_at: now,
            source: snapshot.source.clone(),
            namespace: view.namespace.clone(),
            complete,
            interrupted: snapshot.interrupted,
            totals: Totals {
                types: snapshot.types.len(),
                objects: snapshot.tally.objects,
                stuck,
                leftovers: 0,
            },
            terminating,
            root_causes: Vec::new(),
            not_looked_at: 0,
            weaker_for: Vec::new(),
            leftovers: None,
            gone: 0,
            is_recorded: view.is_recorded,
            objects: view
                .all
                .then(|| others.into_iter().map(|seen| context.object(seen)).collect()),
            unknown_finalizers: finalizers
                .iter()
                .filter(|finalizer| finalizer.known.is_none())
                .count(),
            finalizers: (!view.terminating).then_some(finalizers),
            holders: None,
            changes: None,
            not_read,
            notes: snapshot.notes.clone(),
            short: short_names(snapshot),
        }
    }

    /// Adds the objects that a deletion left behind.
    pub fn add_leftovers(&mut self, found: Leftovers, there: &RunFlags) {
        let report = LeftoversReport::new(found, self.observed_at, there);
        self.totals.leftovers = report.count();
        self.leftovers = report.was_asked_for().then_some(report);
    }

    /// Adds the changes. A snapshot of another server is worth a note: it may be another cluster.
    pub fn add_changes(&mut self, changes: ChangesReport) {
        if changes.source != self.source {
            self.notes.push(format!(
                "{} was taken of {}, and this is {}: if that is another cluster, the changes mean nothing",
                changes.file, changes.source, self.source
            ));
        }
        self.changes = Some(changes);
    }

    /// Whether more was not read than these API groups.
    pub fn has_gaps_beside(&self, groups: &[String]) -> bool {
        gaps::are_beside(&self.not_read, groups)
    }

    /// Names the cluster in every record.
    pub fn mark(&mut self, cluster: &str) {
        let name = || Some(cluster.to_owned());
        self.cluster = name();
        let objects = self
            .terminating
            .iter_mut()
            .chain(self.objects.iter_mut().flatten());
        objects.for_each(|object| object.cluster = name());
        self.root_causes
            .iter_mut()
            .for_each(|cause| cause.cluster = name());
        let gaps = self.not_read.iter_mut().chain(&mut self.weaker_for);
        gaps.for_each(|gap| gap.cluster = name());
    }

    /// Every object of the report, the terminating objects first.
    pub fn all_objects(&self) -> impl Iterator<Item = &ObjectReport> {
        self.terminating.iter().chain(self.objects.iter().flatten())
    }
}

/// What the report on each object depends on.
struct Context<'a> {
    snapshot: &'a Snapshot,
    knowledge: &'a Knowledge,
    coverage: Coverage,
    preferred: &'a BTreeMap<String, String>,
    there: &'a RunFlags,
}

impl Context<'_> {
    fn object(&self, seen: &Seen) -> ObjectReport {
        let snapshot = self.snapshot;
        let content = if seen.object.type_name == "namespaces" && seen.deletion.is_some() {
            content(&seen.object.name, snapshot)
        } else {
            Content::default()
        };
        let raised = seen
            .conditions
            .iter()
            .filter(|condition| condition.status != "False");
        let mut report = ObjectReport {
            cluster: None,
            object: (&seen.object).into(),
            kubectl_type: kubectl_type(&seen.object, self.preferred),
            deletion: seen
                .deletion
                .map(|deletion| DeletionReport::new(&deletion, snapshot.observed_at)),
            finalizers: seen.finalizers.clone(),
            reason: seen.deletion.is_some().then(|| {
                reason::one_line(
                    seen,
                    &content,
                    self.knowledge,
                    self.coverage,
                    snapshot.observed_at,
                )
            }),
            verdict: None,
            at_risk: None,
            conditions: raised.map(Into::into).collect(),
            remaining: content.remaining,
            next: None,
        };
        if seen.deletion.is_some() {
            report.next = root_causes::explain(&report, self.there);
        }
        report
    }
}

fn kubectl_type(object: &ObjectRef, preferred: &BTreeMap<String, String>) -> String {
    let other = preferred
        .get(&object.type_name)
        .is_some_and(|preferred| *preferred != object.api_version);
    match (
        object.api_version.split_once('/'),
        object.type_name.split_once('.'),
    ) {
        (Some((_, version)), Some((plural, group))) if other => format!("{plural}.{version}.{group}"),
        _ => object.type_name.clone(),
    }
}

fn content(namespace: &str, snapshot: &Snapshot) -> Content {
    let mut content = Content {
        remaining: snapshot
            .tally
            .remaining
            .get(namespace)
            .cloned()
            .unwrap_or_default(),
        ..Content::default()
    };
    let inside =
        |seen: &&Seen| seen.object.namespace.as_deref() == Some(namespace) && seen.deletion.is_some();
    for seen in snapshot.tally.kept.iter().filter(inside) {
        *content
            .terminating
            .entry(seen.object.type_name.clone())
            .or_default() += 1;
    }
    content
}

fn sort(objects: &mut [&Seen], by: SortBy) {
    let place = |seen: &Seen| {
        (
            seen.object.namespace.clone(),
            seen.object.type_name.clone(),
            seen.object.name.clone(),
        )
    };
    let asked_at = |seen: &Seen| {
        seen.deletion
            .map_or(Timestamp::MAX, |deletion| deletion.requested_at())
    };
    // Every order ends with namespace, type and name, so that two runs print the same.
    match by {
        SortBy::Age => objects.sort_by_cached_key(|seen| (asked_at(seen), place(seen))),
        SortBy::Name => objects.sort_by_cached_key(|seen| (seen.object.name.clone(), place(seen))),
        SortBy::Namespace => objects.sort_by_cached_key(|seen| place(seen)),
        SortBy::Type => objects.sort_by_cached_key(|seen| (seen.object.type_name.clone(), place(seen))),
        SortBy::Finalizer => objects.sort_by_cached_key(|seen| {
            (
                seen.finalizers.first().map(|finalizer| finalizer.name.clone()),
                place(seen),
            )
        }),
    }
}

fn finalizers(snapshot: &Snapshot, knowledge: &Knowledge) -> Vec<FinalizerReport> {
    let mut rows: Vec<_> = snapshot
        .tally
        .usage
        .iter()
        .map(|(finalizer, usage)| FinalizerReport {
            name: finalizer.name.clone(),
            list: finalizer.list,
            objects: usage.objects,
            terminating: usage.terminating,
            on: usage.on.keys().map(|ty| ty.name.clone()).collect(),
            objects_on: (usage.on.iter())
                .map(|(ty, &objects)| (ty.name.clone(), objects))
                .collect(),
            known: known_finalizer(finalizer, &usage.on, knowledge),
        })
        .collect();
    rows.sort_by(|a, b| {
        b.terminating
            .cmp(&a.terminating)
            .then(b.objects.cmp(&a.objects))
            .then(a.name.cmp(&b.name))
    });
    rows
}

/// The entry for the first kind that has one. A name means the same on all kinds, except for a few names that
/// are too short to belong to one project.
fn known_finalizer(
    finalizer: &Finalizer,
    on: &BTreeMap<OnType, u64>,
    knowledge: &Knowledge,
) -> Option<Known> {
    let entry = on.keys().find_map(|ty| {
        let kind = GroupKind {
            group: &ty.group,
            kind: &ty.kind,
        };
        knowledge.lookup(&finalizer.name, finalizer.list, Some(kind))
    })?;
    Some(Known {
        project: entry.project,
        protects: entry.protects,
        consequence: entry.if_removed.consequence,
        verified: entry.verified,
    })
}

/// For each type, the shortest name that no other type has. Names of up to eight letters stay: `pod` is
/// clearer than `po`.
fn short_names(snapshot: &Snapshot) -> BTreeMap<String, String> {
    const SHORT_ENOUGH: usize = 8;
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for read in &snapshot.types {
        let ty = &read.ty;
        let mut names: Vec<&str> = ty.short_names.iter().map(String::as_str).collect();
        names.extend([ty.singular.as_str(), ty.plural.as_str()]);
        names.sort_unstable();
        names.dedup();
        for name in names {
            *owners.entry(name).or_default() += 1;
        }
    }
    let unique = |name: &&str| !name.is_empty() && owners.get(*name) == Some(&1);
    snapshot
        .types
        .iter()
        .filter_map(|read| {
            let ty = &read.ty;
            let singular = Some(ty.singular.as_str()).filter(unique);
            let short = ty
                .short_names
                .iter()
                .map(String::as_str)
                .filter(unique)
                .min_by_key(|name| name.len());
            let best = match (singular, short) {
                (Some(singular), Some(short)) if singular.len() > SHORT_ENOUGH => short,
                (Some(singular), _) => singular,
                (None, Some(short)) => short,
                (None, None) => return None,
            };
            Some((ty.name(), best.to_owned()))
        })
        .collect()
}
