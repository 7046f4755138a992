//! What was left behind: objects in namespaces that do not exist, volumes whose disks nobody deletes, attachments to
//! nodes or of volumes that are gone.
//!
//! The scan has counted the first. For the others specs are needed, and there may be very many: they are read a page
//! at a time, and only what looks left behind is kept. Of all names that something may refer to nothing but a hash is
//! kept; whoever refers to none of them is looked at once more by name.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::{BuildHasher as _, RandomState},
};

use jiff::Timestamp;

use super::{
    ROUNDS,
    asking::{Ask, Asking, Refused},
};
use crate::{
    diagnose::left::{self, Looked},
    knowledge::Knowledge,
    report::left::{LeftBehind, LeftObjects, MissingNamespace, NotKnown, Part},
    settings::Scan,
    snapshot::{
        Filter, Namespaces, Snapshot, Stray, What, Why,
        facts::{Facts, Object, Query, Resource},
    },
};

/// What is looked for.
pub(super) struct Behind {
    namespaces: Option<Vec<Suspect<(String, BTreeMap<String, Stray>)>>>,
    volumes: Option<Suspects>,
    attachments: Option<Suspects>,
    not_known: Vec<NotKnown>,
    filter: Filter,
    now: Timestamp,
    most: usize,
}

/// Objects that look left behind.
#[derive(Default)]
struct Suspects {
    /// How many the scan counted.
    counted: u64,
    /// Whether all of them were gone through.
    done: bool,
    list: Vec<Suspect<Suspected>>,
    /// Others, of which there was no room for more than their number.
    more: u64,
}

struct Suspected {
    object: Object,
    /// The attachments that name it, if it is a volume; none if they were not read.
    attached: Option<Vec<Object>>,
}

struct Suspect<T> {
    what: T,
    state: State,
}

enum State {
    Open,
    Done(Looked),
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
        look: impl Fn(&T, &Facts) -> Looked,
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
        let mut suspects = |plural: &str, part: Part| {
            let name = Resource::new(part.group(), plural).name();
            let missed = snapshot.gaps.iter().find(
                |gap| matches!(&gap.what, What::Type { name: missed, .. } | What::TypeOutside { name: missed, .. } if *missed == name),
            );
            if let Some(gap) = missed {
                not_known.push(NotKnown::new(part, &gap.why));
                return None;
            }
            let read = snapshot.types.iter().find(|read| read.ty.name() == name)?;
            Some(Suspects {
                counted: read.objects,
                ..Suspects::default()
            })
        };
        let (mut volumes, mut attachments) = (None, None);
        // Asked only for what is being deleted, nobody wants to know of what is not.
        if !scan.view.terminating {
            volumes = suspects("persistentvolumes", Part::Volumes);
            attachments = suspects("volumeattachments", Part::Attachments);
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
        let any =
            |suspects: &Option<Suspects>| suspects.as_ref().is_some_and(|suspects| suspects.counted > 0);
        self.namespaces.as_ref().is_some_and(|all| !all.is_empty())
            || any(&self.volumes)
            || any(&self.attachments)
    }

    pub(super) async fn run(&mut self, server: &impl Ask, asking: &mut Asking, knowledge: &Knowledge) {
        self.go_through(server, asking).await;
        for _ in 0..ROUNDS {
            let wanted = self.round(asking, knowledge);
            if wanted.is_empty() || !asking.answer(server, wanted).await {
                return;
            }
        }
    }

    fn round(&mut self, asking: &mut Asking, knowledge: &Knowledge) -> Vec<Query> {
        let mut wanted = BTreeSet::new();
        for one in self.namespaces.iter_mut().flatten() {
            one.round(asking, &mut wanted, |(name, strays), facts| {
                left::namespace(name, strays, facts, knowledge)
            });
        }
        for one in self.volumes.iter_mut().flat_map(|all| &mut all.list) {
            one.round(asking, &mut wanted, |volume, facts| {
                left::unreclaimed(&volume.object, volume.attached.as_deref(), facts, knowledge)
            });
        }
        for one in self.attachments.iter_mut().flat_map(|all| &mut all.list) {
            one.round(asking, &mut wanted, |attachment, facts| {
                left::attachment(&attachment.object, facts, knowledge)
            });
        }
        wanted.into_iter().collect()
    }

    /// Goes through volumes and attachments. What an attachment may name is read before it: what is created meanwhile
    /// is then looked at by name, and nothing that exists is missed.
    async fn go_through(&mut self, server: &impl Ask, asking: &mut Asking) {
        let counted = |suspects: &Option<Suspects>| suspects.as_ref().map_or(0, |suspects| suspects.counted);
        let attached = counted(&self.attachments) > 0;
        let hasher = RandomState::new();
        let hash = |name: &str| hasher.hash_one(name);
        let (mut nodes, mut volumes) = (HashSet::new(), HashSet::new());
        let mut known = Ok(());
        if attached {
            let mut note = |node: Object| {
                nodes.insert(hash(node.name()));
            };
            known = each(server, asking, "nodes", "", false, &mut note).await;
        }
        let mut unreclaimed = Vec::new();
        let mut more = 0;
        if attached || counted(&self.volumes) > 0 {
            let mut note = |volume: Object| {
                volumes.insert(hash(volume.name()));
                let counts = self.volumes.is_some() && self.is_due(&volume);
                if counts && unreclaimed.len() < self.most {
                    unreclaimed.push(volume);
                } else {
                    more += u64::from(counts);
                }
            };
            let read = each(server, asking, "persistentvolumes", "", true, &mut note).await;
            if let Some(suspects) = &mut self.volumes {
                suspects.done = read.is_ok();
                if let Err(refused) = &read {
                    self.not_known.push(not_known(Part::Volumes, refused));
                }
            }
            known = known.and(read);
        } else if let Some(suspects) = &mut self.volumes {
            suspects.done = true;
        }
        let names: BTreeMap<String, usize> = unreclaimed
            .iter()
            .enumerate()
            .map(|(at, volume)| (volume.name().to_owned(), at))
            .collect();
        let mut attached_to: Vec<Vec<Object>> = vec![Vec::new(); unreclaimed.len()];
        let mut lost = Vec::new();
        let mut lost_more = 0;
        let mut read = Ok(());
        if attached || !unreclaimed.is_empty() {
            let mut note = |attachment: Object| {
                let volume = attachment.text("/spec/source/persistentVolumeName");
                let gone =
                    |names: &HashSet<u64>, name: &str| !name.is_empty() && !names.contains(&hash(name));
                let counts = gone(&nodes, attachment.text("/spec/nodeName")) || gone(&volumes, volume);
                if attached && counts && self.matches(&attachment, None) && attachment.deletion().is_none() {
                    if lost.len() < self.most {
                        lost.push(attachment.clone());
                    } else {
                        lost_more += 1;
                    }
                }
                if let Some(&at) = names.get(volume) {
                    attached_to[at].push(attachment);
                }
            };
            read = each(
                server,
                asking,
                "volumeattachments",
                "storage.k8s.io",
                true,
                &mut note,
            )
            .await;
        }
        let attachments_read = read.is_ok();
        if let Some(suspects) = &mut self.attachments {
            match known.and(read) {
                Ok(()) => {
                    suspects.done = true;
                    let suspected = |object| Suspected {
                        object,
                        attached: None,
                    };
                    suspects.list = lost.into_iter().map(suspected).map(Suspect::new).collect();
                    suspects.more = lost_more;
                }
                Err(refused) => self.not_known.push(not_known(Part::Attachments, &refused)),
            }
        }
        if let Some(suspects) = &mut self.volumes {
            suspects.more = more;
            let suspected = |(object, attached): (Object, Vec<Object>)| Suspected {
                object,
                attached: attachments_read.then_some(attached),
            };
            let each = unreclaimed.into_iter().zip(attached_to);
            suspects.list = each.map(suspected).map(Suspect::new).collect();
        }
    }

    fn is_due(&self, volume: &Object) -> bool {
        left::is_unreclaimed(volume, self.now) && self.matches(volume, left::released(volume))
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
        let untold = |part, suspects: &Option<Suspects>| {
            suspects
                .as_ref()
                .filter(|all| !all.done && all.counted > 0 && !told(part))
                .map(|all| NotKnown::not_looked_at(part, all.counted, stopped))
        };
        let untold = [
            untold(Part::Volumes, &self.volumes),
            untold(Part::Attachments, &self.attachments),
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
                    State::Done(Looked { left: Some(left), .. }) => {
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
            let look = |one: Suspect<Suspected>| {
                let reference = one.what.object.reference();
                let left = match one.state {
                    State::Done(looked) => looked.left,
                    // That it is left behind is seen; why is not.
                    State::Open | State::NotLookedAt => facts.and_then(|facts| {
                        let volume = &one.what;
                        left::unreclaimed(&volume.object, volume.attached.as_deref(), facts, knowledge).left
                    }),
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
                let reference = one.what.object.reference();
                match one.state {
                    State::Done(Looked { left: Some(left), .. }) => first.push((reference, left)),
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

fn not_known(part: Part, refused: &Refused) -> NotKnown {
    match refused {
        Refused::TooMany => NotKnown::too_many(part),
        Refused::Fault(why) => NotKnown::new(part, why),
    }
}

async fn each(
    server: &impl Ask,
    asking: &mut Asking,
    plural: &str,
    group: &str,
    whole: bool,
    visit: &mut dyn FnMut(Object),
) -> Result<(), Refused> {
    let resource = Resource::new(group, plural);
    let ty = asking
        .facts
        .as_ref()
        .and_then(|facts| facts.resource_type(&resource));
    match ty.cloned() {
        Some(ty) => asking.each(server, &ty, whole, visit).await,
        None => Err(Refused::Fault(Why::Vanished)),
    }
}
