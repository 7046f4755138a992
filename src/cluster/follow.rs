//! Follows the objects of one type: a list, then a watch of metadata from the state of that list, and a list again when
//! the server no longer has that state (410) or did not answer.
//!
//! A type that cannot be watched is listed every minute instead. Watches are connections, so their number is bounded.

use std::{cell::Cell, collections::BTreeMap, ops::Deref, time::Duration};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep, timeout},
};

use super::{
    PARALLEL, decode,
    pages::{Decoded, Pages, Take},
    paths::object_path,
    request::{Answer, METADATA, METADATA_OBJECT, Server},
    watch::{LIMIT, PAUSE, Signal, Stop, Watched, follow},
};
use crate::{
    object::{ObjectRef, ResourceType},
    snapshot::{
        Item, Seen, Why,
        json::{self, ExtraFields},
        tally::seen,
    },
};

/// A type that cannot be watched is listed again after this time.
const LIST_AGAIN: Duration = Duration::from_secs(60);
/// One object that cannot be watched is read again after this time.
const READ_AGAIN: Duration = Duration::from_secs(5);

/// News about a type.
#[derive(Debug)]
pub enum News {
    /// It was listed: these are its objects, and there are no others.
    Listed {
        /// The objects that are kept.
        kept: Vec<Seen>,
        /// How many others there are in each namespace; the empty name stands for cluster-scoped objects.
        others: BTreeMap<Box<str>, u64>,
    },
    /// It is watched from now on, and nothing was missed.
    Watched,
    /// It is read at intervals, because it cannot be watched; none for too many types.
    NotWatched(Option<Why>),
    /// An object was made or changed.
    Changed {
        /// Its present metadata.
        seen: Seen,
        /// Whether it was made.
        is_new: bool,
    },
    /// An object is gone.
    Deleted(ObjectRef),
    /// It cannot be read. It is tried again.
    Lost(Why),
}

/// How many types are followed at once, and how patiently.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many types are watched at once. Each watch is a connection.
    pub watches: usize,
    /// More watches for types of which an object is kept.
    pub urgent_watches: usize,
    /// The pause between two attempts to read a type doubles up to this time.
    pub longest_pause: Duration,
}

/// The bounds that all types share.
pub struct Turns {
    lists: Semaphore,
    watches: Semaphore,
    urgent: Semaphore,
    longest_pause: Duration,
}

impl Turns {
    /// Bounds for this pace.
    pub fn new(pace: &Pace) -> Self {
        Turns {
            lists: Semaphore::new(PARALLEL),
            watches: Semaphore::new(pace.watches),
            urgent: Semaphore::new(pace.urgent_watches),
            longest_pause: pace.longest_pause,
        }
    }

    fn to_watch(&self, is_urgent: bool) -> Option<SemaphorePermit<'_>> {
        let urgent = || is_urgent.then(|| self.urgent.try_acquire().ok()).flatten();
        self.watches.try_acquire().ok().or_else(urgent)
    }

    /// Waits before the next attempt, longer each time.
    async fn rest(&self, pause: &Cell<Duration>) {
        sleep(pause.get()).await;
        pause.set(self.longest_pause.min(pause.get().saturating_mul(2)));
    }
}

/// Follows a type until it is dropped. `server` is asked for before each request, because certificates and tokens change.
/// `keeps` decides which objects of a list are kept.
pub async fn follow_type<S: Deref<Target = Server>>(
    server: impl Fn() -> S,
    watched: &Watched,
    turns: &Turns,
    keeps: fn(&Item<'_>) -> bool,
    tell: impl Fn(News),
) {
    let pause = Cell::new(PAUSE);
    let mut turn = None;
    let again = if watched.name.is_some() {
        READ_AGAIN
    } else {
        LIST_AGAIN
    };
    loop {
        let (mut from, is_urgent) = match list(&server(), watched, turns, keeps).await {
            Ok(listed) => {
                let is_urgent = !listed.kept.is_empty();
                tell(News::Listed {
                    kept: listed.kept,
                    others: listed.others,
                });
                (listed.resource_version, is_urgent)
            }
            Err(why) => {
                tell(News::Lost(why));
                turns.rest(&pause).await;
                continue;
            }
        };
        turn = turn.or_else(|| turns.to_watch(is_urgent));
        // Without the state of the list, a watch begins with all objects as new.
        let is_gapless = from.is_some() || watched.name.is_some();
        if turn.is_none() || !is_gapless {
            tell(News::NotWatched(None));
            sleep(again).await;
            continue;
        }
        let heed = |signal| match signal {
            Signal::Began { .. } => {
                pause.set(PAUSE);
                tell(News::Watched);
            }
            Signal::Changed { named, is_new } => tell(News::Changed {
                seen: named.seen(&watched.ty),
                is_new,
            }),
            Signal::Deleted(named) => tell(News::Deleted(named.seen(&watched.ty).object)),
            Signal::Failed(why) => tell(News::Lost(why)),
        };
        loop {
            let server = server();
            // A connection that was lost without a word is an end like any other.
            match timeout(LIMIT, follow(&server.connected.client, watched, &mut from, &heed)).await {
                Ok(Err(Stop::Refused(why))) => {
                    tell(News::NotWatched(Some(why)));
                    sleep(again).await;
                    break;
                }
                Ok(Err(Stop::Failed(why))) => {
                    tell(News::Lost(why));
                    turns.rest(&pause).await;
                    break;
                }
                Ok(Ok(())) | Err(_) => sleep(PAUSE).await,
            }
            // The server no longer has the state.
            if from.is_none() {
                break;
            }
        }
    }
}

/// A list, as far as it is kept.
struct Listed<'a> {
    ty: &'a ResourceType,
    keeps: fn(&Item<'_>) -> bool,
    page: Objects,
    kept: Vec<Seen>,
    others: BTreeMap<Box<str>, u64>,
    resource_version: Option<String>,
}

/// The objects of a page.
#[derive(Default)]
struct Objects {
    kept: Vec<Seen>,
    others: BTreeMap<Box<str>, u64>,
}

async fn list<'a>(
    server: &Server,
    watched: &'a Watched,
    turns: &Turns,
    keeps: fn(&Item<'_>) -> bool,
) -> Result<Listed<'a>, Why> {
    // Nobody closes the semaphore.
    let _turn = turns.lists.acquire().await.ok();
    let mut listed = Listed {
        ty: &watched.ty,
        keeps,
        page: Objects::default(),
        kept: Vec::new(),
        others: BTreeMap::new(),
        resource_version: None,
    };
    if let Some(name) = &watched.name {
        return one(server, listed, name).await;
    }
    let pages = Pages {
        server,
        ty: &watched.ty,
        version: &watched.ty.version,
        namespace: watched.namespace.as_deref(),
        parameters: "",
        accept: METADATA,
    };
    let ended = pages.read(&mut listed).await;
    listed.resource_version = ended.resource_version;
    match ended.fault {
        None => Ok(listed),
        Some(why) => Err(why),
    }
}

/// Reads one cluster-scoped object as a list. A role in a namespace can allow to read it, and not to list the type.
async fn one<'a>(server: &Server, mut listed: Listed<'a>, name: &str) -> Result<Listed<'a>, Why> {
    let answer = match server
        .get(&object_path(listed.ty, None, name), METADATA_OBJECT)
        .await
    {
        Ok(answer) => answer,
        Err(failure) if failure.is_not_found() => return Ok(listed),
        Err(failure) => return Err(failure.why()),
    };
    let item = json::object(&answer.body).and_then(|object| object.item(ExtraFields::Nothing));
    listed.take(item.map_err(Why::Undecodable)?);
    listed.keep();
    Ok(listed)
}

impl Listed<'_> {
    fn take(&mut self, item: Item<'_>) {
        // An object without a uid is computed. It cannot be deleted.
        if item.uid.is_empty() {
            return;
        }
        if (self.keeps)(&item) {
            self.page.kept.push(seen(self.ty, item));
        } else if let Some(others) = self.page.others.get_mut(&*item.namespace) {
            *others = others.saturating_add(1);
        } else {
            self.page.others.insert(item.namespace.into(), 1);
        }
    }
}

impl Take for Listed<'_> {
    fn decode(&mut self, answer: &Answer) -> Decoded {
        let mut items = 0;
        self.page = Objects::default();
        let page = decode::page(
            &answer.content_type,
            &answer.body,
            ExtraFields::Nothing,
            &mut |item| {
                items += 1;
                self.take(item);
            },
        );
        Decoded { items, page }
    }

    fn keep(&mut self) {
        self.kept.append(&mut self.page.kept);
        for (namespace, more) in std::mem::take(&mut self.page.others) {
            let others = self.others.entry(namespace).or_default();
            *others = others.saturating_add(more);
        }
    }

    fn restart(&mut self) {
        self.kept.clear();
        self.others.clear();
    }
}
