//! Follows what is in deletion among the objects of one type: a list, then a watch of metadata from the state of that
//! list, and a list again when the server no longer has that state (410) or did not answer.
//!
//! A type that cannot be watched is listed every minute instead. Watches are connections, so their number is bounded.

use std::{cell::Cell, time::Duration};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep, timeout},
};

use super::{
    PARALLEL, decode,
    pages::{Decoded, Pages, Take},
    paths::object_path,
    request::{Answer, METADATA, METADATA_OBJECT, Server},
    watch::{LIMIT, LONGEST_PAUSE, PAUSE, Signal, Stop, Watched, follow},
};
use crate::{
    object::{ObjectRef, ResourceType},
    snapshot::{
        Seen, Why,
        json::{self, ExtraFields},
        tally::seen,
    },
};

/// How many types are watched at once. Each watch is a connection, and macOS gives a process 256 open files.
const WATCHES: usize = 160;
/// More watches for types that have something in deletion.
const URGENT_WATCHES: usize = 40;
/// A type that cannot be watched is listed again after this time.
const LIST_AGAIN: Duration = Duration::from_secs(60);
/// One object that cannot be watched is read again after this time.
const READ_AGAIN: Duration = Duration::from_secs(5);

/// What was learned about a type.
#[derive(Debug)]
pub enum News {
    /// It was listed: these objects are in deletion, and no others.
    Listed {
        /// The objects in deletion.
        in_deletion: Vec<Seen>,
        /// How many objects there are that can be deleted.
        stored: u64,
    },
    /// It is watched from now on, and nothing was missed.
    Watched,
    /// It is read at intervals, because it cannot be watched; none for too many types.
    NotWatched(Option<Why>),
    /// An object was made or changed.
    Changed(Seen),
    /// An object is gone.
    Deleted(ObjectRef),
    /// It cannot be read. It is tried again.
    Lost(Why),
}

/// The bounds that all types share.
pub struct Turns {
    lists: Semaphore,
    watches: Semaphore,
    urgent: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        Turns {
            lists: Semaphore::new(PARALLEL),
            watches: Semaphore::new(WATCHES),
            urgent: Semaphore::new(URGENT_WATCHES),
        }
    }
}

impl Turns {
    fn to_watch(&self, is_urgent: bool) -> Option<SemaphorePermit<'_>> {
        let urgent = || is_urgent.then(|| self.urgent.try_acquire().ok()).flatten();
        self.watches.try_acquire().ok().or_else(urgent)
    }
}

/// Follows a type until it is dropped.
pub async fn follow_deletions(server: &Server, watched: &Watched, turns: &Turns, tell: impl Fn(News)) {
    let pause = Cell::new(PAUSE);
    let mut turn = None;
    let again = if watched.name.is_some() {
        READ_AGAIN
    } else {
        LIST_AGAIN
    };
    loop {
        let (mut from, is_urgent) = match list(server, watched, turns).await {
            Ok(listed) => {
                let is_urgent = !listed.in_deletion.is_empty();
                tell(News::Listed {
                    in_deletion: listed.in_deletion,
                    stored: listed.stored,
                });
                (listed.resource_version, is_urgent)
            }
            Err(why) => {
                tell(News::Lost(why));
                rest(&pause).await;
                continue;
            }
        };
        turn = turn.or_else(|| turns.to_watch(is_urgent));
        if turn.is_none() {
            tell(News::NotWatched(None));
            sleep(again).await;
            continue;
        }
        let heed = |signal| match signal {
            Signal::Began { .. } => {
                pause.set(PAUSE);
                tell(News::Watched);
            }
            Signal::Changed(named) => tell(News::Changed(named.seen(&watched.ty))),
            Signal::Deleted(named) => tell(News::Deleted(named.seen(&watched.ty).object)),
            Signal::Failed(why) => tell(News::Lost(why)),
        };
        loop {
            let client = &server.connected.client;
            // A connection that was lost without a word is an end like any other.
            match timeout(LIMIT, follow(client, watched, &mut from, &heed)).await {
                Ok(Err(Stop::Refused(why))) => {
                    tell(News::NotWatched(Some(why)));
                    sleep(again).await;
                    break;
                }
                Ok(Err(Stop::Failed(why))) => {
                    tell(News::Lost(why));
                    rest(&pause).await;
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

/// Waits before the next attempt, longer each time.
async fn rest(pause: &Cell<Duration>) {
    sleep(pause.get()).await;
    pause.set(LONGEST_PAUSE.min(pause.get().saturating_mul(2)));
}

/// A list, as far as it is kept.
struct Listed<'a> {
    ty: &'a ResourceType,
    page: Vec<Seen>,
    page_stored: u64,
    in_deletion: Vec<Seen>,
    stored: u64,
    resource_version: Option<String>,
}

async fn list<'a>(server: &Server, watched: &'a Watched, turns: &Turns) -> Result<Listed<'a>, Why> {
    // Nobody closes the semaphore.
    let _turn = turns.lists.acquire().await.ok();
    let mut listed = Listed {
        ty: &watched.ty,
        page: Vec::new(),
        page_stored: 0,
        in_deletion: Vec::new(),
        stored: 0,
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
    let seen = seen(listed.ty, item.map_err(Why::Undecodable)?);
    listed.stored = 1;
    listed
        .in_deletion
        .extend(Some(seen).filter(|seen| seen.deletion.is_some()));
    Ok(listed)
}

impl Take for Listed<'_> {
    fn decode(&mut self, answer: &Answer) -> Decoded {
        let mut items = 0;
        self.page.clear();
        self.page_stored = 0;
        let page = decode::page(
            &answer.content_type,
            &answer.body,
            ExtraFields::Nothing,
            &mut |item| {
                items += 1;
                // An object without a uid is computed. It cannot be deleted.
                if item.uid.is_empty() {
                    return;
                }
                self.page_stored += 1;
                if item.deletion.is_some() {
                    self.page.push(seen(self.ty, item));
                }
            },
        );
        Decoded { items, page }
    }

    fn keep(&mut self) {
        self.in_deletion.append(&mut self.page);
        self.stored = self.stored.saturating_add(self.page_stored);
    }

    fn restart(&mut self) {
        self.in_deletion.clear();
        self.stored = 0;
    }
}
