//! Follows all types, and begins and ends that as types come and go.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, Abortable, LocalBoxFuture, abortable},
    stream::FuturesUnordered,
};
use tokio::sync::Notify;

use crate::{
    cluster::{
        Server,
        connect::connect,
        follow::{Pace, Turns, follow_type},
        followed::{Followed, keeps},
        watch::Watched,
    },
    error::Error,
    object::{ResourceType, is_custom_group},
    settings::Exporter,
};

/// A watch is a connection. A container has at least 1,024 of them. A role that lacks a right lacks it for long.
const PACE: Pace = Pace {
    watches: 600,
    urgent_watches: 200,
    longest_pause: Duration::from_secs(300),
};

/// Follows types until it is dropped.
pub(super) struct Following<'a> {
    settings: &'a Exporter,
    /// What is known of the types.
    pub(super) followed: Rc<Followed>,
    /// The connection for further requests.
    server: Rc<RefCell<Rc<Server>>>,
    turns: Rc<Turns>,
    types: RefCell<BTreeMap<String, (ResourceType, AbortHandle)>>,
    /// What was begun since the last time that `run` looked.
    begun: Cell<Vec<Abortable<LocalBoxFuture<'static, ()>>>>,
    more: Notify,
}

impl<'a> Following<'a> {
    pub(super) fn new(server: Server, settings: &'a Exporter) -> Self {
        Following {
            settings,
            followed: Rc::default(),
            server: Rc::new(RefCell::new(Rc::new(server))),
            turns: Rc::new(Turns::new(&PACE)),
            types: RefCell::default(),
            begun: Cell::default(),
            more: Notify::new(),
        }
    }

    /// The connection for further requests.
    pub(super) fn server(&self) -> Rc<Server> {
        self.server.borrow().clone()
    }

    /// How many requests were sent so far, without watches.
    pub(super) fn requests(&self) -> u64 {
        self.server().requests()
    }

    /// Connects anew, and so with the certificates and credentials of now. Watches that run keep their connection until
    /// they end.
    pub(super) async fn connect_again(&self) -> Result<(), Error> {
        let mut connected = connect(&self.settings.connection).await?;
        connected.sent = self.server().connected.sent.clone();
        *self.server.borrow_mut() = Rc::new(Server { connected });
        Ok(())
    }

    /// Follows these types and no others.
    pub(super) fn set_types(&self, types: impl IntoIterator<Item = ResourceType>) {
        let mut wanted: Vec<_> = types.into_iter().collect();
        // The types of the API server first: they are watched where there are too many.
        wanted.sort_by_key(|ty| is_custom_group(&ty.group));
        let mut known = self.types.borrow_mut();
        known.retain(|name, (ty, handle)| {
            let is_wanted = wanted.contains(ty);
            if !is_wanted {
                handle.abort();
                self.followed.remove(name);
            }
            is_wanted
        });
        let mut begun = self.begun.take();
        for ty in wanted {
            let name = ty.name();
            if known.contains_key(&name) {
                continue;
            }
            self.followed.add(&name);
            let (follow, handle) = abortable(self.follow(ty.clone()));
            known.insert(name, (ty, handle));
            begun.push(follow);
        }
        self.begun.set(begun);
        self.more.notify_one();
    }

    fn follow(&self, ty: ResourceType) -> LocalBoxFuture<'static, ()> {
        let (server, followed, turns) = (self.server.clone(), self.followed.clone(), self.turns.clone());
        let watched = Watched::within(self.settings.scan.scope.namespace(), ty);
        async move {
            let current = || server.borrow().clone();
            follow_type(current, &watched, &turns, keeps, |news| {
                followed.take(&watched.ty, news);
            })
            .await;
        }
        .boxed_local()
    }

    /// Goes on following. It never ends.
    pub(super) async fn run(&self) {
        let mut running = FuturesUnordered::new();
        loop {
            running.extend(self.begun.take());
            tokio::select! {
                () = self.more.notified() => {}
                _ = running.next(), if !running.is_empty() => {}
            }
        }
    }
}
