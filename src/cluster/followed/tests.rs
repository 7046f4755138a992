//! What is known of followed types equals what a list would show, and only what matters counts as a change.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::snapshot::{Filter, Why};

fn ty(group: &str, plural: &str) -> ResourceType {
    ResourceType {
        group: group.into(),
        version: "v1".into(),
        plural: plural.into(),
        kind: plural.into(),
        namespaced: true,
        ..ResourceType::default()
    }
}

fn seen(namespace: &str, name: &str, finalizers: &[&str], is_deleted: bool) -> Seen {
    let item = Item {
        namespace: namespace.into(),
        name: name.into(),
        uid: format!("uid of {name}").into(),
        deletion: is_deleted.then_some(Timestamp::UNIX_EPOCH),
        finalizers: finalizers.iter().map(|name| (*name).into()).collect(),
        ..Item::default()
    };
    crate::snapshot::tally::seen(&ty("", "pods"), item)
}

fn keep() -> Keep {
    Keep {
        all: false,
        filter: Filter::default(),
        now: Timestamp::UNIX_EPOCH,
        content_of: Some(BTreeSet::from(["a".to_owned()])),
        crowds: false,
        known_namespaces: Some(HashSet::from(["a".into()])),
    }
}

/// The list of these objects.
fn listed(objects: &[Seen]) -> News {
    let (kept, bare): (Vec<_>, Vec<_>) = objects
        .iter()
        .cloned()
        .partition(|seen| seen.deletion.is_some() || !seen.finalizers.is_empty());
    let mut others = BTreeMap::new();
    for seen in bare {
        let namespace = seen.object.namespace.unwrap_or_default().into();
        *others.entry(namespace).or_default() += 1;
    }
    News::Listed { kept, others }
}

fn followed(ty: &ResourceType, objects: &[Seen]) -> Followed {
    let followed = Followed::default();
    followed.add(&ty.name());
    followed.take(ty, listed(objects));
    followed
}

/// Whether news count as a change.
fn matters(followed: &Followed, ty: &ResourceType, news: News) -> bool {
    let before = followed.changes();
    followed.take(ty, news);
    followed.changes() != before
}

fn made(seen: Seen) -> News {
    News::Changed { seen, is_new: true }
}

fn changed(seen: Seen) -> News {
    News::Changed { seen, is_new: false }
}

/// Whatever happens to a few objects, the watch ends where a new list would begin.
#[test]
fn events_lead_to_the_state_of_a_list() {
    proptest!(|(steps in prop::collection::vec((0..6usize, 0..3usize, any::<bool>()), 0..40))| {
        let pods = ty("", "pods");
        let mut stored: BTreeMap<usize, Seen> = BTreeMap::new();
        let followed = followed(&pods, &[]);
        for (name, finalizers, is_deleted) in steps {
            let namespace = if name % 2 == 0 { "a" } else { "b" };
            let held = &["x/1", "x/2"][..finalizers];
            let now = seen(namespace, &name.to_string(), held, is_deleted && finalizers > 0);
            if is_deleted && finalizers == 0 {
                if let Some(gone) = stored.remove(&name) {
                    followed.take(&pods, News::Deleted(gone.object));
                }
            } else {
                let is_new = stored.insert(name, now.clone()).is_none();
                followed.take(&pods, News::Changed { seen: now, is_new });
            }
        }
        let objects: Vec<_> = stored.into_values().collect();
        let at_once = self::followed(&pods, &objects);
        let [one, other] = [followed, at_once].map(|all| all.tally(&pods, &keep()).expect("known"));
        prop_assert_eq!(one.objects, other.objects);
        prop_assert_eq!(one.usage, other.usage);
        prop_assert_eq!(one.kept, other.kept);
        prop_assert_eq!(one.remaining, other.remaining);
        prop_assert_eq!(one.leftovers, other.leftovers);
    });
}

#[test]
fn only_finalizers_and_deletions_matter_of_most_types() {
    let pods = ty("", "pods");
    let plain = || seen("a", "plain", &[], false);
    let followed = followed(&pods, &[plain(), seen("a", "held", &["x/1"], false)]);
    assert!(!matters(&followed, &pods, made(seen("a", "new", &[], false))));
    assert!(!matters(&followed, &pods, changed(plain())));
    assert!(!matters(
        &followed,
        &pods,
        changed(seen("a", "held", &["x/1"], false))
    ));
    assert!(!matters(&followed, &pods, News::Deleted(plain().object)));
    assert!(matters(
        &followed,
        &pods,
        changed(seen("a", "held", &["x/1"], true))
    ));
    // Why it stays may be another reason now.
    assert!(matters(
        &followed,
        &pods,
        changed(seen("a", "held", &["x/1"], true))
    ));
    assert!(matters(&followed, &pods, changed(seen("a", "held", &[], true))));
    assert!(matters(
        &followed,
        &pods,
        News::Deleted(seen("a", "held", &[], true).object)
    ));
    assert!(matters(
        &followed,
        &pods,
        made(seen("a", "other", &["x/1"], false))
    ));
}

#[test]
fn nodes_matter_when_they_come_and_go_and_namespaces_always() {
    let nodes = ty("", "nodes");
    let one = || seen("", "one", &[], false);
    let of_nodes = followed(&nodes, &[one()]);
    assert!(!matters(&of_nodes, &nodes, changed(one())));
    assert!(matters(&of_nodes, &nodes, made(seen("", "two", &[], false))));
    assert!(matters(&of_nodes, &nodes, News::Deleted(one().object)));
    for always in [
        ty("", "namespaces"),
        ty("", "persistentvolumes"),
        ty("apiextensions.k8s.io", "customresourcedefinitions"),
    ] {
        let followed = followed(&always, &[one()]);
        assert!(matters(&followed, &always, changed(one())), "{}", always.name());
    }
}

#[test]
fn a_scan_still_reads_types_that_it_needs_in_full() {
    for whole in ["namespaces", "nodes", "persistentvolumes"] {
        let ty = ty("", whole);
        assert!(followed(&ty, &[]).tally(&ty, &keep()).is_none(), "{whole}");
    }
}

#[test]
fn a_type_that_cannot_be_read_is_not_known_and_says_so_once() {
    let pods = ty("", "pods");
    let followed = followed(&pods, &[seen("a", "held", &["x/1"], false)]);
    assert!(matters(&followed, &pods, News::Lost(Why::Forbidden("no".into()))));
    assert!(!matters(
        &followed,
        &pods,
        News::Lost(Why::Forbidden("still no".into()))
    ));
    assert!(followed.tally(&pods, &keep()).is_none());
    assert_eq!((followed.known(), followed.is_settled()), (0, true));
    assert!(matters(&followed, &pods, listed(&[])));
    assert_eq!(followed.tally(&pods, &keep()).map(|tally| tally.objects), Some(0));
}

#[test]
fn a_list_that_shows_the_same_is_no_change() {
    let pods = ty("", "pods");
    let objects = [seen("a", "held", &["x/1"], false)];
    let followed = followed(&pods, &objects);
    assert!(!matters(&followed, &pods, listed(&objects)));
    assert!(matters(&followed, &pods, listed(&[])));
}

#[test]
fn events_of_two_groups_are_counted_once() {
    let (core, other) = (ty("", "events"), ty("events.k8s.io", "events"));
    let event = seen("a", "one", &[], false);
    let followed = followed(&core, std::slice::from_ref(&event));
    followed.add(&other.name());
    followed.take(&other, listed(&[event]));
    let objects = |ty: &ResourceType| followed.tally(ty, &keep()).map(|tally| tally.objects);
    assert_eq!((objects(&core), objects(&other)), (Some(1), Some(0)));
    followed.remove("events");
    assert_eq!(objects(&other), Some(1));
}
