//! The view of the causes on the facts. It records each read that has no answer yet as wanted, and each failed
//! read as a gap. The cause that read must report the gap instead of taking it for an absent object.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use jiff::Timestamp;

use crate::{
    diagnose::{
        limits,
        model::{Blocker, Finding},
    },
    knowledge::{Entry, Knowledge},
    object::{Finalizer, ObjectRef, ResourceType, is_custom_group},
    snapshot::{
        Gap, What, Why,
        facts::{Answer, By, Content, Facts, Object, Owned, Query, Resource, Where},
    },
};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It has not been read yet.
    NotYet,
    /// It could not be read.
    Gap(Gap),
}

impl Missing {
    /// The reason in words, for a verdict of unknown.
    pub fn in_words(&self) -> String {
        match self {
            Missing::NotYet => "it has not been looked at".into(),
            Missing::Gap(gap) => gap.in_words(),
        }
    }

    /// Whether a user with other rights could perhaps read it.
    pub fn is_ours(&self) -> bool {
        matches!(self, Missing::Gap(gap) if matches!(gap.why, Why::Forbidden(_) | Why::Unauthorized(_)))
    }
}

/// The facts as the causes see them.
pub struct View<'a> {
    facts: &'a Facts,
    /// The catalogue.
    pub knowledge: &'a Knowledge,
    wanted: RefCell<BTreeSet<Query>>,
    gaps: RefCell<BTreeSet<Gap>>,
    /// The number of reads that had no answer.
    missed: Cell<usize>,
    /// The objects whose waits are being followed, starting with the target.
    followed: RefCell<Vec<ObjectRef>>,
    /// Results computed from the facts, which do not change while this view exists.
    computed: RefCell<BTreeMap<String, Rc<dyn Any>>>,
    causes: Causes,
}

/// The functions that explain other objects on the way. The view holds them, so that a cause can ask for the
/// waits of an object without knowing all other causes.
#[derive(Clone, Copy)]
pub(in crate::diagnose) struct Causes {
    /// All findings about an object, one for each of its finalizers.
    pub(in crate::diagnose) findings: fn(&Object, &View<'_>) -> Vec<Finding>,
    /// The same findings, without those that are made once for the whole diagnosis.
    pub(in crate::diagnose) each: fn(&Object, &View<'_>) -> Vec<Finding>,
}

/// Why the waits of an object are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfollowed {
    /// The waits lead back to the object.
    Circle,
    /// The chain is already too long.
    TooDeep,
}

impl<'a> View<'a> {
    /// A view on these facts.
    pub(in crate::diagnose) fn new(facts: &'a Facts, knowledge: &'a Knowledge, causes: Causes) -> Self {
        View {
            facts,
            knowledge,
            wanted: RefCell::default(),
            gaps: RefCell::default(),
            missed: Cell::default(),
            followed: RefCell::default(),
            computed: RefCell::default(),
            causes,
        }
    }

    /// Computes a result from the facts, once for all objects of this view. `name` identifies the result.
    pub fn once<T: 'static>(&self, name: &str, compute: impl FnOnce() -> T) -> Rc<T> {
        let known = self.computed.borrow().get(name).cloned();
        if let Some(Ok(known)) = known.map(Rc::downcast) {
            return known;
        }
        let found = Rc::new(compute());
        self.computed
            .borrow_mut()
            .insert(name.to_owned(), Rc::<T>::clone(&found));
        found
    }

    /// Clears the queries and gaps of one object, before the next.
    pub fn begin(&self) {
        self.wanted.borrow_mut().clear();
        self.gaps.borrow_mut().clear();
    }

    /// Follows the waits of an object, unless they lead in a circle or too far.
    pub fn follow<T>(&self, object: &Object, explain: impl FnOnce() -> T) -> Result<T, Unfollowed> {
        let reference = object.reference();
        {
            let mut followed = self.followed.borrow_mut();
            if followed.contains(&reference) {
                return Err(Unfollowed::Circle);
            }
            if followed.len() >= limits::CHAIN {
                return Err(Unfollowed::TooDeep);
            }
            followed.push(reference);
        }
        let found = explain();
        self.followed.borrow_mut().pop();
        Ok(found)
    }

    /// Whether the chain that is followed leads through an object of this name.
    pub fn leads_through(&self, object: &ObjectRef) -> bool {
        let name = |one: &ObjectRef| (one.type_name.clone(), one.namespace.clone(), one.name.clone());
        self.followed.borrow().iter().any(|one| name(one) == name(object))
    }

    /// All findings about another object.
    pub(in crate::diagnose) fn findings(&self, object: &Object) -> Vec<Finding> {
        (self.causes.findings)(object, self)
    }

    /// The object as a blocker of another one, with its own waits if it is being deleted itself.
    pub(in crate::diagnose) fn blocker(&self, object: &Object, says: String) -> Blocker {
        let mut blocker = Blocker::new(Some(object.reference()), says);
        if object.deletion().is_some() {
            match self.follow(object, || (self.causes.each)(object, self)) {
                Ok(findings) => blocker.waits = findings.into_iter().map(|finding| finding.wait).collect(),
                Err(Unfollowed::Circle) => blocker.says.add(
                    "; it stands above already: they wait for each other, and none of them goes by itself",
                ),
                Err(Unfollowed::TooDeep) => blocker
                    .says
                    .add("; what it waits for in turn is not followed any further"),
            }
        }
        blocker
    }

    /// The time from which ages are measured.
    pub fn now(&self) -> Timestamp {
        self.facts.now
    }

    /// Whether names of objects are replaced, so that a text that is not replaced names none of them.
    pub fn is_redacted(&self) -> bool {
        self.facts.redacted
    }

    /// The queries that have no answer yet.
    pub fn wanted(&self) -> BTreeSet<Query> {
        self.wanted.borrow().clone()
    }

    /// What could not be read.
    pub fn gaps(&self) -> Vec<Gap> {
        self.gaps.borrow().iter().cloned().collect()
    }

    /// Whether the API server has this type.
    pub fn has_type(&self, resource: &Resource) -> bool {
        self.facts.resource_type(resource).is_some()
    }

    /// The type as the API server has it.
    pub fn resource_type(&self, group: &str, plural: &str) -> Option<&'a ResourceType> {
        self.facts.resource_type(&Resource::new(group, plural))
    }

    /// The type of this kind, if the API server has it.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&'a ResourceType> {
        self.facts
            .types
            .iter()
            .find(|ty| ty.group == group && ty.kind == kind)
    }

    /// The object of this kind with this name, beside others of this namespace if the kind has namespaces. None if it does not
    /// exist or could not be read.
    pub fn object_of_kind(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'a Object> {
        let ty = self.kind(group, kind)?;
        let namespace = if ty.namespaced { namespace } else { "" };
        self.object(&ty.group, &ty.plural, namespace, name).ok()?
    }

    /// What the catalogue says of a finalizer of this object.
    pub fn entry(&self, object: &Object, finalizer: &Finalizer) -> Option<Entry> {
        let kind = object.reference();
        self.knowledge
            .lookup(&finalizer.name, finalizer.list, Some((&kind).into()))
    }

    /// Whether the list of types is complete: discovery worked for every group, so that a type that is not in
    /// it does not exist.
    pub fn knows_all_types(&self) -> bool {
        !self.facts.types.is_empty() && self.facts.gaps.is_empty()
    }

    /// The types of the API server.
    pub fn types(&self) -> &'a [ResourceType] {
        &self.facts.types
    }

    /// Whether the API server may have the type that kubectl finds by `name.group`. A group that did not answer may have it.
    pub fn may_have_type(&self, name: &str) -> bool {
        let is_silent = |gap: &Gap| match &gap.what {
            What::GroupVersion { group, .. } => name.ends_with(&format!(".{group}")),
            _ => true,
        };
        self.types().is_empty()
            || self.types().iter().any(|ty| has_name(ty, name))
            || self.silent_groups().iter().any(is_silent)
    }

    /// Whether kubectl would know a type by this name, as far as that can be told: where some types of a group are known, the
    /// others of that group do not exist. A command that names one of them fails.
    pub fn would_find_type(&self, name: &str) -> bool {
        let is_known = || {
            let group = name.split_once('.').map_or("", |(_, group)| group);
            is_custom_group(group) && self.types().iter().any(|ty| ty.group == group)
        };
        self.types().iter().any(|ty| has_name(ty, name)) || self.may_have_type(name) && !is_known()
    }

    /// The definition of a custom type (`plural.group`).
    pub fn definition(&self, type_name: &str) -> Result<Option<&'a Object>, Missing> {
        self.object("apiextensions.k8s.io", "customresourcedefinitions", "", type_name)
    }

    /// Whether this namespace is being deleted, so that nothing can be made in it. False if it cannot be read.
    pub fn is_terminating_namespace(&self, name: &str) -> bool {
        !name.is_empty()
            && matches!(self.object("", "namespaces", "", name), Ok(Some(found)) if found.deletion().is_some())
    }

    /// One object; none if it does not exist.
    pub fn object(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<&'a Object>, Missing> {
        let query = Query::Object {
            resource: Resource::new(group, plural),
            namespace: non_empty(namespace),
            name: name.to_owned(),
        };
        match self.ask(query)? {
            Answer::Object(object) => Ok(object.as_deref()),
            _ => Ok(None),
        }
    }

    /// All objects of a type in one namespace, or in all namespaces if that is empty.
    pub fn list(&self, group: &str, plural: &str, namespace: &str) -> Result<&'a [Object], Missing> {
        match self.ask(Query::List {
            resource: Resource::new(group, plural),
            namespace: non_empty(namespace),
        })? {
            Answer::List(objects) => Ok(objects),
            _ => Ok(&[]),
        }
    }

    /// The objects of a type with a name or with labels, in one namespace, or in all namespaces if that is
    /// empty.
    pub fn search(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        by: By,
    ) -> Result<&'a [Object], Missing> {
        match self.ask(Query::Search {
            resource: Resource::new(group, plural),
            namespace: non_empty(namespace),
            by,
        })? {
            Answer::List(objects) => Ok(objects),
            _ => Ok(&[]),
        }
    }

    /// Events about an object, newest last.
    pub fn events(&self, object: &Object) -> Result<&'a [Object], Missing> {
        let query = Query::Events {
            kind: object.kind.clone(),
            namespace: non_empty(object.namespace()),
            name: object.name().to_owned(),
        };
        match self.ask(query)? {
            Answer::List(objects) => Ok(objects),
            _ => Ok(&[]),
        }
    }

    /// The content of a namespace.
    pub fn content(&self, namespace: &str) -> Result<Option<&'a Content>, Missing> {
        match self.ask(Query::Content {
            namespace: namespace.to_owned(),
        })? {
            Answer::Content(content) => {
                self.gaps.borrow_mut().extend(content.gaps.iter().cloned());
                if !content.gaps.is_empty() {
                    self.missed.update(|missed| missed + 1);
                }
                Ok(Some(content))
            }
            _ => Ok(None),
        }
    }

    /// The objects with owners in a namespace, or the objects that a cluster-scoped owner owns anywhere.
    pub fn owned(&self, place: Where) -> Result<&'a Owned, Missing> {
        static NOTHING: Owned = Owned {
            objects: Vec::new(),
            gaps: Vec::new(),
        };
        match self.ask(Query::Owned(place))? {
            Answer::Owned(owned) => {
                self.gaps.borrow_mut().extend(owned.gaps.iter().cloned());
                if !owned.gaps.is_empty() {
                    self.missed.update(|missed| missed + 1);
                }
                Ok(owned)
            }
            _ => Ok(&NOTHING),
        }
    }

    /// The version of the API server.
    pub fn server_version(&self) -> Result<&'a str, Missing> {
        match self.ask(Query::Version)? {
            Answer::Version(version) => Ok(version),
            _ => Ok(""),
        }
    }

    /// The gaps of discovery: groups whose types cannot be listed now.
    pub fn silent_groups(&self) -> &'a [Gap] {
        &self.facts.gaps
    }

    /// Records a gap that comes from no query.
    pub fn miss(&self, gap: &Gap) {
        self.gaps.borrow_mut().insert(gap.clone());
    }

    /// Records that something was not looked at because of a limit. Whoever concludes from [`missed`](Self::missed) that
    /// everything was seen must not.
    pub fn leave_out(&self) {
        self.missed.update(|missed| missed + 1);
    }

    /// The number of reads without an answer; it grows with each of them.
    pub fn missed(&self) -> usize {
        self.missed.get()
    }

    fn ask(&self, query: Query) -> Result<&'a Answer, Missing> {
        let answer = self.look_up(query);
        if answer.is_err() {
            self.missed.update(|missed| missed + 1);
        }
        answer
    }

    fn look_up(&self, query: Query) -> Result<&'a Answer, Missing> {
        match self.facts.answers.get(&query) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(why)) => {
                let gap = Gap {
                    what: gap_of(&query),
                    why: why.clone(),
                };
                self.gaps.borrow_mut().insert(gap.clone());
                Err(Missing::Gap(gap))
            }
            None => {
                self.wanted.borrow_mut().insert(query);
                Err(Missing::NotYet)
            }
        }
    }
}

/// Whether kubectl finds the type by this name (`name.group`).
fn has_name(ty: &ResourceType, name: &str) -> bool {
    let of_group = |one: &str| one.to_lowercase() + "." + &ty.group;
    [of_group(&ty.plural), of_group(&ty.singular), of_group(&ty.kind)].contains(&name.to_lowercase())
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn gap_of(query: &Query) -> What {
    match query {
        Query::Object {
            resource,
            namespace: Some(namespace),
            ..
        }
        | Query::List {
            resource,
            namespace: Some(namespace),
        }
        | Query::Search {
            resource,
            namespace: Some(namespace),
            ..
        } => What::TypeIn {
            name: resource.name(),
            namespace: namespace.clone(),
            read: 0,
        },
        Query::Object { resource, .. } | Query::List { resource, .. } | Query::Search { resource, .. } => {
            What::Type {
                name: resource.name(),
                read: 0,
            }
        }
        Query::Events { namespace, .. } => What::TypeIn {
            name: "events".into(),
            namespace: namespace.clone().unwrap_or_else(|| "default".into()),
            read: 0,
        },
        Query::Content { namespace } | Query::Owned(Where::Namespace(namespace)) => {
            What::Namespace(namespace.clone())
        }
        Query::Owned(Where::Owner(_)) => What::Type {
            name: "all types".into(),
            read: 0,
        },
        Query::Version => What::Version,
    }
}

/// Whether this is no failure: a type that does not exist has no objects.
pub fn is_absent(why: &Why) -> bool {
    matches!(why, Why::Vanished)
}
