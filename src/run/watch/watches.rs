//! The watches of a run: one for each type and namespace of the objects and of what holds them. A type in many namespaces
//! has one watch of all of them, if the user may have that.

use std::collections::{BTreeMap, BTreeSet};

use kube::Client;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

use super::followed::Followed;
use crate::{
    cluster::watch::{Named, Signal, Watched, watch},
    report::ObjectName,
    snapshot::facts::{Facts, Resource},
};

/// Each watch is a connection. What is beyond this is only looked at now and then.
const MOST: usize = 32;
/// How many namespaces of one type have a watch each. A watch of all namespaces tells of objects that nobody waits for.
const FEW: usize = 4;

/// A type, and where its objects are watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WatchedType {
    resource: String,
    within: Within,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    /// The type has no namespaces.
    Cluster,
    Namespace(String),
    AllNamespaces,
}

impl WatchedType {
    /// Whether the object is of this type and is the one that a signal of this watch names.
    pub(super) fn names(&self, object: &ObjectName, named: &Named) -> bool {
        let namespace = object.namespace.as_deref();
        self.resource == object.resource
            && named.name == object.name
            && match &self.within {
                Within::Cluster => namespace.is_none(),
                Within::Namespace(own) => namespace == Some(own),
                Within::AllNamespaces => namespace == Some(&named.namespace),
            }
    }

    /// `changes of pods in db`.
    pub(super) fn in_words(&self) -> String {
        match &self.within {
            Within::Namespace(namespace) => format!("changes of {} in {namespace}", self.resource),
            Within::Cluster | Within::AllNamespaces => format!("changes of {}", self.resource),
        }
    }
}

/// The places of these objects, each with the names that matter there. Of the types in `narrow`, all namespaces at once
/// cannot be watched.
fn places<'a>(
    objects: impl Iterator<Item = &'a ObjectName>,
    narrow: &BTreeSet<String>,
) -> BTreeMap<WatchedType, BTreeSet<&'a str>> {
    let objects: Vec<_> = objects.collect();
    let mut namespaces: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in &objects {
        let of_type = namespaces.entry(&object.resource).or_default();
        of_type.extend(object.namespace.as_deref());
    }
    let are_many = |resource: &str| {
        let count = namespaces.get(resource).map_or(0, BTreeSet::len);
        count > FEW && !narrow.contains(resource)
    };
    let mut wanted: BTreeMap<WatchedType, BTreeSet<&str>> = BTreeMap::new();
    for object in objects {
        let within = match &object.namespace {
            None => Within::Cluster,
            Some(_) if are_many(&object.resource) => Within::AllNamespaces,
            Some(namespace) => Within::Namespace(namespace.clone()),
        };
        let place = WatchedType {
            resource: object.resource.clone(),
            within,
        };
        if wanted.len() < MOST || wanted.contains_key(&place) {
            wanted.entry(place).or_default().insert(&object.name);
        }
    }
    wanted
}

/// All watches. Each ends when it is dropped.
pub(super) struct Watches {
    client: Client,
    running: BTreeMap<WatchedType, (Option<String>, Task)>,
    /// Types of which all namespaces at once cannot be watched.
    narrow: BTreeSet<String>,
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
            narrow: BTreeSet::new(),
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

    /// Gives up the watch of all namespaces, if this is one. Each namespace is then watched by itself.
    pub(super) fn narrow(&mut self, place: &WatchedType) -> bool {
        let is_wide = place.within == Within::AllNamespaces;
        if is_wide {
            self.running.remove(place);
            self.narrow.insert(place.resource.clone());
        }
        is_wide
    }

    /// Begins and ends watches, so that the objects and what holds them are watched. One object alone is selected by its
    /// name.
    pub(super) fn follow(&mut self, followed: &[Followed], facts: &Facts) {
        let left = || followed.iter().filter(|followed| !followed.gone);
        let targets = left().map(|followed| &followed.target);
        let wanted = places(targets.chain(left().flat_map(Followed::holding)), &self.narrow);
        self.running.retain(|place, _| wanted.contains_key(place));
        for (place, names) in wanted {
            let is_alone = names.len() == 1 && place.within != Within::AllNamespaces;
            let name = is_alone
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
                namespace: match &place.within {
                    Within::Namespace(namespace) => Some(namespace.clone()),
                    Within::Cluster | Within::AllNamespaces => None,
                },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn object(resource: &str, namespace: Option<&str>, name: &str) -> ObjectName {
        ObjectName {
            api_version: "v1".into(),
            kind: String::new(),
            resource: resource.into(),
            namespace: namespace.map(str::to_owned),
            name: name.into(),
            uid: None,
        }
    }

    fn within(resource: &str, namespaces: usize, narrow: &[&str]) -> Vec<WatchedType> {
        let objects: Vec<_> = (0..namespaces)
            .map(|at| object(resource, Some(&format!("ns{at}")), "held"))
            .collect();
        let narrow = narrow.iter().map(|name| (*name).to_owned()).collect();
        places(objects.iter(), &narrow).into_keys().collect()
    }

    #[test]
    fn many_namespaces_of_a_type_are_one_watch() {
        assert_eq!(within("pods", FEW, &[]).len(), FEW);
        let all = within("pods", 40, &[]);
        assert_eq!(all.len(), 1, "{all:?}");
        // Whoever may not watch all namespaces watches as many as there is room for.
        assert_eq!(within("pods", 10, &["pods"]).len(), 10);
        assert_eq!(within("pods", 40, &["pods"]).len(), MOST);
        // Another type has its own watches.
        let objects = [object("pods", Some("a"), "x"), object("nodes", None, "n")];
        assert_eq!(places(objects.iter(), &BTreeSet::new()).len(), 2);
    }

    #[test]
    fn a_signal_names_one_object_also_among_all_namespaces() {
        let named: Named = serde_json::from_value(serde_json::json!({"name": "held", "namespace": "ns1"}))
            .expect("an object of a watch");
        let all = within("pods", 40, &[]);
        let place = all.first().expect("a watch");
        assert!(place.names(&object("pods", Some("ns1"), "held"), &named));
        assert!(!place.names(&object("pods", Some("ns2"), "held"), &named));
        assert!(!place.names(&object("pods", Some("ns1"), "other"), &named));
        assert!(!place.names(&object("services", Some("ns1"), "held"), &named));
    }
}
