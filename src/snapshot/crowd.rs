//! Objects of one type that carry the same finalizers, counted together as they go by. Whoever must remove one of
//! these is asked for once and not for each object, so one object of a crowd is kept to be looked at for all.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Seen, usage::OnType};
use crate::object::{Finalizer, ObjectRef, ResourceType};

/// All crowds, by type and what their objects have in common.
#[derive(Clone, Debug, Default)]
pub struct Crowds(pub BTreeMap<OnType, BTreeMap<Alike, Crowd>>);

/// What the objects of a crowd have in common: whoever holds one of them holds them all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// Their finalizers.
    pub finalizers: Vec<Finalizer>,
    /// The CSI driver that they belong to, as far as they say.
    pub driver: Option<String>,
}

/// Objects with the same finalizers.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// How many.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// The one that has been in deletion for the longest time, else the first by name: the same one whatever the order
    /// that they went by in.
    pub first: Seen,
}

impl Crowd {
    /// Of which of several crowds an object is looked at.
    pub fn rank(&self) -> (Timestamp, &ObjectRef) {
        rank(&self.first)
    }
}

fn rank(seen: &Seen) -> (Timestamp, &ObjectRef) {
    let since = seen.deletion.map(|deletion| deletion.requested_at());
    (since.unwrap_or(Timestamp::MAX), &seen.object)
}

impl Crowds {
    /// Counts an object that carries these.
    pub(super) fn count(&mut self, ty: &ResourceType, mut finalizers: Vec<Finalizer>, seen: &Seen) {
        if finalizers.is_empty() {
            return;
        }
        // In another order they are the same.
        finalizers.sort_unstable();
        let one = Crowd {
            objects: 1,
            terminating: u64::from(seen.deletion.is_some()),
            first: seen.clone(),
        };
        let alike = Alike {
            finalizers,
            driver: seen.driver.clone(),
        };
        self.add(OnType::from(ty), alike, one);
    }

    /// Adds what went by elsewhere.
    pub(super) fn absorb(&mut self, other: Crowds) {
        for (on, crowds) in other.0 {
            for (alike, crowd) in crowds {
                self.add(on.clone(), alike, crowd);
            }
        }
    }

    fn add(&mut self, on: OnType, alike: Alike, more: Crowd) {
        let crowds = self.0.entry(on).or_default();
        let Some(known) = crowds.get_mut(&alike) else {
            crowds.insert(alike, more);
            return;
        };
        known.objects += more.objects;
        known.terminating += more.terminating;
        if more.rank() < known.rank() {
            known.first = more.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Deletion, List};

    fn seen(name: &str, deleted: Option<i64>) -> Seen {
        Seen {
            object: ObjectRef {
                type_name: "as.x.test".into(),
                kind: "A".into(),
                api_version: "x.test/v1".into(),
                namespace: Some("n".into()),
                name: name.into(),
                uid: name.into(),
            },
            created: None,
            deletion: deleted.map(|second| Deletion {
                timestamp: Timestamp::from_second(second).expect("a time"),
                grace_seconds: 0,
            }),
            finalizers: Vec::new(),
            conditions: Vec::new(),
            driver: None,
        }
    }

    fn finalizers(names: &[&str]) -> Vec<Finalizer> {
        let name = |name: &&str| Finalizer {
            list: List::Metadata,
            name: (*name).into(),
        };
        names.iter().map(name).collect()
    }

    #[test]
    fn the_longest_in_deletion_stands_for_all_in_whatever_order_they_come() {
        let objects = [("c", Some(20)), ("a", None), ("d", Some(10)), ("b", Some(10))];
        for turn in 0..objects.len() {
            let (mut one, mut other) = (Crowds::default(), Crowds::default());
            for (at, (name, deleted)) in objects.iter().cycle().skip(turn).take(objects.len()).enumerate() {
                let crowds = if at % 2 == 0 { &mut one } else { &mut other };
                let names = if at % 2 == 0 { ["x", "y"] } else { ["y", "x"] };
                crowds.count(
                    &ResourceType::default(),
                    finalizers(&names),
                    &seen(name, *deleted),
                );
            }
            one.absorb(other);
            let crowds: Vec<_> = one.0.values().flat_map(BTreeMap::values).collect();
            let [crowd] = crowds.as_slice() else {
                panic!("{crowds:?}")
            };
            assert_eq!((crowd.objects, crowd.terminating), (4, 3));
            assert_eq!(crowd.first.object.name, "b");
        }
    }

    #[test]
    fn other_finalizers_are_another_crowd_and_none_are_no_crowd() {
        let mut crowds = Crowds::default();
        for names in [&["x"][..], &["x", "y"], &[]] {
            crowds.count(&ResourceType::default(), finalizers(names), &seen("a", None));
        }
        assert_eq!(crowds.0.values().map(BTreeMap::len).sum::<usize>(), 2);
        let of_a_driver = Seen {
            driver: Some("disks.example.test".into()),
            ..seen("a", None)
        };
        crowds.count(&ResourceType::default(), finalizers(&["x"]), &of_a_driver);
        assert_eq!(crowds.0.values().map(BTreeMap::len).sum::<usize>(), 3);
    }
}
