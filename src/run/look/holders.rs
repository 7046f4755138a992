//! Finds the controller that must remove each finalizer in use. One sample object stands for all objects of
//! its type with that finalizer. So the number of requests grows with the finalizers, not with the objects.

use std::collections::{BTreeMap, BTreeSet};

use super::asking::{Ask, LimitedReader};
use crate::{
    diagnose::{
        self,
        holder::{distinguishing_driver, find},
        view::View,
    },
    knowledge::Knowledge,
    object::Finalizer,
    report::holders::{HolderSearch, HolderSearchResult},
    snapshot::{
        Crowd, Snapshot,
        facts::{Answer, Facts, Object, Query},
    },
};

/// The searches: one for each finalizer and type, and for each CSI driver if every driver has a controller of
/// its own.
pub(super) struct HolderSearches {
    searches: Vec<Search>,
}

struct Search {
    type_name: String,
    finalizer: Finalizer,
    driver: Option<String>,
    /// The sample object: as the scan saw it, then whole once it has been read.
    object: Object,
    query: Query,
    state: SearchState,
}

enum SearchState {
    Open,
    Done(Box<HolderSearchResult>),
    NotLookedAt,
}

impl HolderSearches {
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
        let mut searches: Vec<_> = first.into_iter().collect();
        // If there is no room for all, those that block the longest terminating objects come first.
        searches.sort_by_key(|(_, crowd)| crowd.rank());
        let open =
            |((type_name, finalizer, driver), crowd): ((&str, &Finalizer, Option<&str>), &Crowd)| Search {
                type_name: type_name.to_owned(),
                finalizer: finalizer.clone(),
                driver: driver.map(str::to_owned),
                object: Object::from(&crowd.first),
                query: Query::of(&crowd.first.object),
                state: SearchState::Open,
            };
        HolderSearches {
            searches: searches.into_iter().map(open).collect(),
        }
    }

    /// Whether there is anything to search.
    pub(super) fn is_open(&self) -> bool {
        !self.searches.is_empty()
    }

    /// The number of finished searches, and of all searches.
    pub(super) fn progress(&self) -> (usize, usize) {
        let done = |one: &&Search| !matches!(one.state, SearchState::Open);
        (self.searches.iter().filter(done).count(), self.searches.len())
    }

    /// Reads the sample objects: their field managers are evidence about the controllers.
    pub(super) async fn fetch(&mut self, server: &impl Ask, reader: &mut LimitedReader) {
        let wanted: BTreeSet<_> = self.searches.iter().map(|one| one.query.clone()).collect();
        reader.read(server, &wanted).await;
        let Some(facts) = &reader.facts else { return };
        for one in &mut self.searches {
            // If the object cannot be read, or is gone, the scan's copy still counts.
            if let Some(Ok(Answer::Object(Some(object)))) = facts.answers.get(&one.query)
                && object.uid() == one.object.uid()
            {
                one.object = (**object).clone();
            }
        }
    }

    /// Continues every open search and returns the queries that they want, as far as the budget goes.
    pub(super) fn round(&mut self, reader: &mut LimitedReader, knowledge: &Knowledge) -> Vec<Query> {
        let mut wants = Vec::new();
        if let Some(facts) = &reader.facts {
            let view = diagnose::view(facts, knowledge);
            for one in &mut self.searches {
                if matches!(one.state, SearchState::Open) {
                    let wanted = one.find_holder(&view, facts);
                    if !wanted.is_empty() {
                        wants.push((one, wanted));
                    }
                }
            }
        }
        let mut admitted = BTreeSet::new();
        for (one, wanted) in wants {
            if !reader.admit(&wanted, &mut admitted) {
                one.state = SearchState::NotLookedAt;
            }
        }
        admitted.into_iter().collect()
    }

    /// Returns the results.
    pub(super) fn finish(mut self, reader: &mut LimitedReader, knowledge: &Knowledge) -> Vec<HolderSearch> {
        self.round(reader, knowledge);
        self.searches
            .into_iter()
            .map(|one| HolderSearch {
                type_name: one.type_name,
                finalizer: one.finalizer,
                driver: one.driver,
                result: match one.state {
                    SearchState::Done(result) => Some(*result),
                    SearchState::Open | SearchState::NotLookedAt => None,
                },
            })
            .collect()
    }
}

impl Search {
    fn find_holder(&mut self, view: &View<'_>, facts: &Facts) -> BTreeSet<Query> {
        view.begin();
        let found = find(&self.object, &self.finalizer, self.driver.as_deref(), view);
        let wanted = view.wanted();
        if wanted.is_empty() {
            let mut gaps = view.gaps();
            if let Some(Err(why)) = facts.answers.get(&self.query) {
                gaps.push(super::stuck::gap(&self.object.reference(), why));
            }
            self.state = SearchState::Done(Box::new(HolderSearchResult { found, gaps }));
        }
        wanted
    }
}
