//! `watch` without a target: follow everything in deletion in a namespace or in the cluster, until nothing is.
//!
//! One watch for each type says what is in deletion. Objects that stay are explained, a few at a time, while the watches
//! go on.

use std::{collections::BTreeSet, time::Duration};

use futures::{FutureExt as _, StreamExt as _, future::LocalBoxFuture, stream::FuturesUnordered};
use jiff::{SignedDuration, Timestamp};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout},
};

use super::{
    board::{Board, Entry},
    screen::Screen,
};
use crate::{
    cluster::{
        Server,
        follow::{News, Pace, Turns, follow_type},
        watch::Watched,
    },
    command::Command,
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::{ObjectRef, ResourceType, is_custom_group},
    report::{
        ExplainReport, GapReport, ObjectName,
        watch::{Change, changes},
    },
    run::{
        target::{find, look::Explainer, watch::Watch as Waiting},
        warn,
        witness::Witness,
    },
    settings::{NamespaceChoice, Watch},
    snapshot::{
        Item,
        facts::{Facts, Resource},
        select::Choice,
    },
};

/// An object that is gone sooner needs no explanation.
const STAYS: Duration = Duration::from_secs(10);
/// How many objects are explained, the oldest deletions first. A namespace can have thousands.
const EXPLAINED: usize = 8;
/// An explanation is made again after this time: who must act, and why an action fails, is not watched.
const REFRESH: Duration = Duration::from_secs(60);
/// The pause between two looks.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// The last look, when the time is up, takes no longer.
const LAST_LOOK: Duration = Duration::from_secs(30);
/// What a look found about types is still true after this time.
const FRESH: Duration = Duration::from_secs(10);
/// macOS gives a process 256 open files.
const PACE: Pace = Pace {
    watches: 160,
    urgent_watches: 40,
    longest_pause: Duration::from_secs(16),
};
/// The interval at which changes of whole types are reported and the terminal is drawn.
const TICK: Duration = Duration::from_secs(1);

/// What a look found: the types now, and the explanations.
struct Looked {
    facts: Facts,
    reports: Vec<(ObjectRef, ExplainReport)>,
}

type Look<'a> = LocalBoxFuture<'a, Result<Looked, Error>>;

pub(super) async fn run(
    settings: &Watch,
    knowledge: &Knowledge,
    server: &Server,
    waiting: Waiting,
    facts: Facts,
) -> Result<Exit, Error> {
    let namespace = match &settings.place {
        NamespaceChoice::Anywhere => None,
        NamespaceChoice::In(namespace) => Some(namespace.clone()),
        NamespaceChoice::OfContext => Some(server.connected.namespace.clone()),
    };
    let (tell, told) = unbounded_channel();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let turns = Turns::new(&PACE);
    let mut run = Run {
        settings,
        knowledge,
        server,
        turns: &turns,
        namespace,
        board: Board::default(),
        screen: Screen::new(settings.json),
        began: Instant::now(),
        ahead: SignedDuration::ZERO,
        waiting,
        following: FuturesUnordered::new(),
        tell,
        told,
        ticks,
        looking: None,
        looked: None,
        silent: Vec::new(),
    };
    run.take_types(&facts)?;
    run.until_nothing_is_left().await
}

struct Run<'a> {
    settings: &'a Watch,
    knowledge: &'a Knowledge,
    server: &'a Server,
    turns: &'a Turns,
    /// The only namespace; none for the whole cluster.
    namespace: Option<String>,
    board: Board,
    screen: Screen,
    began: Instant,
    /// How far the server's clock is ahead of the local one.
    ahead: SignedDuration,
    waiting: Waiting,
    following: FuturesUnordered<LocalBoxFuture<'a, ()>>,
    tell: UnboundedSender<(String, News)>,
    told: UnboundedReceiver<(String, News)>,
    ticks: Interval,
    looking: Option<Look<'a>>,
    /// When the last look ended.
    looked: Option<Instant>,
    /// API groups that do not tell their types.
    silent: Vec<GapReport>,
}

/// What happened.
enum Event {
    News(String, News),
    Looked(Result<Looked, Error>),
    Tick,
    TimeIsUp,
}

impl<'a> Run<'a> {
    async fn until_nothing_is_left(&mut self) -> Result<Exit, Error> {
        // A limit that no clock reaches is none.
        let limit = self.settings.timeout;
        let until = limit.and_then(|limit| self.began.checked_add(limit));
        loop {
            let is_read = self.board.untried() == 0;
            if is_read && self.is_done() {
                if let Some(exit) = self.finish()? {
                    return Ok(exit);
                }
            } else if is_read && until.is_some_and(|until| until <= Instant::now()) {
                return self.time_is_up().await;
            }
            self.look_if_due();
            // The first reading is always finished: without it, a time limit of 0 would have no use.
            let Some(event) = self.next(until.filter(|_| is_read)).await else {
                return self.stopped();
            };
            self.heed(event)?;
        }
    }

    /// Whether nothing is in deletion. The namespace controller deletes a namespace after its content, so what cannot be
    /// read of that is gone, too.
    fn is_done(&self) -> bool {
        self.namespace_is_gone() && !self.board.has_readable() || self.board.is_done(Instant::now())
    }

    fn namespace_is_gone(&self) -> bool {
        self.namespace.is_some() && self.board.has_none_of("namespaces")
    }

    /// The next event; none if the user stopped the watch.
    async fn next(&mut self, until: Option<Instant>) -> Option<Event> {
        let Run {
            waiting,
            following,
            told,
            ticks,
            looking,
            ..
        } = self;
        let looked = async {
            match looking {
                Some(look) => look.await,
                None => std::future::pending().await,
            }
        };
        let limit = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        // They never end, and go on only while they are asked.
        let follow = async {
            while following.next().await.is_some() {}
            std::future::pending::<()>().await;
        };
        let next = async {
            tokio::select! {
                biased;
                Some((name, news)) = told.recv() => Event::News(name, news),
                looked = looked => Event::Looked(looked),
                () = limit => Event::TimeIsUp,
                _ = ticks.tick() => Event::Tick,
                () = follow => Event::Tick,
            }
        };
        waiting.without_progress(next).await
    }

    fn heed(&mut self, event: Event) -> Result<(), Error> {
        match event {
            Event::News(name, news) => {
                let changes = self.board.take(&name, news, self.now(), Instant::now());
                self.tell_all(changes)
            }
            Event::Looked(looked) => {
                self.looking = None;
                self.looked = Some(Instant::now());
                // The watches report a server that does not answer, and they try again.
                looked.map_or(Ok(()), |looked| self.take_look(looked))
            }
            Event::Tick => {
                self.tell_types()?;
                self.draw()
            }
            Event::TimeIsUp => Ok(()),
        }
    }

    /// Begins to follow the types that are new, and forgets those that the server no longer has.
    fn take_types(&mut self, facts: &Facts) -> Result<(), Error> {
        self.ahead = facts.now.duration_since(Timestamp::now());
        self.silent = facts.gaps.iter().map(GapReport::from).collect();
        let choice = Choice {
            types: &[],
            exclude: &[],
            in_one_namespace: self.namespace.is_some(),
        };
        let mut types = choice.of(&facts.types, &facts.gaps, |word| word)?.types;
        // The types of the API server first: they are watched where there are too many.
        types.sort_by_key(|ty| is_custom_group(&ty.group));
        let known: BTreeSet<_> = self.board.types().cloned().collect();
        let names: BTreeSet<_> = types.iter().map(ResourceType::name).collect();
        for name in &known {
            let resource = Resource::named(name);
            let is_hidden = facts
                .gaps
                .iter()
                .any(|gap| gap.what.hides_types_of(&resource.group));
            if !(names.contains(name) || is_hidden) {
                let changes = self.board.remove_type(name, self.now());
                self.tell_all(changes)?;
            }
        }
        for ty in types {
            let name = ty.name();
            if known.contains(&name) {
                continue;
            }
            self.board.add_type(&name);
            let (server, turns, tell) = (self.server, self.turns, self.tell.clone());
            let watched = Watched::within(self.namespace.as_deref(), ty);
            let follow = async move {
                let in_deletion = |item: &Item<'_>| item.deletion.is_some();
                follow_type(
                    || server,
                    &watched,
                    turns,
                    in_deletion,
                    |news| {
                        // Nobody listens any more when the run ends.
                        drop(tell.send((name.clone(), news)));
                    },
                )
                .await;
            };
            self.following.push(follow.boxed_local());
        }
        Ok(())
    }

    /// The objects that need an explanation: the oldest deletions that were not explained lately.
    fn unexplained(&self, is_due: impl Fn(&Entry) -> bool) -> Vec<ObjectRef> {
        let oldest = self.board.oldest_first().into_iter();
        let shown = oldest.take(EXPLAINED).filter(|entry| is_due(entry));
        shown.map(|entry| entry.seen.object.clone()).collect()
    }

    fn look_if_due(&mut self) {
        let is_early = self.looked.is_some_and(|then| then.elapsed() < LOOK_PAUSE);
        if self.looking.is_some() || is_early {
            return;
        }
        let now = self.now();
        let stays = |entry: &Entry| {
            let deletion = entry.seen.deletion;
            deletion.is_some_and(|deletion| now.duration_since(deletion.timestamp) >= as_signed(STAYS))
        };
        let objects = self.unexplained(|entry| {
            stays(entry) && entry.explained.is_none_or(|then| then.elapsed() >= REFRESH)
        });
        if !objects.is_empty() {
            self.looking = Some(self.explain_again(objects));
        }
    }

    /// Reads the types, and explains these objects.
    fn explain_again(&self, objects: Vec<ObjectRef>) -> Look<'a> {
        let (server, knowledge, settings) = (self.server, self.knowledge, self.settings);
        async move {
            let witness = Witness::Server(server);
            let mut facts = witness.initial_facts().await?;
            let mut reports = Vec::new();
            let mut waiting = Waiting::new();
            waiting.end_progress();
            for object in objects {
                let resource = Resource::named(&object.type_name);
                let Some(ty) = facts.resource_type(&resource).cloned() else {
                    continue;
                };
                let place = object.namespace.as_deref();
                let found = find::look_up(witness, &ty, place, &object.name, &mut facts).await;
                // What is gone, and what cannot be read, the watches tell.
                let Ok(Some(found)) = found else { continue };
                let mut explainer = Explainer {
                    witness,
                    knowledge,
                    watch: &mut waiting,
                };
                let name = object.pasteable();
                let report = explainer
                    .explain(&name, found, &mut facts, &settings.run_flags())
                    .await;
                if report.target.uid.as_deref() == Some(&object.uid) && !report.gone {
                    reports.push((object, report));
                }
            }
            Ok(Looked { facts, reports })
        }
        .boxed_local()
    }

    fn take_look(&mut self, looked: Looked) -> Result<(), Error> {
        self.take_types(&looked.facts)?;
        for (object, report) in looked.reports {
            let Some(entry) = self.board.entry(&object) else {
                continue;
            };
            let mut found = changes(entry.report.as_deref(), &report, |_| false);
            // The watches reported it.
            found.retain(|change| !matches!(change, Change::FinalizerRemoved { .. }));
            entry.explained = Some(Instant::now());
            entry.report = Some(Box::new(report));
            let name = ObjectName::from(&object);
            self.tell_all(found.into_iter().map(|change| (name.clone(), change)))?;
        }
        Ok(())
    }

    /// Ends if what is known about the types is still true; otherwise looks at them first.
    fn finish(&mut self) -> Result<Option<Exit>, Error> {
        let mut not_read = Vec::new();
        if !self.namespace_is_gone() {
            not_read = self.board.not_read();
            let is_fresh = self.looked.is_some_and(|then| then.elapsed() < FRESH);
            if !(not_read.is_empty() || is_fresh) {
                if self.looking.is_none() {
                    self.looking = Some(self.explain_again(Vec::new()));
                }
                return Ok(None);
            }
            not_read.extend(self.silent.iter().cloned());
        }
        self.tell_types()?;
        if let Some(name) = &self.namespace
            && self.namespace_is_gone()
            && self.board.gone() == 0
        {
            warn(&format!("namespace {name:?} does not exist"));
        }
        let exit = if not_read.is_empty() {
            Exit::Done
        } else {
            Exit::Incomplete
        };
        let namespace = self.namespace.clone();
        self.tell(None, Change::NothingLeft { namespace, not_read })?;
        self.draw()?;
        Ok(Some(exit))
    }

    /// Explains what was not explained yet, and says where everything stands.
    async fn time_is_up(&mut self) -> Result<Exit, Error> {
        self.looking = None;
        let objects = self.unexplained(|entry| entry.explained.is_none());
        if !objects.is_empty() {
            let look = timeout(LAST_LOOK, self.explain_again(objects));
            match self.waiting.without_progress(look).await {
                None => return self.stopped(),
                Some(Ok(Ok(looked))) => self.take_look(looked)?,
                // Nothing is said about what could not be read.
                Some(Ok(Err(_)) | Err(_)) => {}
            }
        }
        self.end(|explanation| Change::TimedOut { explanation })?;
        Ok(Exit::Stuck)
    }

    fn stopped(&mut self) -> Result<Exit, Error> {
        self.end(|explanation| Change::Stopped { explanation })?;
        Ok(Exit::Interrupted)
    }

    /// Says where the objects stand: the explained ones one by one, and the others together.
    fn end(&mut self, change: fn(Option<Box<ExplainReport>>) -> Change) -> Result<(), Error> {
        self.tell_types()?;
        let mut explained = Vec::new();
        let mut others = Vec::new();
        for entry in self.board.oldest_first() {
            let name = ObjectName::from(&entry.seen.object);
            match &entry.report {
                Some(report) => explained.push((name, change(Some(report.clone())))),
                None => others.push(name),
            }
        }
        self.tell_all(explained)?;
        if !others.is_empty() {
            let namespace = self.namespace.as_deref().unwrap_or_default();
            let next =
                Command::of("kubectl finalizers scan -n {}", [namespace]).in_run(&self.settings.run_flags());
            self.tell(
                None,
                Change::MoreLeft {
                    objects: others,
                    next,
                },
            )?;
        }
        self.draw()
    }

    fn tell_types(&mut self) -> Result<(), Error> {
        for change in self.board.changes_of_types() {
            self.tell(None, change)?;
        }
        Ok(())
    }

    fn tell_all(&mut self, changes: impl IntoIterator<Item = (ObjectName, Change)>) -> Result<(), Error> {
        for (name, change) in changes {
            self.tell(Some(name), change)?;
        }
        Ok(())
    }

    fn tell(&mut self, target: Option<ObjectName>, change: Change) -> Result<(), Error> {
        let watched = self.began.elapsed().as_secs();
        self.screen.tell(change.report(target, Timestamp::now(), watched))
    }

    fn draw(&mut self) -> Result<(), Error> {
        let (board, namespace, now) = (&self.board, self.namespace.as_deref(), self.now());
        self.screen.draw_board(|| board.standing(namespace, now))
    }

    /// The time by the server's clock.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.checked_add(self.ahead).unwrap_or(now)
    }
}

fn as_signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
