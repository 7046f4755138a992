//! Counting objects as they go by, and keeping the few that will be printed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;

use super::{
    Crowds, Left, Seen, Storage, Strays,
    filter::{Filter, Item},
    stray::expires,
};
use crate::object::{Deletion, Finalizer, ObjectRef, ResourceType};

/// What decides which objects are kept.
#[derive(Clone, Debug)]
pub struct Keep {
    /// Every object with a finalizer, not only those being deleted.
    pub all: bool,
    /// Which of them count at all.
    pub filter: Filter,
    /// The time that ages are measured at.
    pub now: Timestamp,
    /// Namespaces whose content is counted; none for every namespace.
    pub leaving: Option<BTreeSet<String>>,
    /// Whether objects with the same finalizers are counted together, for whoever asks who holds them.
    pub crowds: bool,
    /// The namespaces that exist; none if that is not known.
    pub existing: Option<HashSet<Box<str>>>,
}

impl Keep {
    /// Whether an object is in a namespace that does not exist.
    fn is_stray(&self, ty: &ResourceType, item: &Item<'_>) -> bool {
        let missing = |names: &HashSet<Box<str>>| !names.contains(&*item.namespace);
        !item.namespace.is_empty() && self.existing.as_ref().is_some_and(missing) && !expires(ty)
    }
}

/// How one finalizer is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Objects that carry it.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types they are of.
    pub on: BTreeSet<OnType>,
}

/// A type that a finalizer is used on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnType {
    /// `plural.group`.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// API group, empty for core.
    pub group: String,
}

impl From<&ResourceType> for OnType {
    fn from(ty: &ResourceType) -> Self {
        OnType {
            name: ty.name(),
            kind: ty.kind.clone(),
            group: ty.group.clone(),
        }
    }
}

/// What went by.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All objects, with or without finalizers.
    pub objects: u64,
    /// Objects being deleted, and with [`Keep::all`] every one that has a finalizer.
    pub kept: Vec<Seen>,
    /// How the finalizers are used.
    pub usage: BTreeMap<Finalizer, Usage>,
    /// Objects with the same finalizers; empty without [`Keep::crowds`].
    pub crowds: Crowds,
    /// What is left in the namespaces that are being deleted.
    pub left: Left,
    /// What is in namespaces that do not exist.
    pub strays: Strays,
    /// Nodes, volumes and attachments; none where only metadata went by.
    pub storage: Option<Storage>,
}

impl Tally {
    /// Counts one object, and keeps it if it will be printed.
    pub fn note(&mut self, ty: &ResourceType, item: Item<'_>, keep: &Keep) {
        self.objects += 1;
        if !item.namespace.is_empty()
            && keep
                .leaving
                .as_ref()
                .is_none_or(|names| names.contains(&*item.namespace))
        {
            self.count_left(&item.namespace, &ty.name());
        }
        let stray = keep.is_stray(ty, &item);
        if item.is_bare() && !stray {
            return;
        }
        let seen = seen(ty, item);
        if !keep.filter.seen(&seen, keep.now) {
            return;
        }
        if stray && let Some(namespace) = &seen.object.namespace {
            self.strays.count(namespace, &seen);
        }
        let terminating = seen.deletion.is_some();
        for finalizer in &seen.finalizers {
            if keep.filter.finalizer(&finalizer.name) {
                self.count_finalizer(finalizer, ty, terminating);
            }
        }
        if keep.crowds {
            let chosen = seen
                .finalizers
                .iter()
                .filter(|one| keep.filter.finalizer(&one.name));
            self.crowds.count(ty, chosen.cloned().collect(), &seen);
        }
        if terminating || (keep.all && !seen.finalizers.is_empty()) {
            self.kept.push(seen);
        }
    }

    /// Counts objects that carry nothing and of which not even the names are known, all at once.
    pub fn note_bare(&mut self, ty: &ResourceType, namespace: &str, count: u64, keep: &Keep) {
        let Some(more) = count.checked_sub(1) else { return };
        let item = Item {
            namespace: namespace.into(),
            ..Item::default()
        };
        let (name, before) = (ty.name(), self.strays.count_of(namespace, &ty.name()));
        self.note(ty, item, keep);
        self.objects += more;
        if let Some(left) = self
            .left
            .get_mut(namespace)
            .and_then(|types| types.get_mut(&name))
        {
            *left += more;
        }
        // Only if the first of them counted do the others.
        if self.strays.count_of(namespace, &name) > before {
            self.strays.add(namespace, &name, more);
        }
    }

    /// Adds what another tally counted.
    pub fn absorb(&mut self, other: Tally) {
        self.objects += other.objects;
        self.kept.extend(other.kept);
        for (finalizer, more) in other.usage {
            let usage = self.usage.entry(finalizer).or_default();
            usage.objects += more.objects;
            usage.terminating += more.terminating;
            usage.on.extend(more.on);
        }
        self.crowds.absorb(other.crowds);
        for (namespace, types) in other.left {
            let left = self.left.entry(namespace).or_default();
            for (name, count) in types {
                *left.entry(name).or_default() += count;
            }
        }
        self.strays.absorb(other.strays);
        if let Some(more) = other.storage {
            self.storage.get_or_insert_default().absorb(more);
        }
    }

    fn count_left(&mut self, namespace: &str, type_name: &str) {
        // Two look-ups instead of `entry`, which would allocate both names for each object of a large type.
        if !self.left.contains_key(namespace) {
            self.left.insert(namespace.to_owned(), BTreeMap::new());
        }
        if let Some(types) = self.left.get_mut(namespace) {
            match types.get_mut(type_name) {
                Some(count) => *count += 1,
                None => drop(types.insert(type_name.to_owned(), 1)),
            }
        }
    }

    fn count_finalizer(&mut self, finalizer: &Finalizer, ty: &ResourceType, terminating: bool) {
        if !self.usage.contains_key(finalizer) {
            self.usage.insert(finalizer.clone(), Usage::default());
        }
        if let Some(usage) = self.usage.get_mut(finalizer) {
            usage.objects += 1;
            usage.terminating += u64::from(terminating);
            usage.on.insert(ty.into());
        }
    }
}

fn seen(ty: &ResourceType, item: Item<'_>) -> Seen {
    let mut finalizers = item.all_finalizers();
    // The API server takes a list with the same entry twice; one finalizer still counts once.
    let mut met = BTreeSet::new();
    finalizers.retain(|finalizer| met.insert(finalizer.clone()));
    Seen {
        object: ObjectRef {
            type_name: ty.name(),
            kind: ty.kind.clone(),
            api_version: ty.api_version(),
            namespace: Some(item.namespace.into_owned()).filter(|namespace| !namespace.is_empty()),
            name: item.name.into_owned(),
            uid: item.uid.into_owned(),
        },
        created: item.created,
        deletion: item.deletion.map(|timestamp| Deletion {
            timestamp,
            grace_seconds: item.grace_seconds.unwrap_or_default(),
        }),
        finalizers,
        conditions: item
            .namespace_only
            .map(|namespace| namespace.conditions)
            .unwrap_or_default(),
        driver: item.driver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::List;

    fn keep() -> Keep {
        Keep {
            all: false,
            filter: Filter::default(),
            now: Timestamp::UNIX_EPOCH,
            leaving: Some(BTreeSet::new()),
            crowds: false,
            existing: None,
        }
    }

    fn pods() -> ResourceType {
        ResourceType {
            version: "v1".into(),
            plural: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
            ..Default::default()
        }
    }

    #[test]
    fn only_what_is_being_deleted_is_kept_and_finalizers_are_counted_once_an_object() {
        let mut tally = Tally::default();
        tally.note(
            &pods(),
            Item {
                name: "bare".into(),
                ..Item::default()
            },
            &keep(),
        );
        let held = Item {
            name: "held".into(),
            finalizers: vec!["a/b".into(), "a/b".into()],
            ..Item::default()
        };
        tally.note(&pods(), held.clone(), &keep());
        tally.note(
            &pods(),
            Item {
                deletion: Some(Timestamp::UNIX_EPOCH),
                ..held
            },
            &keep(),
        );
        assert_eq!((tally.objects, tally.kept.len()), (3, 1));
        let usage = &tally.usage[&Finalizer {
            list: List::Metadata,
            name: "a/b".into(),
        }];
        assert_eq!((usage.objects, usage.terminating), (2, 1));
    }

    #[test]
    fn what_is_in_a_namespace_that_does_not_exist_is_counted_and_the_first_are_named() {
        let keep = Keep {
            existing: Some(HashSet::from(["here".into()])),
            ..keep()
        };
        let item = |namespace: &'static str, name: String| Item {
            namespace: namespace.into(),
            name: name.into(),
            ..Item::default()
        };
        let events = ResourceType {
            plural: "events".into(),
            ..pods()
        };
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for at in 0..5 {
            one.note(&pods(), item("gone", format!("p{at}")), &keep);
            other.note(&pods(), item("here", format!("p{at}")), &keep);
            other.note(&pods(), item("", format!("p{at}")), &keep);
            other.note(&events, item("gone", format!("e{at}")), &keep);
        }
        let last = Item {
            deletion: Some(Timestamp::UNIX_EPOCH),
            ..item("gone", "q".into())
        };
        other.note(&pods(), last, &keep);
        one.absorb(other);
        assert_eq!(one.strays.0.len(), 1);
        let stray = &one.strays.0["gone"]["pods"];
        assert_eq!((stray.objects, stray.terminating), (6, 1));
        let first: Vec<_> = stray.first.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(first, ["p0", "p1", "p2"]);
    }

    #[test]
    fn many_at_once_are_as_many_one_by_one() {
        let events = ResourceType {
            plural: "events".into(),
            ..pods()
        };
        for filter in ["", "a/*"] {
            let keep = Keep {
                leaving: Some(BTreeSet::from(["goes".into()])),
                existing: Some(HashSet::from(["here".into(), "goes".into()])),
                filter: Filter {
                    finalizers: filter
                        .split_terminator(',')
                        .map(crate::snapshot::glob::Glob::new)
                        .collect(),
                    ..Filter::default()
                },
                ..keep()
            };
            let (mut at_once, mut one_by_one) = (Tally::default(), Tally::default());
            for ty in [pods(), events.clone()] {
                for (namespace, count) in [("goes", 3), ("here", 2), ("gone", 4), ("", 1), ("goes", 0)] {
                    at_once.note_bare(&ty, namespace, count, &keep);
                    for _ in 0..count {
                        let item = Item {
                            namespace: namespace.into(),
                            ..Item::default()
                        };
                        one_by_one.note(&ty, item, &keep);
                    }
                }
            }
            assert_eq!(at_once.objects, one_by_one.objects);
            assert_eq!(at_once.left, one_by_one.left);
            assert_eq!(at_once.strays, one_by_one.strays);
        }
    }

    #[test]
    fn absorbing_adds_up() {
        let keep = Keep {
            leaving: None,
            ..keep()
        };
        let item = || Item {
            name: "x".into(),
            namespace: "n".into(),
            finalizers: vec!["a/b".into()],
            ..Item::default()
        };
        let (mut one, mut other) = (Tally::default(), Tally::default());
        one.note(&pods(), item(), &keep);
        other.note(&pods(), item(), &keep);
        one.absorb(other);
        assert_eq!(one.objects, 2);
        assert_eq!(one.left["n"]["pods"], 2);
        assert_eq!(one.usage.values().next().map(|usage| usage.objects), Some(2));
    }
}
