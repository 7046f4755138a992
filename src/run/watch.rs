//! `watch`: look at the objects, print what changed, wait for a change, and look again, until all objects are gone.
//!
//! Watches only say when to look. What is true is always read, so a lost or repeated event cannot make the answer wrong.

mod board;
mod everything;
mod followed;
mod screen;
mod watches;

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use tokio::time::{Instant, timeout, timeout_at};

use self::{followed::Followed, screen::Screen, watches::Watches};
use super::{
    block_on,
    explain::{not_a_name, why_not_a_name},
    target::{
        Named,
        find::{self, Places},
        look::Explainer,
        watch::Watch as Waiting,
    },
    witness::Witness,
};
use crate::{
    cluster::{
        Server,
        connect::connect,
        watch::{self, Signal},
    },
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::Age,
    report::{
        ExplainReport, ObjectName,
        watch::{Change, changes},
    },
    settings::Watch,
    snapshot::{Why, facts::Facts},
};

/// A look follows at the latest after this time: who must act, and why an action fails, is not watched.
const REFRESH: Duration = Duration::from_secs(15);
/// A change seldom comes alone: a look waits until it is quiet for this long.
const QUIET: Duration = Duration::from_millis(300);
/// A look follows even if it is never quiet.
const LONGEST: Duration = Duration::from_secs(2);

pub(super) fn run(settings: &Watch, knowledge: &Knowledge) -> Result<Exit, Error> {
    block_on(async {
        let server = Server {
            connected: connect(&settings.connection).await?,
        };
        let mut waiting = Waiting::new();
        let doing = || "asking the server for its types".to_owned();
        let witness = Witness::Server(&server);
        let Some(facts) = waiting.show_progress(doing, witness.initial_facts()).await else {
            return Ok(Exit::Interrupted);
        };
        let facts = facts?;
        if settings.targets.is_empty() {
            return everything::run(settings, knowledge, &server, waiting, facts).await;
        }
        let followed = find_all(settings, witness, &facts).await?;
        let mut run = Run {
            settings,
            knowledge,
            server: &server,
            watches: Watches::new(server.client()),
            screen: Screen::new(settings.json),
            began: Instant::now(),
            followed,
            waiting,
            lost: BTreeSet::new(),
        };
        run.until_all_are_gone().await
    })
}

async fn find_all(settings: &Watch, witness: Witness<'_>, facts: &Facts) -> Result<Vec<Followed>, Error> {
    let mut followed: Vec<Followed> = Vec::new();
    let mut notes = BTreeSet::new();
    for (resource, name) in &settings.targets {
        if let Some(why) = why_not_a_name(name) {
            return Err(not_a_name(resource, name, why));
        }
        let target = Named { resource, name };
        let Places { ty, mut namespaces } =
            find::places(witness, target, &settings.place, facts, &mut notes).await?;
        if namespaces.is_empty() {
            namespaces.push(None);
        }
        for namespace in namespaces {
            let new = Followed::new(&ty, namespace, name);
            // `pvc/a` and `persistentvolumeclaims a` are the same object.
            if followed.iter().all(|old| old.target != new.target) {
                followed.push(new);
            }
        }
    }
    for note in &notes {
        super::warn(note);
    }
    Ok(followed)
}

struct Run<'a> {
    settings: &'a Watch,
    knowledge: &'a Knowledge,
    server: &'a Server,
    watches: Watches,
    screen: Screen,
    began: Instant,
    followed: Vec<Followed>,
    waiting: Waiting,
    /// What cannot be read or watched at present.
    lost: BTreeSet<String>,
}

impl Run<'_> {
    async fn until_all_are_gone(&mut self) -> Result<Exit, Error> {
        // A limit that no clock reaches is none.
        let limit = self.settings.timeout;
        let until = limit.and_then(|limit| self.began.checked_add(limit));
        let all: BTreeSet<usize> = (0..self.followed.len()).collect();
        // The first look is always finished: without an answer, a time limit of 0 would have no use.
        self.print_changes(&all, true).await?;
        self.waiting.end_progress();
        loop {
            self.screen.draw(&self.followed)?;
            if self.waiting.stopped() {
                return self.end(Exit::Interrupted, |explanation| Change::Stopped { explanation });
            }
            if self.followed.iter().all(|followed| followed.gone) {
                return Ok(Exit::Done);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return self.end(Exit::Stuck, |explanation| Change::TimedOut { explanation });
            }
            let due = self.wait(until).await?;
            let look = self.print_changes(&due, false);
            match until {
                // A look that is cut off is out of time, which the next round says.
                Some(until) => timeout_at(until, look).await.unwrap_or(Ok(()))?,
                None => look.await?,
            }
        }
    }

    /// Reads and explains these objects, and tells what changed. An object that cannot be read is an error only at the
    /// begin.
    async fn print_changes(&mut self, due: &BTreeSet<usize>, is_first: bool) -> Result<(), Error> {
        let witness = Witness::Server(self.server);
        let asking = || "asking the server for its types".to_owned();
        let mut facts = match self.waiting.show_progress(asking, witness.initial_facts()).await {
            Some(Ok(facts)) => facts,
            Some(Err(error)) => {
                return self.lose("the types of the server", &Why::Connection(error.to_string()));
            }
            None => return Ok(()),
        };
        self.regain("the types of the server")?;
        for &at in due {
            self.print_changes_of(at, &mut facts, is_first).await?;
        }
        self.watches.follow(&self.followed, &facts);
        Ok(())
    }

    async fn print_changes_of(&mut self, at: usize, facts: &mut Facts, is_first: bool) -> Result<(), Error> {
        let witness = Witness::Server(self.server);
        let Some(followed) = self.followed.get(at).filter(|followed| !followed.gone) else {
            return Ok(());
        };
        let name = followed.target.pasteable();
        let known = followed.target.uid.clone();
        let doing = || format!("{name}: looking for it");
        let reading = followed.read(witness, facts);
        let found = match self.waiting.show_progress(doing, reading).await {
            Some(Ok(found)) => found,
            Some(Err(why)) if is_first => return Err(find::unreadable(&followed.ty, &name, &why)),
            Some(Err(why)) => return self.lose(&name, &why),
            None => return Ok(()),
        };
        self.regain(&name)?;
        let is_other = |uid: &str| known.as_deref().is_some_and(|known| known != uid);
        let Some(object) = found else {
            return self.gone(at, false);
        };
        if is_other(object.uid()) {
            return self.gone(at, true);
        }
        let mut explainer = Explainer {
            witness,
            knowledge: self.knowledge,
            watch: &mut self.waiting,
        };
        let uid = object.uid().to_owned();
        let report = explainer
            .explain(&name, object, facts, &self.settings.run_flags())
            .await;
        if self.waiting.stopped() {
            return Ok(());
        }
        if report.gone {
            return self.gone(at, false);
        }
        if report.target.uid.as_ref().is_some_and(|now| *now != uid) {
            return self.gone(at, true);
        }
        let Some(followed) = self.followed.get_mut(at) else {
            return Ok(());
        };
        let before = followed.report.as_ref();
        let found = changes(before, &report, |object| followed.is_told(object));
        followed.update(report);
        for change in found {
            self.tell(at, change)?;
        }
        Ok(())
    }

    fn gone(&mut self, at: usize, replaced: bool) -> Result<(), Error> {
        let Some(followed) = self.followed.get_mut(at) else {
            return Ok(());
        };
        followed.gone = true;
        let was_seen = followed.report.is_some() || replaced;
        let deletion = followed
            .report
            .as_ref()
            .and_then(|report| report.deletion.as_ref());
        let terminating =
            deletion.map(|deletion| Age::between(deletion.requested_at, Timestamp::now()).0.as_secs());
        self.tell(
            at,
            if was_seen {
                Change::Gone {
                    replaced,
                    terminating_seconds: terminating,
                }
            } else {
                Change::NotFound
            },
        )
    }

    /// Waits until there is a reason to look, and returns at which objects.
    #[expect(clippy::arithmetic_side_effects, reason = "no clock ends in the next seconds")]
    async fn wait(&mut self, until: Option<Instant>) -> Result<BTreeSet<usize>, Error> {
        let mut due = BTreeSet::new();
        let refresh = Instant::now() + REFRESH;
        let mut latest = until.map_or(refresh, |until| until.min(refresh));
        loop {
            let next = self.watches.next();
            let next = async {
                if due.is_empty() {
                    timeout_at(latest, next).await.ok()
                } else {
                    timeout(QUIET, timeout_at(latest, next)).await.ok()?.ok()
                }
            };
            match self.waiting.without_progress(next).await {
                // Nothing happened for long: everything is looked at.
                Some(None) if due.is_empty() => return Ok((0..self.followed.len()).collect()),
                None | Some(None) => return Ok(due),
                Some(Some((watched, signal))) => {
                    due.extend(self.heed(&watched, signal)?);
                    if !due.is_empty() {
                        latest = latest.min(Instant::now() + LONGEST);
                    }
                }
            }
        }
    }

    /// Tells what a signal says by itself, and returns the objects that it concerns.
    fn heed(&mut self, watched: &watches::WatchedType, signal: Signal) -> Result<Vec<usize>, Error> {
        let what = watched.in_words();
        match signal {
            // A look follows, and each namespace gets a watch of its own.
            Signal::Failed(Why::Forbidden(_)) if self.watches.narrow(watched) => {
                Ok((0..self.followed.len()).collect())
            }
            Signal::Failed(why) => self.lose(&what, &why).map(|()| Vec::new()),
            Signal::Began { continued: true } => self.regain(&what).map(|()| Vec::new()),
            Signal::Began { continued: false } => {
                self.regain(&what).map(|()| (0..self.followed.len()).collect())
            }
            Signal::Changed { named, .. } => self.heed_object(watched, &named, false),
            Signal::Deleted(named) => self.heed_object(watched, &named, true),
        }
    }

    /// Tells whose blocker was deleted, and returns the objects that this object concerns: itself, and what it holds.
    fn heed_object(
        &mut self,
        watched: &watches::WatchedType,
        named: &watch::Named,
        deleted: bool,
    ) -> Result<Vec<usize>, Error> {
        let mut concerned = Vec::new();
        let mut told = Vec::new();
        let is_meant = |object: &&ObjectName| watched.names(object, named);
        for (at, followed) in self.followed.iter_mut().enumerate() {
            if followed.gone {
                continue;
            }
            if is_meant(&&followed.target) {
                concerned.push(at);
            }
            if let Some(object) = followed.holding().into_iter().find(is_meant).cloned() {
                concerned.push(at);
                let is_gone = deleted && object.uid.as_ref().is_none_or(|uid| *uid == named.uid);
                if is_gone && followed.is_new_loss(&object) {
                    told.push((at, Change::BlockerGone { object }));
                }
            }
        }
        for (at, change) in told {
            self.tell(at, change)?;
        }
        Ok(concerned)
    }

    fn lose(&mut self, what: &str, why: &Why) -> Result<(), Error> {
        if self.lost.insert(what.to_owned()) {
            self.tell(None, Change::lost(what, why))?;
        }
        Ok(())
    }

    fn regain(&mut self, what: &str) -> Result<(), Error> {
        if self.lost.remove(what) {
            let what = what.to_owned();
            self.tell(None, Change::Regained { what })?;
        }
        Ok(())
    }

    fn tell(&mut self, at: impl Into<Option<usize>>, change: Change) -> Result<(), Error> {
        let target = at
            .into()
            .and_then(|at| self.followed.get(at))
            .map(|followed| followed.target.clone());
        let watched = self.began.elapsed().as_secs();
        self.screen.tell(change.report(target, Timestamp::now(), watched))
    }

    /// Says where the objects stand that are left.
    fn end(&mut self, exit: Exit, change: fn(Option<Box<ExplainReport>>) -> Change) -> Result<Exit, Error> {
        for at in 0..self.followed.len() {
            let Some(followed) = self.followed.get(at).filter(|followed| !followed.gone) else {
                continue;
            };
            let is_read = !self.lost.contains(&followed.target.pasteable());
            let explanation = followed.report.clone().filter(|_| is_read).map(Box::new);
            self.tell(at, change(explanation))?;
        }
        self.screen.draw(&self.followed)?;
        Ok(exit)
    }
}
