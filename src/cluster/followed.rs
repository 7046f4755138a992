//! The state of the followed types. For each type: its objects with finalizers or in deletion, and the number of the
//! others. A scan counts them from here, and need not ask for them.
//!
//! Objects without finalizers are only counted, so the memory does not grow with them.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, btree_map::Entry},
};

use tokio::sync::Notify;

use super::{follow::News, list::needs_each};
use crate::{
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    snapshot::{Item, Keep, Seen, Tally},
};

/// The state of the followed types.
#[derive(Debug, Default)]
pub struct Followed {
    types: RefCell<BTreeMap<String, TypeState>>,
    changes: Cell<u64>,
    news: Notify,
}

/// The state of a type.
#[derive(Debug)]
enum TypeState {
    /// Nothing yet.
    Expected,
    /// Everything.
    Known(Objects),
    /// It cannot be read, by one word for the reason.
    Lost(&'static str),
}

/// The objects of a type.
#[derive(Debug, Default, PartialEq)]
struct Objects {
    /// By namespace and name.
    kept: BTreeMap<(Box<str>, Box<str>), Kept>,
    /// How many others there are in each namespace.
    others: BTreeMap<Box<str>, u64>,
}

/// An object with finalizers or in deletion.
#[derive(Debug, PartialEq)]
struct Kept {
    uid: Box<str>,
    deletion: Option<Deletion>,
    finalizers: Box<[Box<str>]>,
}

/// Whether an object of a list is kept.
pub fn keeps(item: &Item<'_>) -> bool {
    !item.is_bare()
}

/// Which changes of a type's objects can change what a look finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matters {
    /// Those of finalizers and deletions.
    Kept,
    /// Also which objects there are: a Pod can be on a Node that is gone. A Node's status changes all the time.
    Members,
    /// Every change: a scan reads these objects whole, or they define types.
    Everything,
}

impl Matters {
    fn of(ty: &ResourceType) -> Self {
        let defines_types = ty.is("apiextensions.k8s.io", "customresourcedefinitions")
            || ty.is("apiregistration.k8s.io", "apiservices");
        if ty.is("", "nodes") {
            Matters::Members
        } else if needs_each(ty) || defines_types {
            Matters::Everything
        } else {
            Matters::Kept
        }
    }
}

/// Whether the API server serves these objects as another type, too, which is followed. Events are stored once, and
/// served in two groups (`kubernetes/kubernetes:pkg/registry/events/rest/storage_events.go`).
fn is_told_elsewhere(ty: &ResourceType) -> bool {
    ty.is("events.k8s.io", "events")
}

impl Followed {
    /// Adds a type that is followed from now on.
    pub fn add(&self, name: &str) {
        let mut types = self.types.borrow_mut();
        types.entry(name.to_owned()).or_insert(TypeState::Expected);
    }

    /// Forgets a type that the server no longer serves.
    pub fn remove(&self, name: &str) {
        self.types.borrow_mut().remove(name);
        self.change();
        self.news.notify_one();
    }

    /// Waits until each type was read or refused once.
    pub async fn settled(&self) {
        while !self.is_settled() {
            self.news.notified().await;
        }
    }

    fn is_settled(&self) -> bool {
        let types = self.types.borrow();
        !types.values().any(|state| matches!(state, TypeState::Expected))
    }

    /// Waits until there were other changes than these ([`Self::changes`]).
    pub async fn changed(&self, since: u64) {
        while self.changes() == since {
            self.news.notified().await;
        }
    }

    /// How many types are known.
    pub fn known(&self) -> usize {
        let types = self.types.borrow();
        types
            .values()
            .filter(|state| matches!(state, TypeState::Known(_)))
            .count()
    }

    /// A number that grows with each change that a diagnosis may notice: of what has finalizers or is in deletion, of
    /// what is read whole, and of what can be read. Objects that are only counted do not count.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    fn change(&self) {
        self.changes.set(self.changes.get().wrapping_add(1));
    }

    /// Takes the news about a type.
    pub fn take(&self, ty: &ResourceType, news: News) {
        let mut types = self.types.borrow_mut();
        let Some(state) = types.get_mut(&ty.name()) else {
            return;
        };
        let matters = Matters::of(ty);
        let has_changed = match news {
            News::Listed { kept, others } => {
                let objects = Objects {
                    kept: kept.into_iter().map(split).collect(),
                    others,
                };
                // Changes before the list to objects that are not kept are unknown.
                let is_same = |known: &Objects| known.kept == objects.kept && matters == Matters::Kept;
                let has_changed = !matches!(state, TypeState::Known(known) if is_same(known));
                *state = TypeState::Known(objects);
                has_changed
            }
            News::Changed { seen, is_new } => {
                let TypeState::Known(objects) = state else { return };
                let is_other = objects.set(seen, is_new);
                is_other || matters == Matters::Everything || matters == Matters::Members && is_new
            }
            News::Deleted(object) => {
                let TypeState::Known(objects) = state else { return };
                objects.remove(object) || matters != Matters::Kept
            }
            News::Lost(why) => {
                let word = why.word();
                let is_news = !matches!(state, TypeState::Lost(known) if *known == word);
                *state = TypeState::Lost(word);
                is_news
            }
            News::Watched | News::NotWatched(_) => false,
        };
        if has_changed {
            self.change();
        }
        self.news.notify_one();
    }

    /// Counts the objects of a type; none if they are not known.
    pub(super) fn tally(&self, ty: &ResourceType, keep: &Keep) -> Option<Tally> {
        // These are followed only to learn that something changed.
        if needs_each(ty) {
            return None;
        }
        let types = self.types.borrow();
        let core_events = || matches!(types.get("events"), Some(TypeState::Known(_)));
        if is_told_elsewhere(ty) && core_events() {
            return Some(Tally::default());
        }
        let TypeState::Known(objects) = types.get(&ty.name())? else {
            return None;
        };
        let mut tally = Tally::default();
        for (namespace, count) in &objects.others {
            tally.note_bare(ty, namespace, *count, keep);
        }
        for ((namespace, name), kept) in &objects.kept {
            tally.note(ty, kept.item(namespace, name), keep);
        }
        Some(tally)
    }
}

impl Objects {
    /// Takes what an object is now. Says whether that matters.
    fn set(&mut self, seen: Seen, is_new: bool) -> bool {
        let is_bare = seen.deletion.is_none() && seen.finalizers.is_empty();
        let (name, kept) = split(seen);
        let namespace = name.0.clone();
        let was_kept = match (self.kept.entry(name), is_bare) {
            (Entry::Occupied(known), true) => {
                known.remove();
                true
            }
            (Entry::Occupied(mut known), false) => {
                // The state of an object in deletion says why it stays.
                let matters = *known.get() != kept || kept.deletion.is_some();
                known.insert(kept);
                return matters;
            }
            (Entry::Vacant(_), true) => false,
            (Entry::Vacant(place), false) => {
                place.insert(kept);
                false
            }
        };
        match (is_bare, was_kept || is_new) {
            (true, true) => self.count(namespace, 1),
            (false, false) => self.count(namespace, -1),
            _ => {}
        }
        was_kept || !is_bare
    }

    /// Forgets an object. Says whether that matters.
    fn remove(&mut self, object: ObjectRef) -> bool {
        let name = (object.namespace.unwrap_or_default().into(), object.name.into());
        if self.kept.remove(&name).is_some() {
            return true;
        }
        self.count(name.0, -1);
        false
    }

    fn count(&mut self, namespace: Box<str>, more: i64) {
        let count = self.others.entry(namespace).or_default();
        *count = count.saturating_add_signed(more);
    }
}

impl Kept {
    fn item<'a>(&'a self, namespace: &'a str, name: &'a str) -> Item<'a> {
        Item {
            namespace: namespace.into(),
            name: name.into(),
            uid: (&*self.uid).into(),
            deletion: self.deletion.map(|deletion| deletion.timestamp),
            grace_seconds: self.deletion.map(|deletion| deletion.grace_seconds),
            finalizers: self.finalizers.iter().map(|name| (&**name).into()).collect(),
            ..Item::default()
        }
    }
}

fn split(seen: Seen) -> ((Box<str>, Box<str>), Kept) {
    let object = seen.object;
    let in_metadata =
        |finalizer: Finalizer| (finalizer.list == List::Metadata).then(|| finalizer.name.into());
    let kept = Kept {
        uid: object.uid.into(),
        deletion: seen.deletion,
        finalizers: seen.finalizers.into_iter().filter_map(in_metadata).collect(),
    };
    (
        (object.namespace.unwrap_or_default().into(), object.name.into()),
        kept,
    )
}

#[cfg(test)]
mod tests;
