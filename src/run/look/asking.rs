//! Reads more from the server, within limits.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use tokio::time::timeout;

use super::bundle::{Counts, answer_from_lists, bundled, pages};
use crate::{
    cluster,
    error::Error,
    object::ResourceType,
    run::witness::Witness,
    snapshot::{
        Snapshot, What, Why,
        facts::{Facts, Object, Query, Where},
        storage_leftovers::{StorageLeftovers, Unread},
    },
};

/// Number of queries in one batch. Answers of finished batches survive when the time is up.
const MAX_QUERIES_AT_ONCE: usize = 24;

/// The limits of an investigation.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Limits {
    /// Maximum number of requests, including those for the objects themselves.
    pub(in crate::run) requests: usize,
    /// Maximum number of objects of each kind. They are kept whole in memory.
    pub(in crate::run) objects: usize,
    /// Maximum time.
    pub(in crate::run) max_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            requests: 400,
            objects: 500,
            max_time: Duration::from_secs(20),
        }
    }
}

/// A source of answers: a server or a file.
pub(in crate::run) trait Ask {
    /// The types, and what could not be learned about them.
    async fn initial_facts(&self) -> Result<Facts, Error>;
    /// Adds the answers to the facts. False if continuing without the missing answers is pointless.
    async fn answer(&self, queries: Vec<Query>, facts: &mut Facts) -> bool;
    /// Passes every object of a type to `visit`, whole or only its metadata, and keeps none.
    async fn each(&self, ty: &ResourceType, whole: bool, visit: &mut dyn FnMut(Object)) -> Result<(), Why>;
    /// Whether this is a file with all its answers ready. Many queries then cost nothing, but lists may be
    /// incomplete.
    fn is_dump(&self) -> bool {
        false
    }
    /// The leftover candidates from the time a file was made; none for a live server.
    fn leftover_candidates(&self) -> Option<StorageLeftovers> {
        None
    }
}

impl Ask for Witness<'_> {
    async fn initial_facts(&self) -> Result<Facts, Error> {
        Witness::initial_facts(self).await
    }

    async fn answer(&self, queries: Vec<Query>, facts: &mut Facts) -> bool {
        Witness::answer(self, queries, facts).await
    }

    async fn each(&self, ty: &ResourceType, whole: bool, visit: &mut dyn FnMut(Object)) -> Result<(), Why> {
        match self {
            Witness::Server(server) => cluster::each(server, ty, whole, visit).await,
            Witness::Dump(..) | Witness::Saved(_) | Witness::Unfinished(..) => Err(Why::NotInDump),
        }
    }

    fn is_dump(&self) -> bool {
        matches!(self, Witness::Dump(..))
    }

    fn leftover_candidates(&self) -> Option<StorageLeftovers> {
        let saved = match self {
            Witness::Server(_) => return None,
            Witness::Dump(..) => None,
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => saved.leftovers.as_ref(),
        };
        Some(saved.map_or_else(
            || StorageLeftovers::unread(&Why::NotInDump),
            |remains| remains.storage.clone(),
        ))
    }
}

/// Reads answers within the limits and keeps them.
pub(super) struct LimitedReader {
    pub(super) facts: Option<Facts>,
    /// The types from the scan, if it asked for all of them.
    known: Option<Facts>,
    /// Number of objects of each type, from the scan.
    counts: Counts,
    remaining_requests: usize,
    limits: Limits,
    began: Instant,
}

/// The server's types as a full scan learned them. A scan of chosen types does not keep the others.
fn types_known_to(snapshot: &Snapshot) -> Facts {
    let of_discovery = |gap: &&crate::snapshot::Gap| {
        matches!(
            gap.what,
            What::Discovery | What::CoreGroup | What::Groups | What::GroupVersion { .. }
        )
    };
    Facts {
        redacted: false,
        now: snapshot.observed_at,
        types: snapshot.types.iter().map(|read| read.ty.clone()).collect(),
        gaps: snapshot.gaps.iter().filter(of_discovery).cloned().collect(),
        answers: BTreeMap::new(),
        kept: 0,
    }
}

impl LimitedReader {
    /// `all_types` says that the scan asked for every type. A scan of one namespace knows nothing about
    /// nodes.
    pub(super) fn new(snapshot: &Snapshot, all_types: bool, limits: Limits) -> Self {
        LimitedReader {
            facts: None,
            known: all_types.then(|| types_known_to(snapshot)),
            counts: snapshot
                .types
                .iter()
                .map(|read| (read.ty.name(), read.objects))
                .collect(),
            remaining_requests: limits.requests,
            limits,
            began: Instant::now(),
        }
    }

    /// Learns the server's types. Without them, a missing object proves nothing.
    pub(super) async fn begin(&mut self, server: &impl Ask) -> bool {
        self.began = Instant::now();
        self.facts = match self.known.take() {
            Some(facts) => Some(facts),
            None => match timeout(self.limits.max_time, server.initial_facts()).await {
                Ok(Ok(facts)) => Some(facts),
                _ => None,
            },
        };
        self.facts.is_some()
    }

    /// Stops all further reads.
    pub(super) fn close(&mut self) {
        self.remaining_requests = 0;
    }

    /// Takes requests from the budget, if enough are left.
    pub(super) fn spend(&mut self, requests: usize) -> bool {
        let enough = requests <= self.remaining_requests;
        if enough {
            self.remaining_requests -= requests;
        }
        enough
    }

    /// Reads as many of these queries as the budget allows.
    pub(super) async fn read(&mut self, server: &impl Ask, wanted: &BTreeSet<Query>) {
        let mut queries: Vec<_> = self.bundled(wanted).into_iter().collect();
        queries.truncate(self.remaining_requests);
        let cost_of_all = self.cost_of_all(queries.iter());
        self.remaining_requests = self.remaining_requests.saturating_sub(cost_of_all);
        self.answer(server, queries).await;
        if let Some(facts) = &mut self.facts {
            answer_from_lists(wanted, facts);
        }
    }

    /// Adds the queries of one object to the next round, if the budget covers all of them together. Queries
    /// of many objects together can be cheaper than those of a few.
    pub(super) fn admit(&mut self, wants: &BTreeSet<Query>, admitted: &mut BTreeSet<Query>) -> bool {
        if wants.is_subset(admitted) {
            return true;
        }
        let all: BTreeSet<_> = admitted.union(wants).cloned().collect();
        let before = self.cost_of_all(&self.bundled(admitted));
        let after = self.cost_of_all(&self.bundled(&all));
        if after > before + self.remaining_requests {
            return false;
        }
        self.remaining_requests = self.remaining_requests + before - after;
        *admitted = all;
        true
    }

    fn bundled(&self, queries: &BTreeSet<Query>) -> BTreeSet<Query> {
        match &self.facts {
            Some(facts) => bundled(queries, &self.counts, facts),
            None => queries.clone(),
        }
    }

    fn cost_of_all<'a>(&self, queries: impl IntoIterator<Item = &'a Query>) -> usize {
        queries.into_iter().map(|query| self.cost(query)).sum()
    }

    /// Number of requests that a query takes.
    fn cost(&self, query: &Query) -> usize {
        match query {
            Query::Object { .. } | Query::Events { .. } | Query::Search { .. } | Query::Version => 1,
            Query::List { resource, .. } => pages(&resource.name(), &self.counts),
            Query::Owned(Where::Owner(_)) => self
                .facts
                .iter()
                .flat_map(|facts| &facts.types)
                .map(|ty| pages(&ty.name(), &self.counts))
                .sum(),
            Query::Content { .. } | Query::Owned(Where::Namespace(_)) => self
                .facts
                .iter()
                .flat_map(|facts| &facts.types)
                .filter(|ty| ty.namespaced)
                .count(),
        }
    }

    /// Answers the queries in batches. Returns whether there was time for all.
    pub(super) async fn answer(&mut self, server: &impl Ask, queries: Vec<Query>) -> bool {
        let rest = self.limits.max_time;
        let began = self.began;
        let wanted: BTreeSet<_> = queries.into_iter().collect();
        let queries: Vec<_> = if server.is_dump() {
            wanted.iter().cloned().collect()
        } else {
            self.bundled(&wanted).into_iter().collect()
        };
        let Some(facts) = &mut self.facts else {
            return false;
        };
        let mut all = true;
        for part in queries.chunks(MAX_QUERIES_AT_ONCE) {
            let rest = rest.saturating_sub(began.elapsed());
            match timeout(rest, server.answer(part.to_vec(), facts)).await {
                Ok(answered) => all &= answered,
                Err(_) => return false,
            }
        }
        answer_from_lists(&wanted, facts);
        all
    }

    /// Passes every object of a type to `visit`, within the limits.
    pub(super) async fn each(
        &mut self,
        server: &impl Ask,
        ty: &ResourceType,
        whole: bool,
        visit: &mut dyn FnMut(Object),
    ) -> Result<(), Unread> {
        let pages = pages(&ty.name(), &self.counts);
        if !self.spend(pages) {
            return Err(Unread::TooMany);
        }
        let rest = self.limits.max_time.saturating_sub(self.began.elapsed());
        match timeout(rest, server.each(ty, whole, visit)).await {
            Ok(done) => done.map_err(Unread::Fault),
            Err(_) => Err(Unread::TooMany),
        }
    }
}
