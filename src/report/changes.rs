//! What changed since an earlier snapshot: which stuck objects are new, which went, which stay. Of those that stay, which
//! finalizers were removed. An object never tells that itself.
//!
//! Only what was read at both times can be called new or gone. Everything else is not known, with the reason.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{GapReport, ObjectName};
use crate::{
    object::{Age, Finalizer, ObjectRef},
    snapshot::{Gap, Seen, Snapshot, What},
};

/// What was read at one time, and how far it reaches.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What was read.
    pub snapshot: &'a Snapshot,
    /// The only namespace that was read.
    pub namespace: Option<&'a str>,
    /// Whether it is files from kubectl, which do not say what they lack.
    pub is_dump: bool,
}

/// The changes since an earlier snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesReport {
    /// When the earlier snapshot was taken.
    pub since: Timestamp,
    /// Its file.
    pub file: String,
    /// The server that it was taken of.
    pub source: String,
    /// Objects that are stuck now and were not.
    pub new: Vec<ChangedObject>,
    /// Objects that were stuck and are gone.
    pub went: Vec<ChangedObject>,
    /// Objects that were stuck and still are.
    pub stays: Vec<ChangedObject>,
    /// Objects that were not read at one of the two times.
    pub not_known: Vec<NotKnown>,
}

/// An object in deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedObject {
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectName,
    /// When its deletion was requested.
    pub requested_at: Timestamp,
    /// How long ago that is now.
    #[serde(skip)]
    pub age: Age,
    /// The finalizers that it had before and has no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers_removed: Vec<Finalizer>,
}

/// An object that was not read at one of the two times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotKnown {
    /// Which object.
    #[serde(flatten)]
    pub object: ChangedObject,
    /// At which time it was not read.
    pub not_read: Time,
    /// Why not.
    pub message: String,
}

/// One of the two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    /// When the earlier snapshot was taken.
    Before,
    /// Now.
    Now,
}

type Place = (String, Option<String>, String);

impl ChangesReport {
    /// Compares what is stuck now with what was stuck in the snapshot in `file`.
    pub fn new(file: String, before: Moment<'_>, now: Moment<'_>) -> Self {
        let mut changes = ChangesReport {
            since: before.snapshot.observed_at,
            file,
            source: before.snapshot.source.clone(),
            new: Vec::new(),
            went: Vec::new(),
            stays: Vec::new(),
            not_known: Vec::new(),
        };
        let at = now.snapshot.observed_at;
        let mut earlier: BTreeMap<Place, &Seen> =
            before.stuck().map(|seen| (place(&seen.object), seen)).collect();
        for seen in now.stuck() {
            let Some(mut object) = changed(seen, at) else {
                continue;
            };
            let place = place(&seen.object);
            let same = earlier
                .get(&place)
                .filter(|old| is_same(&old.object, &seen.object));
            if let Some(old) = same.copied() {
                earlier.remove(&place);
                object.finalizers_removed = removed(old, seen);
                changes.stays.push(object);
            } else if object.requested_at > changes.since {
                changes.new.push(object);
            } else {
                match before.unread(&seen.object) {
                    Some(message) => changes.not_known.push(NotKnown {
                        object,
                        not_read: Time::Before,
                        message,
                    }),
                    None => changes.new.push(object),
                }
            }
        }
        let present: BTreeMap<Place, &Seen> = now
            .snapshot
            .tally
            .kept
            .iter()
            .map(|seen| (place(&seen.object), seen))
            .collect();
        for seen in earlier.into_values() {
            let Some(mut object) = changed(seen, at) else {
                continue;
            };
            // An object with another uid and this name proves that this one is gone.
            let message = match present.get(&place(&seen.object)) {
                Some(other) if is_same(&other.object, &seen.object) => {
                    object.finalizers_removed = removed(seen, other);
                    changes.stays.push(object);
                    continue;
                }
                Some(_) => None,
                None => now.unread_since(&seen.object, &before),
            };
            match message {
                Some(message) => changes.not_known.push(NotKnown {
                    object,
                    not_read: Time::Now,
                    message,
                }),
                None => changes.went.push(object),
            }
        }
        changes
    }
}

impl Moment<'_> {
    fn stuck(&self) -> impl Iterator<Item = &Seen> {
        let now = self.snapshot.observed_at;
        let is_stuck = move |seen: &&Seen| seen.deletion.is_some_and(|deletion| !deletion.in_grace(now));
        self.snapshot.tally.kept.iter().filter(is_stuck)
    }

    /// Why the object may exist although it was not seen; none if it was looked for everywhere.
    fn unread(&self, object: &ObjectRef) -> Option<String> {
        if self.is_dump {
            return Some("files from kubectl do not say what they lack".into());
        }
        if let Some(namespace) = self.namespace {
            let is_inside = object.namespace.as_deref() == Some(namespace);
            let is_itself = object.type_name == "namespaces" && object.name == namespace;
            if !(is_inside || is_itself) {
                return Some(format!("only namespace {namespace} was read"));
            }
        }
        let is_type_read = self
            .snapshot
            .types
            .iter()
            .any(|read| read.ty.name() == object.type_name);
        let gap = self
            .snapshot
            .gaps
            .iter()
            .find(|gap| hides(gap, object, is_type_read))?;
        let gap = GapReport::from(gap);
        Some(format!("{}: {}", gap.subject(), gap.message))
    }

    /// The same for an object that was seen before. Where only existing namespaces can be listed, nothing is known of a
    /// namespace that went.
    fn unread_since(&self, object: &ObjectRef, before: &Moment<'_>) -> Option<String> {
        let home = object
            .namespace
            .as_deref()
            .filter(|_| self.snapshot.only_within.contains(&object.type_name));
        let is_stuck = |moment: &Moment<'_>, home: &str| {
            moment
                .stuck()
                .any(|seen| seen.object.type_name == "namespaces" && seen.object.name == home)
        };
        if let Some(home) = home
            && is_stuck(before, home)
            && !is_stuck(self, home)
        {
            return Some(format!("namespace {home} is gone, and cannot be listed any more"));
        }
        self.unread(object)
    }
}

/// Whether the gap may hide the object.
fn hides(gap: &Gap, object: &ObjectRef, is_type_read: bool) -> bool {
    let group = object.type_name.split_once('.').map_or("", |(_, group)| group);
    let is_of_type = |name: &str| name == object.type_name;
    match &gap.what {
        What::Discovery | What::CoreGroup | What::Groups | What::GroupVersion { .. } => {
            !is_type_read && gap.what.hides_types_of(group)
        }
        What::Type { name, .. } => is_of_type(name),
        What::TypeOutside { name, read_in } => {
            let is_read = |home: &String| read_in.contains(home);
            is_of_type(name) && !object.namespace.as_ref().is_some_and(is_read)
        }
        What::TypeIn { name, namespace, .. } => {
            is_of_type(name) && object.namespace.as_deref() == Some(namespace.as_str())
        }
        What::Namespaces => is_of_type("namespaces"),
        What::Namespace(name) => is_of_type("namespaces") && object.name == *name,
        What::File { .. } => true,
        What::Controller(_) | What::Version => false,
    }
}

fn place(object: &ObjectRef) -> Place {
    (
        object.type_name.clone(),
        object.namespace.clone(),
        object.name.clone(),
    )
}

/// Whether two objects of one name are one. A dump may lack the uid.
fn is_same(one: &ObjectRef, other: &ObjectRef) -> bool {
    one.uid == other.uid || one.uid.is_empty() || other.uid.is_empty()
}

/// The finalizers of `before` that are not in `now`.
fn removed(before: &Seen, now: &Seen) -> Vec<Finalizer> {
    let is_gone = |finalizer: &&Finalizer| !now.finalizers.contains(finalizer);
    before.finalizers.iter().filter(is_gone).cloned().collect()
}

fn changed(seen: &Seen, now: Timestamp) -> Option<ChangedObject> {
    let requested_at = seen.deletion?.requested_at();
    Some(ChangedObject {
        object: (&seen.object).into(),
        requested_at,
        age: Age::between(requested_at, now),
        finalizers_removed: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
