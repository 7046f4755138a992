//! Asking the server for more, within limits.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use tokio::time::timeout;

use super::bundle::{Counts, bundled, pages, spread};
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

/// Queries that are sent together. What has been answered survives when the time is up.
const TOGETHER: usize = 24;

/// How much a look may cost.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Limits {
    /// Requests at most, those for the objects themselves among them.
    pub(in crate::run) requests: usize,
    /// Objects of each sort at most: they are held whole.
    pub(in crate::run) objects: usize,
    /// Time at most.
    pub(in crate::run) longest: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            requests: 400,
            objects: 500,
            longest: Duration::from_secs(20),
        }
    }
}

/// Who is asked.
pub(in crate::run) trait Ask {
    /// Its types.
    async fn first_look(&self) -> Result<Facts, Error>;
    /// Adds the answers to the facts. False if there is no use in going on without those that are missing.
    async fn answer(&self, queries: Vec<Query>, facts: &mut Facts) -> bool;
    /// Shows every object of a type, whole or its metadata, and keeps none.
    async fn each(&self, ty: &ResourceType, whole: bool, visit: &mut dyn FnMut(Object)) -> Result<(), Why>;
    /// Whether it is a file that has its answers ready: asking it much costs nothing, and for lists it may lack much.
    fn is_dump(&self) -> bool {
        false
    }
    /// What looked left behind when a file was made; none from who can still be asked.
    fn suspects(&self) -> Option<StorageLeftovers> {
        None
    }
}

impl Ask for Witness<'_> {
    async fn first_look(&self) -> Result<Facts, Error> {
        Witness::first_look(self).await
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

    fn suspects(&self) -> Option<StorageLeftovers> {
        let saved = match self {
            Witness::Server(_) => return None,
            Witness::Dump(..) => None,
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => saved.leftovers.as_ref(),
        };
        Some(saved.map_or_else(
            || StorageLeftovers::unread(&Why::NotInDump),
            |leftovers| leftovers.storage.clone(),
        ))
    }
}

/// What has been answered so far, and what may still be asked.
pub(super) struct Asking {
    pub(super) facts: Option<Facts>,
    /// What the scan itself learned of the types, if it asked for all of them.
    known: Option<Facts>,
    /// Objects of each type, as the scan counted them.
    counts: Counts,
    left: usize,
    limits: Limits,
    began: Instant,
}

/// What a scan of everything has learned of the server's types. One of chosen types has not kept the others.
fn known(snapshot: &Snapshot) -> Facts {
    let of_discovery = |gap: &&crate::snapshot::Gap| {
        matches!(
            gap.what,
            What::Discovery | What::CoreGroup | What::Groups | What::GroupVersion { .. }
        )
    };
    Facts {
        now: snapshot.observed_at,
        types: snapshot.types.iter().map(|read| read.ty.clone()).collect(),
        gaps: snapshot.gaps.iter().filter(of_discovery).cloned().collect(),
        answers: BTreeMap::new(),
    }
}

impl Asking {
    /// `all_types` says that every type of the server was asked for: a scan of one namespace knows nothing of nodes.
    pub(super) fn new(snapshot: &Snapshot, all_types: bool, limits: Limits) -> Self {
        Asking {
            facts: None,
            known: all_types.then(|| known(snapshot)),
            counts: snapshot
                .types
                .iter()
                .map(|read| (read.ty.name(), read.objects))
                .collect(),
            left: limits.requests,
            limits,
            began: Instant::now(),
        }
    }

    /// Learns the server's types. Without them nothing can be concluded from what is not there.
    pub(super) async fn begin(&mut self, server: &impl Ask) -> bool {
        self.began = Instant::now();
        self.facts = match self.known.take() {
            Some(facts) => Some(facts),
            None => match timeout(self.limits.longest, server.first_look()).await {
                Ok(Ok(facts)) => Some(facts),
                _ => None,
            },
        };
        self.facts.is_some()
    }

    /// Nothing more is asked.
    pub(super) fn close(&mut self) {
        self.left = 0;
    }

    /// Takes so many requests from what may still be asked, if there are as many.
    pub(super) fn pay(&mut self, requests: usize) -> bool {
        let enough = requests <= self.left;
        if enough {
            self.left -= requests;
        }
        enough
    }

    /// Reads as much of this as can still be paid for.
    pub(super) async fn read(&mut self, server: &impl Ask, wanted: &BTreeSet<Query>) {
        let mut queries: Vec<_> = self.bundled(wanted).into_iter().collect();
        queries.truncate(self.left);
        let price = self.price(queries.iter());
        self.left = self.left.saturating_sub(price);
        self.answer(server, queries).await;
        if let Some(facts) = &mut self.facts {
            spread(wanted, facts);
        }
    }

    /// Adds what one object wants to what is read next, if all of it together can be paid for. What many want may be
    /// cheaper together than what a few want.
    pub(super) fn admit(&mut self, wants: &BTreeSet<Query>, admitted: &mut BTreeSet<Query>) -> bool {
        if wants.is_subset(admitted) {
            return true;
        }
        let all: BTreeSet<_> = admitted.union(wants).cloned().collect();
        let before = self.price(&self.bundled(admitted));
        let after = self.price(&self.bundled(&all));
        if after > before + self.left {
            return false;
        }
        self.left = self.left + before - after;
        *admitted = all;
        true
    }

    fn bundled(&self, queries: &BTreeSet<Query>) -> BTreeSet<Query> {
        match &self.facts {
            Some(facts) => bundled(queries, &self.counts, facts),
            None => queries.clone(),
        }
    }

    fn price<'a>(&self, queries: impl IntoIterator<Item = &'a Query>) -> usize {
        queries.into_iter().map(|query| self.cost(query)).sum()
    }

    /// Requests that a query takes.
    fn cost(&self, query: &Query) -> usize {
        match query {
            Query::Object { .. } | Query::Events { .. } | Query::Search { .. } => 1,
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

    /// Answers the queries, a part at a time. Whether there was time for all.
    pub(super) async fn answer(&mut self, server: &impl Ask, queries: Vec<Query>) -> bool {
        let rest = self.limits.longest;
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
        for part in queries.chunks(TOGETHER) {
            let rest = rest.saturating_sub(began.elapsed());
            match timeout(rest, server.answer(part.to_vec(), facts)).await {
                Ok(answered) => all &= answered,
                Err(_) => return false,
            }
        }
        spread(&wanted, facts);
        all
    }

    /// Shows every object of a type to `visit`, as far as time and requests go.
    pub(super) async fn each(
        &mut self,
        server: &impl Ask,
        ty: &ResourceType,
        whole: bool,
        visit: &mut dyn FnMut(Object),
    ) -> Result<(), Unread> {
        let pages = pages(&ty.name(), &self.counts);
        if !self.pay(pages) {
            return Err(Unread::TooMany);
        }
        let rest = self.limits.longest.saturating_sub(self.began.elapsed());
        match timeout(rest, server.each(ty, whole, visit)).await {
            Ok(done) => done.map_err(Unread::Fault),
            Err(_) => Err(Unread::TooMany),
        }
    }
}
