//! Who must remove each finalizer that is in use. One object stands for all of its type that carry it, so that what is
//! asked grows with the finalizers in use and not with the objects.

use std::collections::{BTreeMap, BTreeSet};

use super::asking::{Ask, Asking};
use crate::{
    diagnose::{
        self,
        holder::{distinguishing_driver, find},
        view::View,
    },
    knowledge::Knowledge,
    object::Finalizer,
    report::holders::{CameOfIt, Sought},
    snapshot::{
        Crowd, Snapshot,
        facts::{Answer, Facts, Object, Query},
    },
};

/// The finalizers in use, each once for each type, and for each CSI driver where each has a holder of its own.
pub(super) struct Holders {
    sought: Vec<Open>,
}

struct Open {
    type_name: String,
    finalizer: Finalizer,
    driver: Option<String>,
    /// The object that stands for all: as the scan has seen it, and whole once it has been read.
    object: Object,
    query: Query,
    state: State,
}

enum State {
    Open,
    Done(Box<CameOfIt>),
    NotLookedAt,
}

impl Holders {
    pub(super) fn new(snapshot: &Snapshot, knowledge: &Knowledge) -> Self {
        let mut first: BTreeMap<(&str, &Finalizer, Option<&str>), &Crowd> = BTreeMap::new();
        for (on, crowds) in &snapshot.tally.crowds.0 {
            for (alike, crowd) in crowds {
                for finalizer in &alike.finalizers {
                    let driver = distinguishing_driver(finalizer, on, alike, knowledge);
                    let known = first.entry((&on.name, finalizer, driver)).or_insert(crowd);
                    if crowd.rank() < known.rank() {
                        *known = crowd;
                    }
                }
            }
        }
        let mut sought: Vec<_> = first.into_iter().collect();
        // If not all can be looked for, then those first that hold back what has been going for the longest time.
        sought.sort_by_key(|(_, crowd)| crowd.rank());
        let open =
            |((type_name, finalizer, driver), crowd): ((&str, &Finalizer, Option<&str>), &Crowd)| Open {
                type_name: type_name.to_owned(),
                finalizer: finalizer.clone(),
                driver: driver.map(str::to_owned),
                object: Object::from(&crowd.first),
                query: Query::of(&crowd.first.object),
                state: State::Open,
            };
        Holders {
            sought: sought.into_iter().map(open).collect(),
        }
    }

    /// Whether there is anything to look for.
    pub(super) fn is_open(&self) -> bool {
        !self.sought.is_empty()
    }

    /// How many are done with, and how many there are.
    pub(super) fn progress(&self) -> (usize, usize) {
        let done = |one: &&Open| !matches!(one.state, State::Open);
        (self.sought.iter().filter(done).count(), self.sought.len())
    }

    /// The objects themselves: who wrote to them tells something of their holders.
    pub(super) async fn fetch(&mut self, server: &impl Ask, asking: &mut Asking) {
        let wanted: BTreeSet<_> = self.sought.iter().map(|one| one.query.clone()).collect();
        asking.read(server, &wanted).await;
        let Some(facts) = &asking.facts else { return };
        for one in &mut self.sought {
            // One that cannot be read or has gone by now still is as the scan has seen it.
            if let Some(Ok(Answer::Object(Some(object)))) = facts.answers.get(&one.query)
                && object.uid() == one.object.uid()
            {
                one.object = (**object).clone();
            }
        }
    }

    /// Looks for every holder that is not yet known and returns what that wants to see, as far as the rest of the
    /// requests goes.
    pub(super) fn round(&mut self, asking: &mut Asking, knowledge: &Knowledge) -> Vec<Query> {
        let mut wants = Vec::new();
        if let Some(facts) = &asking.facts {
            let view = diagnose::view(facts, knowledge);
            for one in &mut self.sought {
                if matches!(one.state, State::Open) {
                    let wanted = one.look(&view, facts);
                    if !wanted.is_empty() {
                        wants.push((one, wanted));
                    }
                }
            }
        }
        let mut admitted = BTreeSet::new();
        for (one, wanted) in wants {
            if !asking.admit(&wanted, &mut admitted) {
                one.state = State::NotLookedAt;
            }
        }
        admitted.into_iter().collect()
    }

    /// What came of it.
    pub(super) fn finish(mut self, asking: &mut Asking, knowledge: &Knowledge) -> Vec<Sought> {
        self.round(asking, knowledge);
        self.sought
            .into_iter()
            .map(|one| Sought {
                type_name: one.type_name,
                finalizer: one.finalizer,
                driver: one.driver,
                came_of_it: match one.state {
                    State::Done(came_of_it) => Some(*came_of_it),
                    State::Open | State::NotLookedAt => None,
                },
            })
            .collect()
    }
}

impl Open {
    fn look(&mut self, view: &View<'_>, facts: &Facts) -> BTreeSet<Query> {
        view.begin();
        let found = find(&self.object, &self.finalizer, self.driver.as_deref(), view);
        let wanted = view.wanted();
        if wanted.is_empty() {
            let mut gaps = view.gaps();
            if let Some(Err(why)) = facts.answers.get(&self.query) {
                gaps.push(super::stuck::gap(&self.object.reference(), why));
            }
            self.state = State::Done(Box::new(CameOfIt { found, gaps }));
        }
        wanted
    }
}
