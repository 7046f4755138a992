//! Counts objects of one type with the same finalizers together, as a crowd. The same controller must act on all of
//! them, so a diagnosis of one object stands for the crowd.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Seen, usage::OnType};
use crate::object::{Finalizer, ObjectRef, ResourceType};

/// All crowds: type → common properties → crowd.
#[derive(Clone, Debug, Default)]
pub struct Crowds(pub BTreeMap<OnType, BTreeMap<CrowdKey, Crowd>>);

/// What the objects of a crowd have in common. The same controller removes the finalizers of all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrowdKey {
    /// Their finalizers.
    pub finalizers: Vec<Finalizer>,
    /// The CSI driver that they belong to, if they name one.
    pub driver: Option<String>,
}

/// Objects with the same finalizers.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// How many objects.
    pub objects: u64,
    /// How many of them are being deleted.
    pub terminating: u64,
    /// The object that has been in deletion longest, otherwise the first by name. It does not depend on the order of
    /// reading.
    pub first: Seen,
}

impl Crowd {
    /// The rank of the crowd's object. Of several crowds, the lowest rank is diagnosed.
    pub fn rank(&self) -> (Timestamp, &ObjectRef) {
        rank(&self.first)
    }
}

fn rank(seen: &Seen) -> (Timestamp, &ObjectRef) {
    let since = seen.deletion.map(|deletion| deletion.requested_at());
    (since.unwrap_or(Timestamp::MAX), &seen.object)
}

impl Crowds {
    /// Counts an object with these finalizers.
    pub(super) fn count(&mut self, ty: &ResourceType, mut finalizers: Vec<Finalizer>, seen: &Seen) {
        if finalizers.is_empty() {
            return;
        }
        // The order of the finalizers does not matter.
        finalizers.sort_unstable();
        let one = Crowd {
            objects: 1,
            terminating: u64::from(seen.deletion.is_some()),
            first: seen.clone(),
        };
        let key = CrowdKey {
            finalizers,
            driver: seen.driver.clone(),
        };
        self.add(OnType::from(ty), key, one);
    }

    /// Adds the crowds of another part of the scan.
    pub(super) fn absorb(&mut self, other: Crowds) {
        for (on, crowds) in other.0 {
            for (key, crowd) in crowds {
                self.add(on.clone(), key, crowd);
            }
        }
    }

    fn add(&mut self, on: OnType, key: CrowdKey, more: Crowd) {
        let crowds = self.0.entry(on).or_default();
        let Some(known) = crowds.get_mut(&key) else {
            crowds.insert(key, more);
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
    fn the_object_longest_in_deletion_stands_for_the_crowd_in_any_order() {
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
    fn each_set_of_finalizers_is_a_crowd_and_none_is_no_crowd() {
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
