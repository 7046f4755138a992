//! What a scan says.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::{
    API_VERSION, DeletionReport, GapReport, ObjectReport,
    causes::{Grouping, RootCauseReport},
    holders::HolderReport,
    left::LeftBehindReport,
    reason::{self, Content, Coverage},
};
use crate::{
    knowledge::{Consequence, GroupKind, Knowledge},
    object::{Finalizer, List, ObjectRef},
    snapshot::{OnType, Seen, Snapshot},
};

/// What of a scan is reported.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Every object with a finalizer, not only those being deleted.
    pub all: bool,
    /// Only what is being deleted.
    pub terminating: bool,
    /// What objects are sorted under.
    pub by: By,
    /// Whether types or labels were chosen, so that what was read of a namespace need not be all of it.
    pub narrowed: bool,
    /// The one namespace that was asked for.
    pub namespace: Option<String>,
    /// Order of the objects.
    pub sort_by: SortBy,
}

/// What objects are sorted under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// What they wait for in the end.
    #[default]
    Cause,
    /// Who must remove their finalizers.
    Holder,
}

impl View {
    /// Whether it is asked who holds the objects, instead of why single ones are still there.
    pub fn is_by_holder(&self) -> bool {
        self.by == By::Holder
    }
}

/// Orders of the objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Longest in deletion first.
    #[default]
    Age,
    /// By name.
    Name,
    /// By namespace, then type, then name.
    Namespace,
    /// By type, then namespace, then name.
    Type,
    /// By first finalizer.
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
    /// When it was read, by the server's clock.
    pub observed_at: Timestamp,
    /// The server's address, or the files.
    pub source: String,
    /// The one namespace that was asked for; none for all.
    pub namespace: Option<String>,
    /// Whether everything that was asked for was read.
    pub complete: bool,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// What was read.
    pub totals: Totals,
    /// Objects being deleted.
    pub terminating: Vec<ObjectReport>,
    /// What these objects wait for in the end, what holds most first.
    pub root_causes: Vec<RootCauseReport>,
    /// How many of them were not looked at one by one, because there are too many.
    pub not_looked_at: usize,
    /// What could not be seen of what they wait for; reasons and verdicts are weaker for it.
    pub weaker_for: Vec<GapReport>,
    /// What was left behind though nobody is deleting it; none if that was not asked for.
    pub left_behind: Option<LeftBehindReport>,
    /// How the table groups them.
    #[serde(skip)]
    pub grouping: Grouping,
    /// With `--all`: the other objects that have finalizers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<ObjectReport>>,
    /// How the finalizers are used; left out with `--terminating`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizers: Option<Vec<FinalizerReport>>,
    /// With `--by holder`: who must remove them, whoever holds most of what is being deleted first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holders: Option<Vec<HolderReport>>,
    /// How many of them the catalogue does not know.
    pub unknown_finalizers: usize,
    /// What was not read.
    pub not_read: Vec<GapReport>,
    /// What is worth knowing about how it was read.
    pub notes: Vec<String>,
    /// How the type of an object is written in tables: `plural.group` → the shortest name that is nobody else's.
    #[serde(skip)]
    pub short: BTreeMap<String, String>,
}

/// How much was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Types.
    pub types: usize,
    /// Objects.
    pub objects: u64,
    /// Objects being deleted whose grace period is over.
    pub stuck: usize,
    /// Objects left behind.
    pub left_behind: u64,
}

/// How one finalizer is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalizerReport {
    /// The string.
    pub name: String,
    /// The list it stands in.
    pub list: List,
    /// Objects that carry it.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types of these objects, as `plural.group`.
    pub on: Vec<String>,
    /// What the catalogue knows of it; none if nothing.
    pub known: Option<Known>,
}

/// What the catalogue knows of a finalizer, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// Whose it is.
    pub project: String,
    /// What it protects.
    pub protects: String,
    /// What is lost or left behind if it is removed by hand.
    pub consequence: Consequence,
    /// Whether its owner's source was read for this.
    pub verified: bool,
}

impl ScanReport {
    /// What a snapshot says to someone who asked for a scan.
    pub fn new(snapshot: &Snapshot, knowledge: &Knowledge, view: &View) -> Self {
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
            observed_at: now,
            source: snapshot.source.clone(),
            namespace: view.namespace.clone(),
            complete,
            interrupted: snapshot.interrupted,
            totals: Totals {
                types: snapshot.types.len(),
                objects: snapshot.tally.objects,
                stuck,
                left_behind: 0,
            },
            terminating,
            root_causes: Vec::new(),
            not_looked_at: 0,
            weaker_for: Vec::new(),
            left_behind: None,
            grouping: Grouping::default(),
            objects: view
                .all
                .then(|| others.into_iter().map(|seen| context.object(seen)).collect()),
            unknown_finalizers: finalizers
                .iter()
                .filter(|finalizer| finalizer.known.is_none())
                .count(),
            finalizers: (!view.terminating).then_some(finalizers),
            holders: None,
            not_read,
            notes: snapshot.notes.clone(),
            short: short_names(snapshot),
        }
    }

    /// Every object of the report, the ones being deleted first.
    pub fn all_objects(&self) -> impl Iterator<Item = &ObjectReport> {
        self.terminating.iter().chain(self.objects.iter().flatten())
    }
}

/// What every object of the report is seen against.
struct Context<'a> {
    snapshot: &'a Snapshot,
    knowledge: &'a Knowledge,
    coverage: Coverage,
    preferred: &'a BTreeMap<String, String>,
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
        ObjectReport {
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
            conditions: raised.map(Into::into).collect(),
            left: content.left,
        }
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
        left: snapshot
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
        *content.going.entry(seen.object.type_name.clone()).or_default() += 1;
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
    // Every order ends in the object's place, so that two runs over the same cluster print the same.
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
            on: usage.on.iter().map(|ty| ty.name.clone()).collect(),
            known: known(finalizer, &usage.on, knowledge),
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

/// The entry for the first of the kinds that has one: the same string means the same on all of them but for a
/// few names that are too short to belong to anybody.
fn known(finalizer: &Finalizer, on: &BTreeSet<OnType>, knowledge: &Knowledge) -> Option<Known> {
    let entry = on.iter().find_map(|ty| {
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

/// For each type, the shortest of its names that no other type has. Names of up to eight letters stay as they
/// are: `pod` says more than `po`.
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
