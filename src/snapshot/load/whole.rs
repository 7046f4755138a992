//! The objects of a dump, whole, and what may be concluded from those that are not in it.
//!
//! A dump never says what it was asked with. That an object is in it proves that the object was there; that it is
//! not proves something only where a list of its type is in the dump, came to its end, and reached to where the
//! object would be:
//!
//! * of a type without namespaces, such a list is taken for all of them;
//! * of a type with namespaces, it is all of *its* namespace, or of all namespaces if it has objects of several;
//! * single objects, lists with a fault or cut into pages, and empty lists, which kubectl prints without their
//!   type, prove nothing. Nor does the lack of a type: which types a server has, no dump says.
//!
//! A list that was asked for with a selector looks like any other. That is why even the lists that count are named
//! to the reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    collect::Collector,
    finish::{merged, types_of_groups},
    kinds,
};
use crate::{
    object::{Finalizer, List, ObjectRef, ResourceType},
    snapshot::{
        Gap, Seen, What, Why,
        facts::{Answer, By, Content, Facts, Object, Owned, Query, Resource, Where},
        selector::Selector,
    },
};

/// What only fills memory or must not be looked at: a Secret's data, under whatever name.
const NEVER: [&str; 3] = ["data", "stringData", "binaryData"];

/// Whole objects as they come by.
#[derive(Debug, Default)]
pub(super) struct Whole {
    objects: Vec<Met>,
    /// The first object of the current file.
    file: usize,
    lists: Vec<Reach>,
    torn: bool,
}

#[derive(Debug)]
struct Met {
    group: usize,
    listed: bool,
    value: Value,
}

/// What one file's lists reach.
#[derive(Debug, Default)]
struct Reach {
    groups: BTreeSet<usize>,
    namespaces: BTreeSet<String>,
}

impl Whole {
    /// Takes one object. What cannot be read was already refused by who counts it.
    pub(super) fn take(&mut self, group: usize, listed: bool, text: &str) {
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return;
        };
        if let Some(fields) = value.as_object_mut() {
            for never in NEVER {
                fields.remove(never);
            }
        }
        self.objects.push(Met { group, listed, value });
    }

    /// A list of this file does not reach its end.
    pub(super) fn tear(&mut self) {
        self.torn = true;
    }

    /// The file is read; whether all of it could be used.
    pub(super) fn end_file(&mut self, clean: bool) {
        let listed = self.objects[self.file..].iter().filter(|met| met.listed);
        let mut reach = Reach::default();
        for met in listed {
            reach.groups.insert(met.group);
            let namespace = met
                .value
                .pointer("/metadata/namespace")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if !reach.namespaces.contains(namespace) {
                reach.namespaces.insert(namespace.to_owned());
            }
        }
        if clean && !self.torn && !reach.groups.is_empty() {
            reach.namespaces.remove("");
            self.lists.push(reach);
        }
        self.torn = false;
        self.file = self.objects.len();
    }
}

/// A dump, as far as explaining needs it.
#[derive(Debug)]
pub struct Dump {
    facts: Facts,
    objects: BTreeMap<Resource, Vec<Object>>,
    /// Where all objects of a type are in the dump.
    reach: BTreeMap<Resource, Within>,
    faults: Vec<Gap>,
    when: String,
}

/// Where a list reaches.
#[derive(Debug, PartialEq, Eq)]
enum Within {
    Everywhere,
    Namespaces(BTreeSet<String>),
}

impl Dump {
    pub(super) fn new(mut found: Collector<'_>, whole: Whole, now: jiff::Timestamp) -> Self {
        let groups = types_of_groups(&found);
        let resource = |ty: &ResourceType| Resource::new(&ty.group, &ty.plural);
        let mut reach = BTreeMap::new();
        for list in &whole.lists {
            for ty in list.groups.iter().filter_map(|&group| groups[group].as_ref()) {
                let everywhere = !ty.namespaced || list.namespaces.len() > 1;
                widen(
                    reach
                        .entry(resource(ty))
                        .or_insert(Within::Namespaces(BTreeSet::new())),
                    everywhere,
                    list,
                );
            }
        }
        let mut objects: BTreeMap<Resource, Vec<Object>> = BTreeMap::new();
        for met in whole.objects {
            let Some(ty) = &groups[met.group] else { continue };
            let object = Object {
                resource: resource(ty),
                kind: ty.kind.clone(),
                api_version: ty.api_version(),
                value: met.value,
            };
            add(objects.entry(object.resource.clone()).or_default(), object);
        }
        let defined: Vec<_> = found
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
                .filter_map(unavailable),
        );
        let faults = std::mem::take(&mut found.gaps);
        let (observed_at, when) = found.time.observed_at(now);
        Dump {
            facts: Facts {
                now: observed_at,
                types,
                gaps,
                answers: BTreeMap::new(),
            },
            objects,
            reach,
            faults,
            when,
        }
    }

    /// What of it could not be used.
    pub fn faults(&self) -> &[Gap] {
        &self.faults
    }

    /// How its time is known.
    pub fn when(&self) -> &str {
        &self.when
    }

    /// The types that a cluster of this dump has or may have.
    pub fn first_look(&self) -> Facts {
        self.facts.clone()
    }

    /// What the dump answers. A list that may lack objects is given only if `partly` is taken for an answer.
    pub fn answer(&self, query: &Query, partly: bool) -> Result<Answer, Why> {
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
                    None if self.reaches(resource, namespace.as_deref()) => Ok(Answer::Object(None)),
                    None => Err(Why::NotInDump),
                }
            }
            Query::List { resource, namespace } => {
                self.list(resource, namespace.as_deref(), partly, |_| true)
            }
            Query::Search {
                resource,
                namespace,
                by: By::Name(name),
            } => self.list(resource, namespace.as_deref(), partly, |object| {
                object.name() == name
            }),
            Query::Search {
                resource,
                namespace,
                by: By::Node(name),
            } => self.list(resource, namespace.as_deref(), partly, |object| {
                object.text("/spec/nodeName") == name
            }),
            Query::Search {
                resource,
                namespace,
                by: By::Labels(selector),
            } => {
                let selector = Selector::parse(selector).map_err(Why::Undecodable)?;
                self.list(resource, namespace.as_deref(), partly, |object| {
                    selector.matches(&labels(object))
                })
            }
            Query::Search {
                resource,
                namespace,
                by: By::Held,
            } => self.list(resource, namespace.as_deref(), partly, |object| {
                !object.finalizers().is_empty()
            }),
            Query::Events {
                kind,
                namespace,
                name,
            } => {
                // That there is none says nothing anyway: they expire.
                let namespace = namespace.as_deref().unwrap_or("default");
                self.list(&Resource::new("", "events"), Some(namespace), true, |event| {
                    event.text("/involvedObject/kind") == kind && event.text("/involvedObject/name") == name
                })
            }
            Query::Content { namespace } => Ok(Answer::Content(Box::new(self.content(namespace)))),
            Query::Owned(place) => Ok(Answer::Owned(self.owned(place))),
        }
    }

    /// Adds the answers of the dump to the facts.
    pub fn add_answers(&self, queries: impl IntoIterator<Item = Query>, partly: bool, facts: &mut Facts) {
        for query in queries {
            let answer = self.answer(&query, partly);
            facts.answers.insert(query, answer);
        }
    }

    /// Namespace and name of its objects of a type.
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
        partly: bool,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Answer, Why> {
        let all = self.of(resource);
        if !self.reaches(resource, namespace) && (!partly || all.is_empty()) {
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

    fn reaches(&self, resource: &Resource, namespace: Option<&str>) -> bool {
        match (self.reach.get(resource), namespace) {
            (Some(Within::Everywhere), _) => true,
            (Some(Within::Namespaces(names)), Some(namespace)) => names.contains(namespace),
            _ => false,
        }
    }

    /// What the dump holds of objects that have owners, which need not be all either.
    fn owned(&self, place: &Where) -> Owned {
        let is_one = |object: &&Object| match place {
            Where::Namespace(namespace) => {
                object.namespace() == namespace && !object.list("/metadata/ownerReferences").is_empty()
            }
            Where::Owner(uid) => object.owned_by(uid).next().is_some(),
        };
        let all = self.objects.values().flatten();
        Owned {
            objects: all.filter(is_one).map(Object::as_owned).collect(),
            gaps: vec![Gap {
                what: match place {
                    Where::Namespace(namespace) => What::Namespace(namespace.clone()),
                    Where::Owner(_) => What::Discovery,
                },
                why: Why::NotInDump,
            }],
        }
    }

    /// What the dump holds of a namespace, which need not be all: it cannot say which types it leaves out.
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
            what: What::Namespace(namespace.to_owned()),
            why: Why::NotInDump,
        });
        content
    }
}

fn widen(within: &mut Within, everywhere: bool, list: &Reach) {
    if everywhere {
        *within = Within::Everywhere;
    } else if let Within::Namespaces(names) = within {
        names.extend(list.namespaces.iter().cloned());
    }
}

/// Adds an object, or puts it in the place of an older copy: a deletion mark never goes, and the finalizers under
/// it only become fewer.
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

/// An API group that did not answer when the dump was made, as the server's own list of them says.
fn unavailable(service: &Object) -> Option<Gap> {
    let (status, reason, message) = service.condition("Available")?;
    (status == "False").then(|| Gap {
        what: What::GroupVersion {
            group: service.text("/spec/group").to_owned(),
            version: service.text("/spec/version").to_owned(),
            types: Vec::new(),
        },
        why: Why::Unavailable(format!("APIService {}: {reason}: {message}", service.name())),
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
        created: object.time("/metadata/creationTimestamp"),
        deletion: object.deletion(),
        finalizers: finalizers
            .into_iter()
            .filter(|finalizer| finalizer.list == List::Metadata || object.is("", "namespaces"))
            .collect(),
        conditions: Vec::new(),
        driver: None,
    }
}
