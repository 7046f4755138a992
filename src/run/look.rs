//! Investigates the result of a scan: why each terminating object still exists, and what deletions left
//! behind. The objects share reads, and the number of requests has a limit. So the load on a cluster with
//! hundreds of stuck objects stays low.

#[cfg(test)]
pub(crate) mod agreement;
mod asking;
mod bundle;
mod holders;
mod leftover_candidates;
mod leftovers;
#[cfg(test)]
mod recorded;
mod stuck;
mod stuck_in_dump;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, rc::Rc};

pub(super) use self::{asking::Limits, stuck_in_dump::examine};
use self::{
    asking::{Ask, LimitedReader},
    holders::HolderSearches,
    leftovers::LeftoverSearch,
    stuck::StuckObjects,
};
use crate::{
    knowledge::Knowledge,
    report::{causes::Examined, holders::HolderSearch, leftovers::Leftovers},
    settings::{Scan, Scope},
    snapshot::{Snapshot, storage_leftovers::StorageLeftovers},
};

/// Maximum number of rounds. A chain of waits is rarely longer than four.
const MAX_ROUNDS: usize = 12;

/// The investigation of a scan's result.
pub(super) struct Investigation {
    reader: LimitedReader,
    stuck: StuckObjects,
    leftovers: LeftoverSearch,
    /// If set, only the controllers are searched.
    holders: Option<HolderSearches>,
    doing: Rc<RefCell<String>>,
}

/// The result of an investigation.
pub(super) struct Findings<'a> {
    /// Why the terminating objects still exist.
    pub(super) examined: Vec<Examined<'a>>,
    /// The leftovers.
    pub(super) leftovers: Leftovers,
    /// The controllers, if requested.
    pub(super) holders: Option<Vec<HolderSearch>>,
}

impl Investigation {
    /// Prepares the investigation of this scan. It reads nothing yet.
    pub(super) fn new(snapshot: &Snapshot, scan: &Scan, limits: Limits, knowledge: &Knowledge) -> Self {
        let all_types = scan.types.is_empty() && scan.exclude.is_empty() && scan.scope == Scope::All;
        Investigation {
            stuck: StuckObjects::new(snapshot, scan.is_narrowed(), limits.objects),
            leftovers: LeftoverSearch::new(snapshot, scan, limits.objects),
            holders: scan
                .view
                .is_by_holder()
                .then(|| HolderSearches::new(snapshot, knowledge)),
            reader: LimitedReader::new(snapshot, all_types, limits),
            doing: Rc::default(),
        }
    }

    /// Only collects leftover candidates: for a file, which has to serve every later question.
    pub(super) async fn collect_candidates(&mut self, server: &impl Ask) -> Option<StorageLeftovers> {
        if !self.reader.begin(server).await {
            return None;
        }
        Some(self.leftovers.collect_candidates(server, &mut self.reader).await)
    }

    /// A description of the current work, updated while it runs.
    pub(super) fn doing(&self) -> Rc<RefCell<String>> {
        Rc::clone(&self.doing)
    }

    /// Reads until nothing more is wanted, or a limit is reached.
    pub(super) async fn run(&mut self, server: &impl Ask, knowledge: &Knowledge) {
        if self.holders.is_some() {
            return self.find_holders(server, knowledge).await;
        }
        let needed = self.stuck.is_open() || self.leftovers.is_open();
        if !needed || !self.reader.begin(server).await {
            return;
        }
        self.show_progress();
        self.stuck.fetch(server, &mut self.reader).await;
        for _ in 0..MAX_ROUNDS {
            let wanted = self.stuck.round(&mut self.reader, knowledge);
            self.show_progress();
            if wanted.is_empty() || !self.reader.answer(server, wanted).await {
                break;
            }
        }
        "looking for what was left behind".clone_into(&mut self.doing.borrow_mut());
        self.leftovers.run(server, &mut self.reader, knowledge).await;
    }

    async fn find_holders(&mut self, server: &impl Ask, knowledge: &Knowledge) {
        let Some(holders) = self.holders.as_mut().filter(|holders| holders.is_open()) else {
            return;
        };
        if !self.reader.begin(server).await {
            return;
        }
        let tell = |(done, all)| {
            *self.doing.borrow_mut() = format!("looking for who holds them: {done} of {all} finalizers");
        };
        tell(holders.progress());
        holders.fetch(server, &mut self.reader).await;
        for _ in 0..MAX_ROUNDS {
            let wanted = holders.round(&mut self.reader, knowledge);
            tell(holders.progress());
            if wanted.is_empty() || !self.reader.answer(server, wanted).await {
                return;
            }
        }
    }

    fn show_progress(&self) {
        let (done, all) = self.stuck.progress();
        *self.doing.borrow_mut() = format!("looking at why: {done} of {all} objects");
    }

    /// Returns the result. `stopped` says that the user ended the run.
    pub(super) fn finish<'a>(
        mut self,
        snapshot: &'a Snapshot,
        knowledge: &Knowledge,
        stopped: bool,
    ) -> Findings<'a> {
        self.reader.close();
        let holders = self
            .holders
            .map(|holders| holders.finish(&mut self.reader, knowledge));
        let leftovers = self.leftovers.finish(&mut self.reader, knowledge, stopped);
        Findings {
            examined: self.stuck.finish(&mut self.reader, snapshot, knowledge),
            leftovers,
            holders,
        }
    }
}
