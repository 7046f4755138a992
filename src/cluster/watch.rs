//! Tells when objects of a type change, from a watch of their metadata. It never ends by itself: it begins again after
//! each end, and says why it does not see anything meanwhile. It decides nothing; what an object is now, a read tells.
//!
//! [`super::follow`] follows what is in deletion by the same requests.

use std::{pin::pin, time::Duration};

use futures::TryStreamExt as _;
use http::{Request, StatusCode, header};
use jiff::Timestamp;
use kube::{Client, core::WatchEvent};
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use super::{
    paths::{collection_path, selector_parameters},
    request::{METADATA_OBJECT, Server, quoted, why_of},
};
use crate::{
    object::ResourceType,
    snapshot::{Item, Seen, Why, facts::By, tally::seen},
};

/// The server ends a watch after this time. client-go asks for 5 to 10 minutes.
const WATCH_SECONDS: u64 = 300;
/// A connection that is silently lost ends at the latest after this time.
pub(super) const LIMIT: Duration = Duration::from_secs(WATCH_SECONDS + 30);
/// The pause before a watch begins again. It doubles as long as the watch fails.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// The objects of one watch.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The type.
    pub ty: ResourceType,
    /// The namespace; none for cluster-scoped types, and for all namespaces.
    pub namespace: Option<String>,
    /// The only object; none for all objects in the namespace.
    pub name: Option<String>,
}

impl Watched {
    /// The objects of a type in a namespace, or everywhere. Of the namespaces it is only that one.
    pub fn within(namespace: Option<&str>, ty: ResourceType) -> Self {
        let namespace = namespace.map(str::to_owned);
        let is_home = ty.is("", "namespaces");
        Watched {
            namespace: namespace.clone().filter(|_| ty.namespaced),
            name: namespace.filter(|_| is_home),
            ty,
        }
    }
}

/// The news of a watch.
#[derive(Debug)]
pub enum Signal {
    /// It begins. Unless it continues an earlier watch, changes before it were not seen.
    Began {
        /// Whether it continues an earlier one.
        continued: bool,
    },
    /// The object was made or changed.
    Changed {
        /// Its present state.
        named: Named,
        /// Whether it was made. A watch that does not continue another one begins with all objects as new.
        is_new: bool,
    },
    /// The object is gone.
    Deleted(Named),
    /// It cannot see anything, and tries again.
    Failed(Why),
}

/// The object of a signal.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its uid; empty for objects that are computed and not stored.
    #[serde(default)]
    pub uid: String,
    /// Its namespace; empty if it has none.
    #[serde(default)]
    pub namespace: String,
    #[serde(default)]
    resource_version: String,
    deletion_timestamp: Option<Timestamp>,
    deletion_grace_period_seconds: Option<i64>,
    #[serde(default)]
    finalizers: Vec<String>,
}

impl Named {
    /// The object of this type, as a list shows it.
    pub(super) fn seen(self, ty: &ResourceType) -> Seen {
        let item = Item {
            namespace: self.namespace.into(),
            name: self.name.into(),
            uid: self.uid.into(),
            deletion: self.deletion_timestamp,
            grace_seconds: self.deletion_grace_period_seconds,
            finalizers: self.finalizers.into_iter().map(Into::into).collect(),
            ..Item::default()
        };
        seen(ty, item)
    }
}

/// Why a watch failed.
pub(super) enum Stop {
    /// The server does not let this user, or anybody, watch the type. It may still be listed.
    Refused(Why),
    /// Something else, which may pass.
    Failed(Why),
}

/// Any object of a watch.
#[derive(Clone, Deserialize)]
struct Event {
    metadata: Named,
}

/// Watches until it is dropped.
pub async fn watch(client: Client, watched: Watched, tell: impl Fn(Signal)) {
    let mut from = None;
    let mut pause = PAUSE;
    loop {
        // A connection that was lost without a word is an end like any other.
        let ended = timeout(LIMIT, follow(&client, &watched, &mut from, &tell)).await;
        if let Ok(Err(Stop::Refused(why) | Stop::Failed(why))) = ended {
            tell(Signal::Failed(why));
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause.saturating_mul(2));
        } else {
            pause = PAUSE;
            sleep(pause).await;
        }
    }
}

/// Follows one watch to its end. `from` is the version of the last change, and none if the server no longer has it.
pub(super) async fn follow(
    client: &Client,
    watched: &Watched,
    from: &mut Option<String>,
    tell: &impl Fn(Signal),
) -> Result<(), Stop> {
    let request = Request::get(path(watched, from.as_deref()))
        .header(header::ACCEPT, METADATA_OBJECT)
        .body(Vec::new())
        .map_err(|error| Stop::Failed(Why::Undecodable(error.to_string())))?;
    let events = match client.request_events::<Event>(request).await {
        Ok(events) => events,
        Err(error) => return ended(&error, from),
    };
    tell(Signal::Began {
        continued: from.is_some(),
    });
    let mut events = pin!(events);
    loop {
        let heard = |object: Event, signal: fn(Named) -> Signal| (object.metadata, signal);
        let (named, signal) = match events.try_next().await {
            Ok(Some(WatchEvent::Added(object))) => {
                heard(object, |named| Signal::Changed { named, is_new: true })
            }
            Ok(Some(WatchEvent::Modified(object))) => {
                heard(object, |named| Signal::Changed { named, is_new: false })
            }
            Ok(Some(WatchEvent::Deleted(object))) => heard(object, Signal::Deleted),
            Ok(Some(WatchEvent::Bookmark(mark))) => {
                *from = Some(mark.metadata.resource_version);
                continue;
            }
            Ok(Some(WatchEvent::Error(status))) => return ended(&kube::Error::Api(status), from),
            Ok(None) => return Ok(()),
            Err(error) => return ended(&error, from),
        };
        *from = Some(named.resource_version.clone());
        tell(signal(named));
    }
}

/// Why a watch ended. A version that the server no longer has is no failure: the watch begins anew.
fn ended(error: &kube::Error, from: &mut Option<String>) -> Result<(), Stop> {
    let kube::Error::Api(status) = error else {
        return Err(Stop::Failed(Why::Connection(error.to_string())));
    };
    let code = StatusCode::from_u16(status.code).unwrap_or_default();
    if code == StatusCode::GONE {
        *from = None;
        return Ok(());
    }
    let why = why_of(code, quoted(&status.message));
    Err(match code {
        StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED => Stop::Refused(why),
        _ => Stop::Failed(why),
    })
}

fn path(watched: &Watched, from: Option<&str>) -> String {
    let ty = &watched.ty;
    let collection = collection_path(ty, &ty.version, watched.namespace.as_deref());
    let mut path = format!("{collection}?watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}");
    if let Some(name) = &watched.name {
        path += &selector_parameters(&By::Name(name.clone()));
    }
    if let Some(from) = from {
        path += "&resourceVersion=";
        crate::object::escape(from, &mut path);
    }
    path
}

impl Server {
    /// The client, for work that outlives one request.
    pub fn client(&self) -> Client {
        self.connected.client.clone()
    }
}
