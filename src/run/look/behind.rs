//! What was left behind: objects in namespaces that do not exist, volumes whose disks nobody deletes, attachments to
//! nodes or of volumes that are gone.
//!
//! The scan has counted the first. For the others specs are needed: volumes and attachments are gone through once more,
//! and what looks left behind is looked at by name.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    ROUNDS,
    asking::{Ask, Asking},
};
use crate::{
    diagnose::leftovers::{self, Inspection},
    knowledge::Knowledge,
    report::left::{LeftBehind, LeftObjects, MissingNamespace, NotKnown, Part},
    settings::Scan,
    snapshot::{
        Filter, Namespaces, Snapshot, Stray, What,
        facts::{Facts, Object, Query, Resource},
        suspects::{Suspects, Unread, Unreclaimed},
    },
};

/// What is looked for.
pub(super) struct Behind {
    namespaces: Option<Vec<Suspect<Missing>>>,
    pub(super) volumes: Option<Sort<Unreclaimed>>,
    pub(super) attachments: Option<Sort<Object>>,
    not_known: Vec<NotKnown>,
    filter: Filter,
    now: Timestamp,
    pub(super) most: usize,
}

/// A namespace that does not seem to exist, and what is in it by type.
type Missing = (String, BTreeMap<String, Stray>);

/// Objects of one type that look left behind.
pub(super) struct Sort<T> {
    /// How many objects of the type the scan counted.
    counted: u64,
    /// Whether all of them went by.
    done: bool,
    list: Vec<Suspect<T>>,
    /// Others, of which there was no room for more than their number.
    more: u64,
}

struct Suspect<T> {
    what: T,
    state: State,
}

enum State {
    Open,
    Done(Inspection),
    NotLookedAt,
}

impl<T> Suspect<T> {
    fn new(what: T) -> Self {
        Suspect {
            what,
            state: State::Open,
        }
    }

    fn round(
        &mut self,
        asking: &mut Asking,
        wanted: &mut BTreeSet<Query>,
        look: impl Fn(&T, &Facts) -> Inspection,
    ) {
        let (State::Open, Some(facts)) = (&self.state, &asking.facts) else {
            return;
        };
        let looked = look(&self.what, facts);
        if looked.wanted.is_empty() {
            self.state = State::Done(looked);
        } else if !asking.admit(&looked.wanted, wanted) {
            self.state = State::NotLookedAt;
        }
    }
}

impl Behind {
    pub(super) fn new(snapshot: &Snapshot, scan: &Scan, most: usize) -> Self {
        let mut not_known = Vec::new();
        let mut namespaces = None;
        let mut counted = |plural: &str, part: Part| {
            let name = Resource::new(part.group(), plural).name();
            let missed = snapshot.gaps.iter().find(
                |gap| matches!(&gap.what, What::Type { name: missed, .. } | What::TypeOutside { name: missed, .. } if *missed == name),
            );
            if let Some(gap) = missed {
                not_known.push(NotKnown::new(part, &gap.why));
                return None;
            }
            let read = snapshot.types.iter().find(|read| read.ty.name() == name)?;
            Some(read.objects)
        };
        let (mut volumes, mut attachments) = (None, None);
        // Asked only for what is being deleted, nobody wants to know of what is not.
        if !scan.view.terminating {
            // What went by whole and is in order is not gone through again.
            let storage = snapshot.tally.storage.as_ref();
            let fine = storage.is_some_and(|storage| !storage.may_have_volumes());
            volumes = counted("persistentvolumes", Part::Volumes).map(|all| Sort::new(all, fine));
            let fine = storage.is_some_and(|storage| !storage.may_have_attachments());
            attachments = counted("volumeattachments", Part::Attachments).map(|all| Sort::new(all, fine));
            match &snapshot.namespaces {
                Namespaces::NotAsked => {}
                Namespaces::Unknown(why) => not_known.push(NotKnown::new(Part::Namespaces, why)),
                Namespaces::Known => {
                    let strays = snapshot.tally.strays.0.iter();
                    namespaces = Some(
                        strays
                            .map(|(name, types)| Suspect::new((name.clone(), types.clone())))
                            .collect(),
                    );
                    not_known.extend(NotKnown::only_within(&snapshot.only_within));
                }
            }
        }
        Behind {
            namespaces,
            volumes,
            attachments,
            not_known,
            filter: scan.filter.clone(),
            now: snapshot.observed_at,
            most,
        }
    }

    /// Whether there is anything to look at.
    pub(super) fn is_open(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|all| !all.is_empty()) || self.has_to_go_through()
    }

    fn has_to_go_through(&self) -> bool {
        counted(self.volumes.as_ref()) > 0 || counted(self.attachments.as_ref()) > 0
    }

    pub(super) async fn run(&mut self, server: &impl Ask, asking: &mut Asking, knowledge: &Knowledge) {
        if self.has_to_go_through() {
            let suspects = match server.suspects() {
                Some(suspects) => suspects,
                None => self.go_through(server, asking).await,
            };
            self.take(suspects);
        }
        for _ in 0..ROUNDS {
            let wanted = self.round(asking, knowledge);
            if wanted.is_empty() || !asking.answer(server, wanted).await {
                return;
            }
        }
    }

    /// A file holds what looked left behind whatever is asked for now.
    fn take(&mut self, suspects: Suspects) {
        let Suspects { volumes, attachments } = suspects;
        let due = |one: &Unreclaimed| self.is_due(&one.volume);
        let kept: Vec<_> = volumes.kept.into_iter().filter(due).collect();
        let lost = |one: &Object| self.is_lost(one);
        let lost: Vec<_> = attachments.kept.into_iter().filter(lost).collect();
        if let Some(sort) = self.volumes.as_mut().filter(|sort| !sort.done) {
            self.not_known
                .extend(volumes.unread.iter().map(|why| not_known(Part::Volumes, why)));
            sort.done = volumes.unread.is_none();
            sort.more = volumes.more;
            sort.list = kept.into_iter().map(Suspect::new).collect();
        }
        if let Some(sort) = self.attachments.as_mut().filter(|sort| !sort.done) {
            self.not_known.extend(
                attachments
                    .unread
                    .iter()
                    .map(|why| not_known(Part::Attachments, why)),
            );
            sort.done = attachments.unread.is_none();
            sort.more = attachments.more;
            sort.list = lost.into_iter().map(Suspect::new).collect();
        }
    }

    fn round(&mut self, asking: &mut Asking, knowledge: &Knowledge) -> Vec<Query> {
        let mut wanted = BTreeSet::new();
        for one in self.namespaces.iter_mut().flatten() {
            one.round(asking, &mut wanted, |(name, strays), facts| {
                leftovers::namespace(name, strays, facts, knowledge)
            });
        }
        for one in self.volumes.iter_mut().flat_map(|all| &mut all.list) {
            one.round(asking, &mut wanted, |volume, facts| {
                unreclaimed(volume, facts, knowledge)
            });
        }
        for one in self.attachments.iter_mut().flat_map(|all| &mut all.list) {
            one.round(asking, &mut wanted, |attachment, facts| {
                leftovers::attachment(attachment, facts, knowledge)
            });
        }
        wanted.into_iter().collect()
    }

    pub(super) fn is_due(&self, volume: &Object) -> bool {
        leftovers::is_unreclaimed(volume, self.now) && self.matches(volume, leftovers::released(volume))
    }

    /// Whether nobody has asked to detach it, if it was asked for.
    pub(super) fn is_lost(&self, attachment: &Object) -> bool {
        attachment.deletion().is_none() && self.matches(attachment, None)
    }

    /// Whether it is one of those that were asked for.
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

    /// What came of it.
    pub(super) fn finish(mut self, asking: &mut Asking, knowledge: &Knowledge, stopped: bool) -> LeftBehind {
        // What was answered last has not been looked at yet.
        self.round(asking, knowledge);
        let mut not_known = self.not_known;
        let told = |part| not_known.iter().any(|one: &NotKnown| one.part == part);
        let untold = |part, counted: u64| {
            (counted > 0 && !told(part)).then(|| NotKnown::not_looked_at(part, counted, stopped))
        };
        let untold = [
            untold(Part::Volumes, counted(self.volumes.as_ref())),
            untold(Part::Attachments, counted(self.attachments.as_ref())),
        ];
        not_known.extend(untold.into_iter().flatten());
        let mut unseen = |part: Part, number: u64| {
            not_known.push(NotKnown::not_looked_at(part, number, stopped));
        };
        let namespaces = self.namespaces.map(|all| {
            let mut missing = Vec::new();
            let mut open = 0;
            for one in all {
                let (name, types) = one.what;
                match one.state {
                    State::Done(Inspection {
                        leftover: Some(left), ..
                    }) => {
                        missing.push(MissingNamespace { name, types, left });
                    }
                    State::Done(looked) => open += u64::from(!looked.gaps.is_empty()),
                    State::Open | State::NotLookedAt => open += 1,
                }
            }
            if open > 0 {
                unseen(Part::Namespaces, open);
            }
            missing
        });
        let facts = asking.facts.as_ref();
        let volumes = self.volumes.map(|all| {
            let look = |one: Suspect<Unreclaimed>| {
                let reference = one.what.volume.reference();
                let left = match one.state {
                    State::Done(looked) => looked.leftover,
                    // That it is left behind is seen; why is not.
                    State::Open | State::NotLookedAt => {
                        facts.and_then(|facts| unreclaimed(&one.what, facts, knowledge).leftover)
                    }
                };
                left.map(|left| (reference, left))
            };
            let first: Vec<_> = all.list.into_iter().filter_map(look).collect();
            LeftObjects {
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
                    State::Done(Inspection {
                        leftover: Some(left), ..
                    }) => first.push((reference, left)),
                    State::Done(looked) => open += u64::from(!looked.gaps.is_empty()),
                    State::Open | State::NotLookedAt => open += 1,
                }
            }
            if open > 0 {
                unseen(Part::Attachments, open);
            }
            LeftObjects {
                count: first.len() as u64,
                first,
            }
        });
        LeftBehind {
            namespaces,
            volumes,
            attachments,
            not_known,
        }
    }
}

impl<T> Sort<T> {
    fn new(counted: u64, done: bool) -> Self {
        Sort {
            counted,
            done,
            list: Vec::new(),
            more: 0,
        }
    }
}

/// How many objects there are to go through.
pub(super) fn counted<T>(sort: Option<&Sort<T>>) -> u64 {
    sort.filter(|sort| !sort.done).map_or(0, |sort| sort.counted)
}

fn unreclaimed(one: &Unreclaimed, facts: &Facts, knowledge: &Knowledge) -> Inspection {
    leftovers::unreclaimed(&one.volume, one.attached.as_deref(), facts, knowledge)
}

fn not_known(part: Part, unread: &Unread) -> NotKnown {
    match unread {
        Unread::TooMany => NotKnown::too_many(part),
        Unread::Fault(why) => NotKnown::new(part, why),
    }
}
