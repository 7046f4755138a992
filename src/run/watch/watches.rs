//! The watches of a run: one for each type and namespace of the objects and of what holds them.

use std::collections::{BTreeMap, BTreeSet};

use kube::Client;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

use super::followed::Followed;
use crate::{
    cluster::watch::{Signal, Watched, watch},
    report::ObjectName,
    snapshot::facts::{Facts, Resource},
};

/// Each watch is a connection. What is beyond this is only looked at now and then.
const MOST: usize = 32;

/// A type, and a namespace if it has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WatchedType {
    resource: String,
    namespace: Option<String>,
}

impl WatchedType {
    fn of(object: &ObjectName) -> Self {
        WatchedType {
            resource: object.resource.clone(),
            namespace: object.namespace.clone(),
        }
    }

    /// Whether the object is of this type and in this namespace.
    pub(super) fn has(&self, object: &ObjectName) -> bool {
        *self == WatchedType::of(object)
    }

    /// `watch of pods in db`.
    pub(super) fn in_words(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("changes of {} in {namespace}", self.resource),
            None => format!("changes of {}", self.resource),
        }
    }
}

/// All watches. Each ends when it is dropped.
pub(super) struct Watches {
    client: Client,
    running: BTreeMap<WatchedType, (Option<String>, Task)>,
    tell: UnboundedSender<(WatchedType, Signal)>,
    told: UnboundedReceiver<(WatchedType, Signal)>,
}

struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watches {
    pub(super) fn new(client: Client) -> Self {
        let (tell, told) = unbounded_channel();
        Watches {
            client,
            running: BTreeMap::new(),
            tell,
            told,
        }
    }

    /// The next signal, and which watch it comes from.
    pub(super) async fn next(&mut self) -> (WatchedType, Signal) {
        match self.told.recv().await {
            Some(signal) => signal,
            // Not while `tell` exists.
            None => std::future::pending().await,
        }
    }

    /// Begins and ends watches, so that the objects and what holds them are watched. One object alone is selected by its
    /// name.
    pub(super) fn follow(&mut self, followed: &[Followed], facts: &Facts) {
        let left = || followed.iter().filter(|followed| !followed.gone);
        let targets = left().map(|followed| &followed.target);
        let mut wanted: BTreeMap<WatchedType, BTreeSet<&str>> = BTreeMap::new();
        for object in targets.chain(left().flat_map(Followed::holding)) {
            let place = WatchedType::of(object);
            if wanted.len() < MOST || wanted.contains_key(&place) {
                wanted.entry(place).or_default().insert(&object.name);
            }
        }
        self.running.retain(|place, _| wanted.contains_key(place));
        for (place, names) in wanted {
            let name = (names.len() == 1)
                .then(|| names.into_iter().map(str::to_owned).next())
                .flatten();
            // A watch of all names serves a single one, too.
            let serves = |running: &Option<String>| running.is_none() || *running == name;
            if self
                .running
                .get(&place)
                .is_some_and(|(running, _)| serves(running))
            {
                continue;
            }
            let Some(ty) = facts.resource_type(&Resource::named(&place.resource)) else {
                continue;
            };
            let watched = Watched {
                ty: ty.clone(),
                namespace: place.namespace.clone(),
                name: name.clone(),
            };
            let (from, tell) = (place.clone(), self.tell.clone());
            let task = tokio::spawn(watch(self.client.clone(), watched, move |signal| {
                // Nobody listens any more when the run ends.
                drop(tell.send((from.clone(), signal)));
            }));
            self.running.insert(place, (name, Task(task)));
        }
    }
}
