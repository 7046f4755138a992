//! Counts objects as they are read, and keeps the few that are printed.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, HashSet},
    mem,
};

use jiff::Timestamp;

use super::{
    Crowds, NamespaceLeftovers, Seen, Storage,
    filter::{Filter, Item},
    leftovers::expires,
    usage::Usage,
};
use crate::object::{Deletion, Finalizer, ObjectRef, ResourceType};

/// The remaining content of each namespace that is being deleted: namespace → type → objects. The scan lists it itself.
/// The namespace's conditions may say that all content is gone while it is not
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`, 1.33 and later).
pub type RemainingContent = BTreeMap<String, BTreeMap<String, u64>>;

/// Decides which objects are kept.
#[derive(Clone, Debug)]
pub struct Keep {
    /// Keep every object with a finalizer, not only objects that are being deleted.
    pub all: bool,
    /// Which objects count.
    pub filter: Filter,
    /// The time at which ages are measured.
    pub now: Timestamp,
    /// The namespaces whose content is counted; none for every namespace.
    pub content_of: Option<BTreeSet<String>>,
    /// Whether to count objects with the same finalizers together. A scan by controller needs it.
    pub crowds: bool,
    /// The namespaces that exist; none if that is not known.
    pub known_namespaces: Option<HashSet<Box<str>>>,
}

/// Bytes that a scan, or all lists that a diagnosis reads, may keep. A million objects in deletion need less, and so do 200,000
/// whole Pods. Without a limit, a server that invents objects would fill the memory.
const MAX_KEPT: usize = 1 << 30;

/// The memory that is left for what all lists of a run keep.
#[derive(Debug)]
pub struct Room(Cell<usize>);

impl Default for Room {
    fn default() -> Self {
        Room(Cell::new(MAX_KEPT))
    }
}

impl Room {
    /// The room beside so many bytes that are kept already.
    pub fn beside(kept: usize) -> Self {
        Room(Cell::new(MAX_KEPT.saturating_sub(kept)))
    }

    /// The bytes that are kept.
    pub fn kept(&self) -> usize {
        MAX_KEPT.saturating_sub(self.0.get())
    }

    /// Takes the room for what was counted. False if there is not enough; then nothing more has room.
    pub fn take(&self, tally: &Tally) -> bool {
        let is_taken = self.take_bytes(tally.size());
        if !is_taken {
            self.0.set(0);
        }
        is_taken
    }

    /// Takes the room for so many bytes. False if there is not enough.
    pub fn take_bytes(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }

    /// Gives back what is not kept after all.
    pub fn give_back(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes));
    }
}

impl Keep {
    /// Whether an object is in a namespace that does not exist.
    fn is_leftover(&self, ty: &ResourceType, item: &Item<'_>) -> bool {
        let missing = |names: &HashSet<Box<str>>| !names.contains(&*item.namespace);
        !item.namespace.is_empty() && self.known_namespaces.as_ref().is_some_and(missing) && !expires(ty)
    }
}

/// What a scan counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All objects, with or without finalizers.
    pub objects: u64,
    /// Objects that are being deleted; with [`Keep::all`] every object with a finalizer.
    pub kept: Vec<Seen>,
    /// How each finalizer is used.
    pub usage: BTreeMap<Finalizer, Usage>,
    /// Objects with the same finalizers; empty without [`Keep::crowds`].
    pub crowds: Crowds,
    /// The content of the namespaces that are being deleted.
    pub remaining: RemainingContent,
    /// Objects in namespaces that do not exist.
    pub leftovers: NamespaceLeftovers,
    /// Nodes, volumes and attachments; none if only metadata was read.
    pub storage: Option<Storage>,
}

impl Tally {
    /// Counts one object, and keeps it if it is printed later.
    pub fn note(&mut self, ty: &ResourceType, item: Item<'_>, keep: &Keep) {
        self.objects += 1;
        if !item.namespace.is_empty()
            && keep
                .content_of
                .as_ref()
                .is_none_or(|names| names.contains(&*item.namespace))
        {
            self.count_remaining(&item.namespace, &ty.name());
        }
        let leftover = keep.is_leftover(ty, &item);
        if item.is_bare() && !leftover {
            return;
        }
        let seen = seen(ty, item);
        if !keep.filter.seen(&seen, keep.now) {
            return;
        }
        if leftover && let Some(namespace) = &seen.object.namespace {
            self.leftovers.count(namespace, &seen);
        }
        let terminating = seen.deletion.is_some();
        for finalizer in &seen.finalizers {
            if keep.filter.finalizer(&finalizer.name) {
                self.count_finalizer(finalizer, ty, terminating);
            }
        }
        if keep.crowds {
            let selected = seen
                .finalizers
                .iter()
                .filter(|finalizer| keep.filter.finalizer(&finalizer.name));
            self.crowds.count(ty, selected.cloned().collect(), &seen);
        }
        if terminating || (keep.all && !seen.finalizers.is_empty()) {
            self.kept.push(seen);
        }
    }

    /// Counts many objects at once that have neither finalizers, a deletion mark nor a known name.
    pub fn note_bare(&mut self, ty: &ResourceType, namespace: &str, count: u64, keep: &Keep) {
        let Some(more) = count.checked_sub(1) else { return };
        let item = Item {
            namespace: namespace.into(),
            ..Item::default()
        };
        let (name, before) = (ty.name(), self.leftovers.count_of(namespace, &ty.name()));
        self.note(ty, item, keep);
        self.objects += more;
        if let Some(remaining) = self
            .remaining
            .get_mut(namespace)
            .and_then(|types| types.get_mut(&name))
        {
            *remaining += more;
        }
        // The others count only if the first one did.
        if self.leftovers.count_of(namespace, &name) > before {
            self.leftovers.add(namespace, &name, more);
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
            for (ty, objects) in more.on {
                *usage.on.entry(ty).or_default() += objects;
            }
        }
        self.crowds.absorb(other.crowds);
        for (namespace, types) in other.remaining {
            let remaining = self.remaining.entry(namespace).or_default();
            for (name, count) in types {
                *remaining.entry(name).or_default() += count;
            }
        }
        self.leftovers.absorb(other.leftovers);
        if let Some(more) = other.storage {
            self.storage.get_or_insert_default().absorb(more);
        }
    }

    /// About how many bytes it holds: all that grows with what a server sends.
    fn size(&self) -> usize {
        let name = |text: &String| mem::size_of::<String>() + text.len();
        let kept: usize = self.kept.iter().map(Seen::size).sum();
        let finalizers: usize = self.usage.keys().map(|finalizer| name(&finalizer.name)).sum();
        let crowds = self.crowds.0.values().flat_map(BTreeMap::values);
        let crowds: usize = crowds.map(|crowd| crowd.first.size()).sum();
        let remaining: usize = self.remaining.keys().map(name).sum();
        let leftovers: usize = self.leftovers.0.keys().map(name).sum();
        [kept, finalizers, crowds, remaining, leftovers].iter().sum()
    }

    fn count_remaining(&mut self, namespace: &str, type_name: &str) {
        // Two lookups instead of `entry`, which would allocate both names for each object of a large type.
        if !self.remaining.contains_key(namespace) {
            self.remaining.insert(namespace.to_owned(), BTreeMap::new());
        }
        if let Some(types) = self.remaining.get_mut(namespace) {
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
            *usage.on.entry(ty.into()).or_default() += 1;
        }
    }
}

/// What is kept of an object.
pub fn seen(ty: &ResourceType, item: Item<'_>) -> Seen {
    let mut finalizers = item.all_finalizers();
    // The API server accepts the same finalizer twice in a list. It still counts once.
    let mut known = BTreeSet::new();
    finalizers.retain(|finalizer| known.insert(finalizer.clone()));
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
            content_of: Some(BTreeSet::new()),
            crowds: false,
            known_namespaces: None,
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
    fn kept_objects_are_limited_and_counts_are_not() {
        let page = |name: &str, deletion: Option<Timestamp>| {
            let mut tally = Tally::default();
            for number in 0..100 {
                let item = Item {
                    name: format!("{name}-{number}").into(),
                    namespace: "shop".into(),
                    finalizers: vec!["a/b".into()],
                    deletion,
                    ..Item::default()
                };
                tally.note(&pods(), item, &keep());
            }
            tally
        };
        let (alive, going) = (page("a", None), page("b", Some(Timestamp::UNIX_EPOCH)));
        assert!(going.size() > 100 * mem::size_of::<Seen>(), "{}", going.size());
        assert!(alive.size() < 1000, "{}", alive.size());
        let long = page(&"long".repeat(1000), Some(Timestamp::UNIX_EPOCH));
        assert!(long.size() > going.size() + 300_000);
        let room = Room(Cell::new(3 * going.size()));
        assert!(room.take(&going) && room.take(&going) && room.take(&alive));
        assert!(!room.take(&going) && !room.take(&alive));
        // What is only counted needs no room.
        assert!(room.take(&Tally::default()));
    }

    #[test]
    fn keeps_only_objects_in_deletion_and_counts_a_finalizer_once_an_object() {
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
    fn counts_objects_in_missing_namespaces_and_names_the_first() {
        let keep = Keep {
            known_namespaces: Some(HashSet::from(["here".into()])),
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
        assert_eq!(one.leftovers.0.len(), 1);
        let leftover = &one.leftovers.0["gone"]["pods"];
        assert_eq!((leftover.objects, leftover.terminating), (6, 1));
        let first: Vec<_> = leftover.first.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(first, ["p0", "p1", "p2"]);
    }

    #[test]
    fn counting_many_at_once_equals_counting_one_by_one() {
        let events = ResourceType {
            plural: "events".into(),
            ..pods()
        };
        for filter in ["", "a/*"] {
            let keep = Keep {
                content_of: Some(BTreeSet::from(["goes".into()])),
                known_namespaces: Some(HashSet::from(["here".into(), "goes".into()])),
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
            assert_eq!(at_once.remaining, one_by_one.remaining);
            assert_eq!(at_once.leftovers, one_by_one.leftovers);
        }
    }

    #[test]
    fn absorb_adds_the_counts() {
        let keep = Keep {
            content_of: None,
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
        assert_eq!(one.remaining["n"]["pods"], 2);
        assert_eq!(one.usage.values().next().map(|usage| usage.objects), Some(2));
    }
}
