//! After a scan: why each object that is being deleted is still there, and what was left behind though nobody is
//! deleting it. Reads are shared between the objects, and there is a limit to how many there are, so that a cluster
//! with hundreds of stuck objects stays as it is.

mod asking;
mod behind;
mod bundle;
mod holders;
mod stuck;
#[cfg(test)]
mod tests;
mod through;

use std::{cell::RefCell, rc::Rc};

pub(super) use self::asking::Limits;
use self::{
    asking::{Ask, Asking},
    behind::Behind,
    holders::Holders,
    stuck::Stuck,
};
use crate::{
    knowledge::Knowledge,
    report::{causes::Looked, holders::Sought, left::LeftBehind},
    settings::{Scan, Scope},
    snapshot::{Snapshot, storage_leftovers::StorageLeftovers},
};

/// Rounds at most; a chain of waits is rarely longer than four.
const ROUNDS: usize = 12;

/// A look at what a scan has found.
pub(super) struct Look {
    asking: Asking,
    stuck: Stuck,
    behind: Behind,
    /// Asked for, it is all that is looked at.
    holders: Option<Holders>,
    doing: Rc<RefCell<String>>,
}

/// What came of it.
pub(super) struct Found<'a> {
    /// Why the objects being deleted are still there.
    pub(super) looked: Vec<Looked<'a>>,
    /// What was left behind.
    pub(super) left: LeftBehind,
    /// Who holds what, if that was asked for.
    pub(super) holders: Option<Vec<Sought>>,
}

impl Look {
    /// A look at what this scan has found, not yet begun.
    pub(super) fn new(snapshot: &Snapshot, scan: &Scan, limits: Limits, knowledge: &Knowledge) -> Self {
        let all_types = scan.types.is_empty() && scan.exclude.is_empty() && scan.scope == Scope::All;
        Look {
            stuck: Stuck::new(snapshot, scan.is_narrowed(), limits.objects),
            behind: Behind::new(snapshot, scan, limits.objects),
            holders: scan
                .view
                .is_by_holder()
                .then(|| Holders::new(snapshot, knowledge)),
            asking: Asking::new(snapshot, all_types, limits),
            doing: Rc::default(),
        }
    }

    /// Only goes through volumes and attachments: for a file, of which it is not yet known what will be asked.
    pub(super) async fn go_through(&mut self, server: &impl Ask) -> Option<StorageLeftovers> {
        if !self.asking.begin(server).await {
            return None;
        }
        Some(self.behind.go_through(server, &mut self.asking).await)
    }

    /// What it is doing, in words, while it runs.
    pub(super) fn doing(&self) -> Rc<RefCell<String>> {
        Rc::clone(&self.doing)
    }

    /// Looks until nothing is wanted any more, or the limits are reached.
    pub(super) async fn run(&mut self, server: &impl Ask, knowledge: &Knowledge) {
        if self.holders.is_some() {
            return self.look_for_holders(server, knowledge).await;
        }
        let needed = self.stuck.is_open() || self.behind.is_open();
        if !needed || !self.asking.begin(server).await {
            return;
        }
        self.tell();
        self.stuck.fetch(server, &mut self.asking).await;
        for _ in 0..ROUNDS {
            let wanted = self.stuck.round(&mut self.asking, knowledge);
            self.tell();
            if wanted.is_empty() || !self.asking.answer(server, wanted).await {
                break;
            }
        }
        "looking for what was left behind".clone_into(&mut self.doing.borrow_mut());
        self.behind.run(server, &mut self.asking, knowledge).await;
    }

    async fn look_for_holders(&mut self, server: &impl Ask, knowledge: &Knowledge) {
        let Some(holders) = self.holders.as_mut().filter(|holders| holders.is_open()) else {
            return;
        };
        if !self.asking.begin(server).await {
            return;
        }
        let tell = |(done, all)| {
            *self.doing.borrow_mut() = format!("looking for who holds them: {done} of {all} finalizers");
        };
        tell(holders.progress());
        holders.fetch(server, &mut self.asking).await;
        for _ in 0..ROUNDS {
            let wanted = holders.round(&mut self.asking, knowledge);
            tell(holders.progress());
            if wanted.is_empty() || !self.asking.answer(server, wanted).await {
                return;
            }
        }
    }

    fn tell(&self) {
        let (done, all) = self.stuck.progress();
        *self.doing.borrow_mut() = format!("looking at why: {done} of {all} objects");
    }

    /// What came of it. `stopped` says that the user had enough.
    pub(super) fn finish<'a>(
        mut self,
        snapshot: &'a Snapshot,
        knowledge: &Knowledge,
        stopped: bool,
    ) -> Found<'a> {
        self.asking.close();
        let holders = self
            .holders
            .map(|holders| holders.finish(&mut self.asking, knowledge));
        let left = self.behind.finish(&mut self.asking, knowledge, stopped);
        Found {
            looked: self.stuck.finish(&mut self.asking, snapshot, knowledge),
            left,
            holders,
        }
    }
}
