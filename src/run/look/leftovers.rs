//! Searches for leftovers: objects in namespaces that do not exist, volumes whose disks nobody deletes, and
//! attachments to nodes or of volumes that are gone.
//!
//! The scan has counted the first kind. The other two need specs: all volumes and attachments are read once
//! more. Then each candidate is checked by name.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    MAX_ROUNDS,
    asking::{Ask, LimitedReader},
};
use crate::{
    diagnose::leftovers::{self, Inspection},
    knowledge::Knowledge,
    report::leftovers::{LeftoverGap, LeftoverKind, LeftoverObjects, Leftovers, MissingNamespace},
    settings::Scan,
    snapshot::{
        Filter, LeftoverCount, Namespaces, Snapshot, What,
        facts::{Facts, Object, Query, Resource},
        storage_leftovers::{StorageLeftovers, Unread, Unreclaimed},
    },
};

/// The search for leftovers of all kinds.
pub(super) struct LeftoverSearch {
    namespaces: Option<Vec<Candidate<Missing>>>,
    pub(super) volumes: Option<Candidates<Unreclaimed>>,
    pub(super) attachments: Option<Candidates<Object>>,
    gaps: Vec<LeftoverGap>,
    filter: Filter,
    now: Timestamp,
    pub(super) max_objects: usize,
}

/// A namespace that does not seem to exist, and its objects by type.
type Missing = (String, BTreeMap<String, LeftoverCount>);

/// Objects of one type that may be leftovers.
pub(super) struct Candidates<T> {
    /// Number of objects of the type in the scan.
    counted: u64,
    /// Whether all of them were examined.
    done: bool,
    list: Vec<Candidate<T>>,
    /// Number of candidates beyond the limit. Only their number is kept.
    more: u64,
}

struct Candidate<T> {
    what: T,
    state: CandidateState,
}

enum CandidateState {
    Open,
    Done(Inspection),
    NotLookedAt,
}

impl<T> Candidate<T> {
    fn new(what: T) -> Self {
        Candidate {
            what,
            state: CandidateState::Open,
        }
    }

    fn round(
        &mut self,
        reader: &mut LimitedReader,
        wanted: &mut BTreeSet<Query>,
        judge: impl Fn(&T, &Facts) -> Inspection,
    ) {
        let (CandidateState::Open, Some(facts)) = (&self.state, &reader.facts) else {
            return;
        };
        let looked = judge(&self.what, facts);
        if looked.wanted.is_empty() {
            self.state = CandidateState::Done(looked);
        } else if !reader.admit(&looked.wanted, wanted) {
            self.state = CandidateState::NotLookedAt;
        }
    }
}

impl LeftoverSearch {
    pub(super) fn new(snapshot: &Snapshot, scan: &Scan, max_objects: usize) -> Self {
        let mut gaps = Vec::new();
        let mut namespaces = None;
        let mut counted = |plural: &str, kind: LeftoverKind| {
            let name = Resource::new(kind.group(), plural).name();
            let missed = snapshot.gaps.iter().find(
                |gap| matches!(&gap.what, What::Type { name: missed, .. } | What::TypeOutside { name: missed, .. } if *missed == name),
            );
            if let Some(gap) = missed {
                gaps.push(LeftoverGap::new(kind, &gap.why));
                return None;
            }
            let read = snapshot.types.iter().find(|read| read.ty.name() == name)?;
            Some(read.objects)
        };
        let (mut volumes, mut attachments) = (None, None);
        // A scan of only terminating objects does not search for leftovers.
        if !scan.view.terminating {
            // The scan has already seen whole objects of this type and found no candidates.
            let storage = snapshot.tally.storage.as_ref();
            let none_possible = storage.is_some_and(|storage| !storage.may_have_volumes());
            volumes = counted("persistentvolumes", LeftoverKind::Volumes)
                .map(|all| Candidates::new(all, none_possible));
            let none_possible = storage.is_some_and(|storage| !storage.may_have_attachments());
            attachments = counted("volumeattachments", LeftoverKind::Attachments)
                .map(|all| Candidates::new(all, none_possible));
            match &snapshot.namespaces {
                Namespaces::NotAsked => {}
                Namespaces::Unknown(why) => gaps.push(LeftoverGap::new(LeftoverKind::Namespaces, why)),
                Namespaces::Known => {
                    let objects = snapshot.tally.leftovers.0.iter();
                    namespaces = Some(
                        objects
                            .map(|(name, types)| Candidate::new((name.clone(), types.clone())))
                            .collect(),
                    );
                    gaps.extend(LeftoverGap::only_within(&snapshot.only_within));
                }
            }
        }
        LeftoverSearch {
            namespaces,
            volumes,
            attachments,
            gaps,
            filter: scan.filter.clone(),
            now: snapshot.observed_at,
            max_objects,
        }
    }

    /// Whether there is anything to check.
    pub(super) fn is_open(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|all| !all.is_empty()) || self.has_types_to_read()
    }

    fn has_types_to_read(&self) -> bool {
        remaining(self.volumes.as_ref()) > 0 || remaining(self.attachments.as_ref()) > 0
    }

    pub(super) async fn run(&mut self, server: &impl Ask, reader: &mut LimitedReader, knowledge: &Knowledge) {
        if self.has_types_to_read() {
            let candidates = match server.leftover_candidates() {
                Some(candidates) => candidates,
                None => self.collect_candidates(server, reader).await,
            };
            self.use_candidates(candidates);
        }
        for _ in 0..MAX_ROUNDS {
            let wanted = self.round(reader, knowledge);
            if wanted.is_empty() || !reader.answer(server, wanted).await {
                return;
            }
        }
    }

    /// Selects the requested candidates. A file contains them for all possible requests.
    fn use_candidates(&mut self, candidates: StorageLeftovers) {
        let StorageLeftovers { volumes, attachments } = candidates;
        let is_leftover_volume = |one: &Unreclaimed| self.is_leftover_volume(&one.volume);
        let kept: Vec<_> = volumes.kept.into_iter().filter(is_leftover_volume).collect();
        let is_leftover_attachment = |one: &Object| self.is_leftover_attachment(one);
        let lost: Vec<_> = attachments
            .kept
            .into_iter()
            .filter(is_leftover_attachment)
            .collect();
        if let Some(candidates) = self.volumes.as_mut().filter(|candidates| !candidates.done) {
            self.gaps
                .extend(volumes.unread.iter().map(|why| gap(LeftoverKind::Volumes, why)));
            candidates.done = volumes.unread.is_none();
            candidates.more = volumes.more;
            candidates.list = kept.into_iter().map(Candidate::new).collect();
        }
        if let Some(candidates) = self.attachments.as_mut().filter(|candidates| !candidates.done) {
            self.gaps.extend(
                attachments
                    .unread
                    .iter()
                    .map(|why| gap(LeftoverKind::Attachments, why)),
            );
            candidates.done = attachments.unread.is_none();
            candidates.more = attachments.more;
            candidates.list = lost.into_iter().map(Candidate::new).collect();
        }
    }

    fn round(&mut self, reader: &mut LimitedReader, knowledge: &Knowledge) -> Vec<Query> {
        let mut wanted = BTreeSet::new();
        for one in self.namespaces.iter_mut().flatten() {
            one.round(reader, &mut wanted, |(name, objects), facts| {
                leftovers::namespace(name, objects, facts, knowledge)
            });
        }
        for one in self.volumes.iter_mut().flat_map(|all| &mut all.list) {
            one.round(reader, &mut wanted, |volume, facts| {
                unreclaimed(volume, facts, knowledge)
            });
        }
        for one in self.attachments.iter_mut().flat_map(|all| &mut all.list) {
            one.round(reader, &mut wanted, |attachment, facts| {
                leftovers::attachment(attachment, facts, knowledge)
            });
        }
        wanted.into_iter().collect()
    }

    pub(super) fn is_leftover_volume(&self, volume: &Object) -> bool {
        leftovers::is_unreclaimed(volume, self.now) && self.matches(volume, leftovers::released(volume))
    }

    /// Whether this requested attachment has no deletion request.
    pub(super) fn is_leftover_attachment(&self, attachment: &Object) -> bool {
        attachment.deletion().is_none() && self.matches(attachment, None)
    }

    /// Whether the scan asked for this object.
    fn matches(&self, object: &Object, since: Option<Timestamp>) -> bool {
        let filter = &self.filter;
        let finalizer = filter.finalizers.is_empty()
            || object
                .finalizers()
                .iter()
                .any(|finalizer| filter.finalizer(&finalizer.name));
        let age = filter
            .older_than
            .is_none_or(|limit| since.is_some_and(|since| self.now.duration_since(since) >= limit));
        finalizer && age && (filter.selector.is_none() || filter.labels(&object.labels()))
    }

    /// Returns the leftovers.
    pub(super) fn finish(
        mut self,
        reader: &mut LimitedReader,
        knowledge: &Knowledge,
        stopped: bool,
    ) -> Leftovers {
        // The last answers have not been evaluated yet.
        self.round(reader, knowledge);
        let mut gaps = self.gaps;
        let has_gap = |kind| gaps.iter().any(|one: &LeftoverGap| one.kind == kind);
        let unread_gap = |kind, counted: u64| {
            (counted > 0 && !has_gap(kind)).then(|| LeftoverGap::not_looked_at(kind, counted, stopped))
        };
        let unread_gap = [
            unread_gap(LeftoverKind::Volumes, remaining(self.volumes.as_ref())),
            unread_gap(LeftoverKind::Attachments, remaining(self.attachments.as_ref())),
        ];
        gaps.extend(unread_gap.into_iter().flatten());
        let mut add_gap = |kind: LeftoverKind, number: u64| {
            gaps.push(LeftoverGap::not_looked_at(kind, number, stopped));
        };
        let namespaces = self.namespaces.map(|all| {
            let mut missing = Vec::new();
            let mut open = 0;
            for one in all {
                let (name, types) = one.what;
                match one.state {
                    CandidateState::Done(Inspection {
                        leftover: Some(leftover),
                        ..
                    }) => {
                        missing.push(MissingNamespace {
                            name,
                            types,
                            leftover,
                        });
                    }
                    CandidateState::Done(looked) => open += u64::from(!looked.gaps.is_empty()),
                    CandidateState::Open | CandidateState::NotLookedAt => open += 1,
                }
            }
            if open > 0 {
                add_gap(LeftoverKind::Namespaces, open);
            }
            missing
        });
        let facts = reader.facts.as_ref();
        let volumes = self.volumes.map(|all| {
            let leftover_of = |one: Candidate<Unreclaimed>| {
                let reference = one.what.volume.reference();
                let leftover = match one.state {
                    CandidateState::Done(looked) => looked.leftover,
                    // It is known to be a leftover, but the reason is not known.
                    CandidateState::Open | CandidateState::NotLookedAt => {
                        facts.and_then(|facts| unreclaimed(&one.what, facts, knowledge).leftover)
                    }
                };
                leftover.map(|leftover| (reference, leftover))
            };
            let first: Vec<_> = all.list.into_iter().filter_map(leftover_of).collect();
            LeftoverObjects {
                count: first.len() as u64 + all.more,
                first,
            }
        });
        let attachments = self.attachments.map(|all| {
            let mut first = Vec::new();
            let mut open = all.more;
            for one in all.list {
                let reference = one.what.reference();
                match one.state {
                    CandidateState::Done(Inspection {
                        leftover: Some(leftover),
                        ..
                    }) => first.push((reference, leftover)),
                    CandidateState::Done(looked) => open += u64::from(!looked.gaps.is_empty()),
                    CandidateState::Open | CandidateState::NotLookedAt => open += 1,
                }
            }
            if open > 0 {
                add_gap(LeftoverKind::Attachments, open);
            }
            LeftoverObjects {
                count: first.len() as u64,
                first,
            }
        });
        Leftovers {
            namespaces,
            volumes,
            attachments,
            gaps,
        }
    }
}

impl<T> Candidates<T> {
    fn new(counted: u64, done: bool) -> Self {
        Candidates {
            counted,
            done,
            list: Vec::new(),
            more: 0,
        }
    }
}

/// Number of objects that still have to be read.
pub(super) fn remaining<T>(candidates: Option<&Candidates<T>>) -> u64 {
    candidates
        .filter(|candidates| !candidates.done)
        .map_or(0, |candidates| candidates.counted)
}

fn unreclaimed(one: &Unreclaimed, facts: &Facts, knowledge: &Knowledge) -> Inspection {
    leftovers::unreclaimed(&one.volume, one.attached.as_deref(), facts, knowledge)
}

fn gap(kind: LeftoverKind, unread: &Unread) -> LeftoverGap {
    match unread {
        Unread::TooMany => LeftoverGap::too_many(kind),
        Unread::Fault(why) => LeftoverGap::new(kind, why),
    }
}
