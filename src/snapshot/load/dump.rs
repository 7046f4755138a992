//! A dump with its whole objects, and what follows from objects that are not in it.
//!
//! A dump does not say how it was made. An object in it proves that the object existed. A missing object proves
//! something only if the dump has a complete list of its type that covers the namespace of the object:
//!
//! * A list of a cluster-scoped type covers all of them.
//! * A list of a namespaced type covers *its* namespace, or all namespaces if it has objects of several.
//! * Single objects, lists with a fault, single pages, and empty lists prove nothing: kubectl prints an empty list
//!   without its type. A missing type proves nothing either: a dump does not say which types the server has.
//! * A type that the server is too old for has no objects. The static Pods of API servers name their version. Elsewhere, an
//!   API server is at most three minor versions newer than a kubelet
//!   (`kubernetes/website:content/en/releases/version-skew-policy.md`), and the Nodes name the version of theirs.
//!
//! A list made with a selector looks like any other. So the program also names the lists that it trusts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    collect::Collector,
    finish::{merged, types_of_groups},
    kinds,
    whole::{ListScope, Whole},
};
use crate::{
    object::{Finalizer, List, ObjectRef, ResourceType},
    snapshot::{
        Gap, Seen, What, Why,
        facts::{Answer, By, Content, Facts, Object, Owned, Query, Resource, Where},
        selector::Selector,
    },
};

/// A dump with its whole objects, for `explain`.
#[derive(Debug)]
pub struct Dump {
    facts: Facts,
    objects: BTreeMap<Resource, Vec<Object>>,
    /// Where the dump has all objects of a type.
    coverage: BTreeMap<Resource, Coverage>,
    faults: Vec<Gap>,
    when: String,
}

/// Where a list covers all objects.
#[derive(Debug, PartialEq, Eq)]
enum Coverage {
    Everywhere,
    Namespaces(BTreeSet<String>),
}

impl Dump {
    pub(super) fn new(mut collector: Collector<'_>, whole: Whole, now: jiff::Timestamp) -> Self {
        let groups = types_of_groups(&collector);
        let resource = |ty: &ResourceType| Resource::new(&ty.group, &ty.plural);
        let mut coverage = BTreeMap::new();
        for list in &whole.lists {
            for ty in list
                .groups
                .iter()
                .filter_map(|&group| groups.get(group)?.as_ref())
            {
                let everywhere = !ty.namespaced || list.namespaces.len() > 1;
                extend_coverage(
                    coverage
                        .entry(resource(ty))
                        .or_insert(Coverage::Namespaces(BTreeSet::new())),
                    everywhere,
                    list,
                );
            }
        }
        let mut objects: BTreeMap<Resource, Vec<Object>> = BTreeMap::new();
        for whole in whole.objects {
            let Some(Some(ty)) = groups.get(whole.group) else {
                continue;
            };
            let object = Object {
                resource: resource(ty),
                kind: ty.kind.clone(),
                api_version: ty.api_version(),
                value: whole.value,
            };
            add(objects.entry(object.resource.clone()).or_default(), object);
        }
        let newest = server_of_pods(&objects, &coverage).or_else(|| newest_server(&objects));
        for (group, plural, first) in kinds::ADDED {
            let resource = Resource::new(group, plural);
            let is_too_old = newest.is_some_and(|newest| newest < first);
            if is_too_old && !objects.contains_key(&resource) {
                coverage.insert(resource, Coverage::Everywhere);
            }
        }
        let defined: Vec<_> = collector
            .customs
            .values()
            .map(|custom| custom.resource_type("v1"))
            .collect();
        let built_in: Vec<_> = kinds::built_in().collect();
        let types = merged(groups.iter().flatten().chain(&built_in).chain(&defined));
        let mut gaps = vec![Gap {
            what: What::Discovery,
            why: Why::NotInDump,
        }];
        gaps.extend(
            objects
                .get(&Resource::new("apiregistration.k8s.io", "apiservices"))
                .into_iter()
                .flatten()
                .filter_map(unavailable_group),
        );
        let faults = std::mem::take(&mut collector.gaps);
        let (observed_at, when) = collector.time.observed_at(now);
        Dump {
            facts: Facts {
                redacted: false,
                now: observed_at,
                types,
                gaps,
                answers: BTreeMap::new(),
                kept: 0,
            },
            objects,
            coverage,
            faults,
            when,
        }
    }

    /// The parts of the dump that could not be used.
    pub fn faults(&self) -> &[Gap] {
        &self.faults
    }

    /// How the time of the dump is known.
    pub fn when(&self) -> &str {
        &self.when
    }

    /// The facts before the first query: the types that the cluster has or may have.
    pub fn initial_facts(&self) -> Facts {
        self.facts.clone()
    }

    /// The answer of the dump. A list that may lack objects counts as an answer only if `partial` is set.
    pub fn answer(&self, query: &Query, partial: bool) -> Result<Answer, Why> {
        match query {
            Query::Object {
                resource,
                namespace,
                name,
            } => {
                let is_it = |object: &&Object| {
                    object.name() == name && object.namespace() == namespace.as_deref().unwrap_or_default()
                };
                match self.of(resource).iter().find(is_it) {
                    Some(object) => Ok(Answer::Object(Some(Box::new(object.clone())))),
                    None if self.covers(resource, namespace.as_deref()) => Ok(Answer::Object(None)),
                    None => Err(Why::NotInDump),
                }
            }
            Query::List { resource, namespace } => {
                self.list(resource, namespace.as_deref(), partial, |_| true)
            }
            Query::Search {
                resource,
                namespace,
                by: By::Name(name),
            } => self.list(resource, namespace.as_deref(), partial, |object| {
                object.name() == name
            }),
            Query::Search {
                resource,
                namespace,
                by: By::Node(name),
            } => self.list(resource, namespace.as_deref(), partial, |object| {
                object.text("/spec/nodeName") == name
            }),
            Query::Search {
                resource,
                namespace,
                by: By::Labels(selector),
            } => {
                let selector = Selector::parse(selector).map_err(Why::Undecodable)?;
                self.list(resource, namespace.as_deref(), partial, |object| {
                    selector.matches(&labels(object))
                })
            }
            Query::Search {
                resource,
                namespace,
                by: By::Held,
            } => self.list(resource, namespace.as_deref(), partial, |object| {
                !object.finalizers().is_empty()
            }),
            Query::Events {
                kind,
                namespace,
                name,
            } => {
                // A missing event proves nothing: events expire.
                let namespace = namespace.as_deref().unwrap_or("default");
                self.list(&Resource::new("", "events"), Some(namespace), true, |event| {
                    event.is_about(kind, name)
                })
            }
            Query::Content { namespace } => Ok(Answer::Content(Box::new(self.content(namespace)))),
            Query::Owned(place) => Ok(Answer::Owned(self.owned(place))),
            Query::Version => Err(Why::NotInDump),
        }
    }

    /// Adds the dump's answers to the facts.
    pub fn add_answers(&self, queries: impl IntoIterator<Item = Query>, partial: bool, facts: &mut Facts) {
        for query in queries {
            let answer = self.answer(&query, partial);
            facts.answers.insert(query, answer);
        }
    }

    /// Namespace and name of all objects of a type.
    pub fn names(&self, resource: &Resource) -> Vec<(String, String)> {
        let name = |object: &Object| (object.namespace().to_owned(), object.name().to_owned());
        self.of(resource).iter().map(name).collect()
    }

    fn of(&self, resource: &Resource) -> &[Object] {
        self.objects.get(resource).map_or(&[], Vec::as_slice)
    }

    fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        partial: bool,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Answer, Why> {
        let all = self.of(resource);
        if !self.covers(resource, namespace) && (!partial || all.is_empty()) {
            return Err(Why::NotInDump);
        }
        let inside = |object: &&Object| namespace.is_none_or(|name| name == object.namespace());
        Ok(Answer::List(
            all.iter()
                .filter(inside)
                .filter(|object| wanted(object))
                .cloned()
                .collect(),
        ))
    }

    fn covers(&self, resource: &Resource, namespace: Option<&str>) -> bool {
        match (self.coverage.get(resource), namespace) {
            (Some(Coverage::Everywhere), _) => true,
            (Some(Coverage::Namespaces(names)), Some(namespace)) => names.contains(namespace),
            _ => false,
        }
    }

    /// The objects of the dump that have owners. They need not be all.
    fn owned(&self, place: &Where) -> Owned {
        let is_one = |object: &&Object| match place {
            Where::Namespace(namespace) => object.namespace() == namespace && !object.owners().is_empty(),
            Where::Owner(uid) => object.is_owned_by(uid),
        };
        let all = self.objects.values().flatten();
        Owned {
            objects: all.filter(is_one).map(Object::as_owned).collect(),
            gaps: vec![Gap {
                what: match place {
                    Where::Namespace(namespace) => all_types_in(namespace),
                    Where::Owner(_) => What::Discovery,
                },
                why: Why::NotInDump,
            }],
        }
    }

    /// The content of a namespace in the dump. It need not be all: a dump does not say which types it leaves out.
    fn content(&self, namespace: &str) -> Content {
        let mut content = Content::default();
        for (resource, objects) in &self.objects {
            for object in objects.iter().filter(|object| object.namespace() == namespace) {
                *content.counts.entry(resource.name()).or_default() += 1;
                let finalizers = object.finalizers();
                if object.deletion().is_some() || !finalizers.is_empty() {
                    content.kept.push(seen(object, finalizers));
                }
            }
        }
        content.gaps.push(Gap {
            what: all_types_in(namespace),
            why: Why::NotInDump,
        });
        content
    }
}

/// What a dump may lack of a namespace: it does not say which types it leaves out.
fn all_types_in(namespace: &str) -> What {
    What::TypeIn {
        name: "all types".into(),
        namespace: namespace.to_owned(),
        read: 0,
    }
}

/// The minor version of the newest API server that runs as a static Pod, where all Pods beside it are known.
fn server_of_pods(
    objects: &BTreeMap<Resource, Vec<Object>>,
    coverage: &BTreeMap<Resource, Coverage>,
) -> Option<u32> {
    const PLACE: &str = "kube-system";
    let pods = Resource::new("", "pods");
    let are_all_known = match coverage.get(&pods)? {
        Coverage::Everywhere => true,
        Coverage::Namespaces(names) => names.contains(PLACE),
    };
    let is_static =
        |pod: &&Object| pod.namespace() == PLACE && !pod.annotation("kubernetes.io/config.mirror").is_empty();
    let minor = |container: &Value| {
        let image = container.get("image")?.as_str()?.rsplit('/').next()?;
        let version = image.strip_prefix("kube-apiserver")?;
        version.split('.').nth(1)?.parse::<u32>().ok()
    };
    let servers = objects.get(&pods)?.iter().filter(is_static);
    let containers = servers.flat_map(|pod| pod.list("/spec/containers"));
    containers.filter_map(minor).max().filter(|_| are_all_known)
}

/// The newest minor version that the API server can have, as its Nodes tell.
fn newest_server(objects: &BTreeMap<Resource, Vec<Object>>) -> Option<u32> {
    const SKEW: u32 = 3;
    let nodes = objects.get(&Resource::new("", "nodes"))?;
    let minor = |node: &Object| {
        let version = node.text("/status/nodeInfo/kubeletVersion");
        version.split('.').nth(1)?.parse::<u32>().ok()
    };
    nodes.iter().filter_map(minor).max()?.checked_add(SKEW)
}

fn extend_coverage(coverage: &mut Coverage, everywhere: bool, list: &ListScope) {
    if everywhere {
        *coverage = Coverage::Everywhere;
    } else if let Coverage::Namespaces(names) = coverage {
        names.extend(list.namespaces.iter().cloned());
    }
}

/// Adds an object, or replaces an older copy. A deletion mark never disappears, and the finalizers under it only become
/// fewer.
fn add(objects: &mut Vec<Object>, object: Object) {
    let same = |other: &&mut Object| other.name() == object.name() && other.namespace() == object.namespace();
    match objects.iter_mut().find(same) {
        None => objects.push(object),
        Some(old) => {
            let stage = |object: &Object| (object.deletion().is_none(), object.finalizers().len());
            if stage(&object) <= stage(old) {
                *old = object;
            }
        }
    }
}

/// The gap of an API group that was unavailable when the dump was made, as its APIService says.
fn unavailable_group(service: &Object) -> Option<Gap> {
    let (status, reason, message) = service.condition("Available")?;
    (status == "False").then(|| Gap {
        what: What::GroupVersion {
            group: service.text("/spec/group").to_owned(),
            version: service.text("/spec/version").to_owned(),
            types: Vec::new(),
        },
        why: Why::ApiServiceUnavailable {
            name: service.name().to_owned(),
            says: format!("{reason}: {message}"),
        },
    })
}

fn labels(object: &Object) -> BTreeMap<String, String> {
    let labels = object
        .value
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn seen(object: &Object, finalizers: Vec<Finalizer>) -> Seen {
    let reference: ObjectRef = object.reference();
    Seen {
        object: reference,
        created: object.created(),
        deletion: object.deletion(),
        finalizers: finalizers
            .into_iter()
            .filter(|finalizer| finalizer.list == List::Metadata || object.is("", "namespaces"))
            .collect(),
        conditions: Vec::new(),
        driver: None,
    }
}
