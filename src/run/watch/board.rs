//! What is in deletion, as far as the watches of all types tell. It turns their news into changes, and does no I/O.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    cluster::follow::News,
    object::{Age, ObjectRef},
    report::{
        DeletionReport, ExplainReport, GapReport, ObjectName,
        watch::{Change, Standing, StandingObject},
    },
    run::timing,
    snapshot::{Gap, Seen, What, Why},
};

/// Everything in deletion.
#[derive(Default)]
pub(super) struct Board {
    types: BTreeMap<String, Reading>,
    objects: BTreeMap<ObjectRef, Entry>,
    uids: BTreeSet<String>,
    gone: usize,
    /// Types whose state is not reported yet, by one word for the reason.
    lost: BTreeMap<&'static str, (BTreeSet<String>, String)>,
    not_watched: BTreeMap<&'static str, (BTreeSet<String>, String)>,
    regained: BTreeSet<String>,
}

/// What is known about a type.
#[derive(Default)]
struct Reading {
    /// Whether it was listed at least once.
    listed: bool,
    /// How many objects it had then.
    stored: u64,
    /// Since when and why it cannot be read, and how often that was tried.
    lost: Option<(Instant, Why, u32)>,
    is_told_lost: bool,
    is_told_not_watched: bool,
}

/// An object in deletion.
pub(super) struct Entry {
    pub(super) seen: Seen,
    pub(super) report: Option<Box<ExplainReport>>,
    /// When it was explained.
    pub(super) explained: Option<Instant>,
}

type Told = Vec<(ObjectName, Change)>;

impl Board {
    /// Adds a type that is followed from now on.
    pub(super) fn add_type(&mut self, name: &str) {
        self.types.entry(name.to_owned()).or_default();
    }

    /// Forgets a type that the server no longer serves. Its objects are gone with it.
    pub(super) fn remove_type(&mut self, name: &str, now: Timestamp) -> Told {
        self.types.remove(name);
        self.retain(name, &BTreeSet::new(), now)
    }

    pub(super) fn types(&self) -> impl Iterator<Item = &String> {
        self.types.keys()
    }

    /// Takes the news about a type, and returns what changed.
    pub(super) fn take(&mut self, name: &str, news: News, now: Timestamp, at: Instant) -> Told {
        match news {
            News::Listed { kept, others } => {
                if let Some(ty) = self.types.get_mut(name) {
                    ty.listed = true;
                    ty.stored = others
                        .values()
                        .fold(kept.len() as u64, |sum, n| sum.saturating_add(*n));
                }
                self.read_again(name);
                let left: BTreeSet<_> = kept.iter().map(|seen| seen.object.clone()).collect();
                let mut told = self.retain(name, &left, now);
                for seen in kept {
                    told.extend(self.see(seen, now));
                }
                told
            }
            News::Watched => {
                self.read_again(name);
                Told::new()
            }
            News::Changed { seen, .. } => self.see(seen, now),
            News::Deleted(object) => {
                if let Some(ty) = self.types.get_mut(name) {
                    ty.stored = ty.stored.saturating_sub(1);
                }
                self.remove(&object, now).into_iter().collect()
            }
            News::Lost(why) => {
                self.lose(name, why, at);
                Told::new()
            }
            News::NotWatched(why) => {
                self.unwatch(name, why);
                Told::new()
            }
        }
    }

    fn see(&mut self, seen: Seen, now: Timestamp) -> Told {
        let Some(deletion) = seen.deletion else {
            return Told::new();
        };
        if let Some(entry) = self.objects.get_mut(&seen.object) {
            let name = ObjectName::from(&seen.object);
            let removed: Vec<_> = entry
                .seen
                .finalizers
                .iter()
                .filter(|finalizer| !seen.finalizers.contains(finalizer))
                .cloned()
                .collect();
            if !removed.is_empty() {
                // Its blockers may be others now.
                entry.explained = None;
            }
            entry.seen = seen;
            let change = |finalizer| (name.clone(), Change::FinalizerRemoved { finalizer });
            return removed.into_iter().map(change).collect();
        }
        // Two API groups can have the same object.
        if seen.object.uid.is_empty() || !self.uids.insert(seen.object.uid.clone()) {
            return Told::new();
        }
        let change = Change::InDeletion {
            deletion: DeletionReport::new(&deletion, now),
            finalizers: seen.finalizers.clone(),
        };
        let told = (ObjectName::from(&seen.object), change);
        self.objects.insert(
            seen.object.clone(),
            Entry {
                seen,
                report: None,
                explained: None,
            },
        );
        vec![told]
    }

    fn retain(&mut self, type_name: &str, left: &BTreeSet<ObjectRef>, now: Timestamp) -> Told {
        let gone: Vec<_> = self
            .objects
            .keys()
            .filter(|object| object.type_name == type_name && !left.contains(object))
            .cloned()
            .collect();
        gone.iter()
            .filter_map(|object| self.remove(object, now))
            .collect()
    }

    fn remove(&mut self, object: &ObjectRef, now: Timestamp) -> Option<(ObjectName, Change)> {
        let entry = self.objects.remove(object)?;
        self.uids.remove(&object.uid);
        self.gone += 1;
        let requested = entry.seen.deletion.map(|deletion| deletion.requested_at());
        let change = Change::Gone {
            replaced: false,
            terminating_seconds: requested.map(|then| Age::between(then, now).0.as_secs()),
        };
        Some((ObjectName::from(object), change))
    }

    fn lose(&mut self, name: &str, why: Why, at: Instant) {
        let Some(ty) = self.types.get_mut(name) else {
            return;
        };
        let (since, tries) = ty
            .lost
            .as_ref()
            .map_or((at, 0), |(since, _, tries)| (*since, *tries));
        let tries = tries.saturating_add(1);
        // A server that restarts fails once, and is back.
        if !ty.is_told_lost && (tries > 1 || !ty.listed) {
            ty.is_told_lost = true;
            if !self.regained.remove(name) {
                let (names, message) = self.lost.entry(why.word()).or_default();
                names.insert(name.to_owned());
                *message = why.message();
            }
        }
        ty.lost = Some((since, why, tries));
    }

    fn read_again(&mut self, name: &str) {
        let Some(ty) = self.types.get_mut(name) else {
            return;
        };
        ty.lost = None;
        if std::mem::take(&mut ty.is_told_lost) {
            let untold = self.lost.values_mut().any(|(names, _)| names.remove(name));
            if !untold {
                self.regained.insert(name.to_owned());
            }
        }
    }

    fn unwatch(&mut self, name: &str, why: Option<Why>) {
        let Some(ty) = self.types.get_mut(name) else {
            return;
        };
        // Objects that are computed, such as metrics, cannot be watched. They cannot be deleted either.
        let is_computed = ty.stored == 0 && matches!(why, Some(Why::ServerError(_)));
        if is_computed || std::mem::replace(&mut ty.is_told_not_watched, true) {
            return;
        }
        let (word, message) = match why {
            Some(why) => (why.word(), why.message()),
            None => ("Limit", "too many types to watch each".to_owned()),
        };
        let (names, said) = self.not_watched.entry(word).or_default();
        names.insert(name.to_owned());
        *said = message;
    }

    /// What changed for whole types since the last call. Nothing until every type was tried.
    pub(super) fn changes_of_types(&mut self) -> Vec<Change> {
        if self.untried() > 0 {
            return Vec::new();
        }
        let joined = |names: &BTreeSet<String>| -> String {
            names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let mut changes = Vec::new();
        for (reason, (names, message)) in std::mem::take(&mut self.lost) {
            if !names.is_empty() {
                let what = joined(&names);
                changes.push(Change::Lost {
                    what,
                    reason,
                    message,
                });
            }
        }
        for (reason, (types, message)) in std::mem::take(&mut self.not_watched) {
            changes.push(Change::NotWatched {
                types: types.into_iter().collect(),
                reason,
                message,
            });
        }
        let regained = std::mem::take(&mut self.regained);
        if !regained.is_empty() {
            let what = joined(&regained);
            changes.push(Change::Regained { what });
        }
        changes
    }

    /// How many types were neither listed nor failed to be.
    pub(super) fn untried(&self) -> usize {
        let is_open = |ty: &&Reading| !ty.listed && ty.lost.is_none();
        self.types.values().filter(is_open).count()
    }

    /// Whether nothing is in deletion, and no type that could be read a moment ago may show something soon.
    pub(super) fn is_done(&self, at: Instant) -> bool {
        let is_hoped_for = |ty: &Reading| {
            let lost = ty.lost.as_ref();
            ty.listed
                && lost.is_some_and(|(since, why, _)| {
                    is_passing(why) && at.saturating_duration_since(*since) < timing::UNREADABLE_TYPE
                })
        };
        self.objects.is_empty() && self.untried() == 0 && !self.types.values().any(is_hoped_for)
    }

    /// What cannot be read.
    pub(super) fn not_read(&self) -> Vec<GapReport> {
        let lost = |(name, ty): (&String, &Reading)| {
            let (_, why, _) = ty.lost.as_ref()?;
            let what = What::Type {
                name: name.clone(),
                read: 0,
            };
            let why = why.clone();
            Some(GapReport::from(&Gap { what, why }))
        };
        self.types.iter().filter_map(lost).collect()
    }

    /// Whether the type was listed, and has no object.
    pub(super) fn has_none_of(&self, name: &str) -> bool {
        self.types.get(name).is_some_and(|ty| ty.listed && ty.stored == 0)
    }

    /// Whether an object is in deletion whose type can be read.
    pub(super) fn has_readable(&self) -> bool {
        let is_read = |ty: &Reading| ty.lost.is_none();
        let mut types = self.objects.keys().map(|object| &object.type_name);
        types.any(|name| self.types.get(name).is_some_and(is_read))
    }

    /// How many objects are gone since the watch began.
    pub(super) fn gone(&self) -> usize {
        self.gone
    }

    /// The objects, the oldest deletion first.
    pub(super) fn oldest_first(&self) -> Vec<&Entry> {
        let mut entries: Vec<_> = self.objects.values().collect();
        entries.sort_by_key(|entry| entry.seen.deletion.map(|deletion| deletion.requested_at()));
        entries
    }

    /// The object, if it is in deletion still.
    pub(super) fn entry(&mut self, object: &ObjectRef) -> Option<&mut Entry> {
        self.objects.get_mut(object)
    }

    /// Where everything stands.
    pub(super) fn standing(&self, namespace: Option<&str>, now: Timestamp) -> Standing {
        let object = |entry: &Entry| {
            let deletion = DeletionReport::new(&entry.seen.deletion?, now);
            let explanation = entry.report.clone().map(|mut report| {
                // It was made a while ago.
                report.deletion = Some(deletion.clone());
                report
            });
            Some(StandingObject {
                object: ObjectName::from(&entry.seen.object),
                deletion,
                finalizers: entry.seen.finalizers.clone(),
                explanation,
            })
        };
        Standing {
            namespace: namespace.map(str::to_owned),
            objects: self.oldest_first().into_iter().filter_map(object).collect(),
            gone: self.gone,
            not_read: self.not_read().into_iter().filter_map(|gap| gap.name).collect(),
            unread_types: self.untried(),
        }
    }
}

/// Whether the reason may pass by itself.
fn is_passing(why: &Why) -> bool {
    !matches!(why, Why::Forbidden(_) | Why::Vanished | Why::MetadataOnlyRefused)
}

#[cfg(test)]
mod tests;
