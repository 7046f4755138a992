//! What becomes of a report, and how many series it can be.

#![allow(clippy::float_cmp, reason = "small numbers are exact")]

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::{
    command::RunFlags,
    diagnose::{Diagnosis, Finding, Verdict, model::Page},
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    report::{
        causes::Examination,
        leftovers::{LeftoverObjects, Leftovers},
        scan::ScanView,
    },
    snapshot::{Gap, Keep, Namespaces, Seen, Snapshot, Tally, TypeRead, What, Why},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn going(namespace: &str, name: &str, finalizer: &str) -> Seen {
    Seen {
        object: ObjectRef {
            type_name: "widgets.example.com".into(),
            kind: "Widget".into(),
            api_version: "example.com/v1".into(),
            namespace: Some(namespace.into()),
            name: name.into(),
            uid: String::new(),
        },
        created: None,
        deletion: Some(Deletion {
            timestamp: NOW - SignedDuration::from_mins(90),
            grace_seconds: 0,
        }),
        finalizers: vec![Finalizer {
            list: List::Metadata,
            name: finalizer.into(),
        }],
        conditions: Vec::new(),
        driver: None,
    }
}

fn snapshot(kept: Vec<Seen>) -> Snapshot {
    Snapshot {
        observed_at: NOW,
        source: "a test".into(),
        server_version: None,
        types: vec![TypeRead {
            ty: ResourceType {
                group: "example.com".into(),
                version: "v1".into(),
                plural: "widgets".into(),
                kind: "Widget".into(),
                namespaced: true,
                ..ResourceType::default()
            },
            objects: kept.len() as u64,
        }],
        tally: Tally {
            kept,
            ..Tally::default()
        },
        namespaces: Namespaces::Known,
        only_within: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        interrupted: false,
    }
}

/// The result of looking at one object: its first finalizer waits for this reason.
fn explained(seen: &Seen, verdict: Verdict) -> Examined<'_> {
    let mut finding = Finding::new(seen.finalizers.first().cloned(), verdict, "it waits");
    finding.tell_of(Page::of(
        "kubectl_finalizers::diagnose::causes::storage::pvc_protection",
    ));
    let diagnosis = Diagnosis {
        target: seen.object.clone(),
        deletion: seen.deletion,
        observed_at: NOW,
        headline: String::new(),
        risk: None,
        fault: None,
        lets_go: Vec::new(),
        waits: vec![finding.wait],
        outlook: Vec::new(),
        effects: Vec::new(),
        steps: Vec::new(),
        steps_for: Vec::new(),
        do_not: Vec::new(),
        evidence: Vec::new(),
        gaps: Vec::new(),
    };
    Examined {
        seen,
        result: Examination::Explained(Box::new(diagnosis)),
        content: Vec::new(),
    }
}

fn metrics(snapshot: &Snapshot, with_names: bool, look: impl Fn(&Seen) -> Examined<'_>) -> Vec<Family> {
    let knowledge = Knowledge::builtin();
    let mut report = ScanReport::new(snapshot, &knowledge, &ScanView::default());
    let examined: Vec<_> = snapshot.tally.kept.iter().map(look).collect();
    report.add_causes(&examined, &knowledge, &RunFlags::default());
    let found = Leftovers {
        volumes: Some(LeftoverObjects {
            count: 3,
            first: Vec::new(),
        }),
        ..Leftovers::default()
    };
    report.add_leftovers(found, &RunFlags::default());
    of_scan(&report, &examined, &knowledge, with_names)
}

/// The series of one family, each with its labels and its value.
fn series(families: &[Family], name: &str) -> Vec<(String, f64)> {
    let family = families.iter().find(|family| family.name == name);
    let family = family.unwrap_or_else(|| panic!("there is no {name}"));
    let series = family.series.iter();
    series
        .map(|series| {
            assert_eq!(series.labels.len(), family.labels.len(), "{name}");
            (series.labels.join(" "), series.value)
        })
        .collect()
}

fn total(families: &[Family], name: &str) -> f64 {
    series(families, name).iter().map(|(_, value)| value).sum()
}

#[test]
fn each_object_is_counted_once_by_what_tells_most() {
    let mut held = going("db", "a", "kubernetes.io/pvc-protection");
    held.finalizers.push(Finalizer {
        list: List::Metadata,
        name: "example.com/b".into(),
    });
    let snapshot = snapshot(vec![held, going("db", "b", "kubernetes.io/pvc-protection")]);
    let found = metrics(&snapshot, false, |seen| explained(seen, Verdict::InUse));
    let [(labels, 2.0)] = &series(&found, "finalizers_deletion_objects")[..] else {
        panic!("{found:#?}");
    };
    assert!(
        labels.starts_with("widgets example.com db in-use storage/pvc_protection "),
        "{labels}"
    );
    assert!(labels.ends_with(" kubernetes.io/pvc-protection"), "{labels}");
    assert_eq!(
        series(&found, "finalizers_deletion_oldest_seconds"),
        [("widgets example.com storage/pvc_protection".to_owned(), 5400.0)]
    );
    assert_eq!(
        series(&found, "finalizers_left_behind_objects"),
        [("volumes".to_owned(), 3.0)]
    );
}

#[test]
fn root_causes_have_the_state_of_the_json() {
    let snapshot = snapshot(vec![
        going("db", "a", "example.com/b"),
        going("web", "b", "example.com/b"),
    ]);
    let found = metrics(&snapshot, false, |seen| explained(seen, Verdict::Orphaned));
    let causes = series(&found, "finalizers_root_causes");
    assert!(
        causes.iter().all(|(labels, _)| labels.starts_with("gone ")),
        "{causes:?}"
    );
    // The page is that of the objects that wait for it.
    assert!(
        causes
            .iter()
            .all(|(labels, _)| labels.ends_with(" storage/pvc_protection")),
        "{causes:?}"
    );
    assert_eq!(total(&found, "finalizers_root_cause_objects"), 2.0);
}

#[test]
fn objects_that_are_gone_are_not_counted_and_those_without_a_look_are() {
    let snapshot = snapshot(vec![going("db", "gone", "a/b"), going("db", "many", "a/b")]);
    let found = metrics(&snapshot, false, |seen| Examined {
        seen,
        result: if seen.object.name == "gone" {
            Examination::Gone
        } else {
            Examination::NotLookedAt
        },
        content: Vec::new(),
    });
    let objects = series(&found, "finalizers_deletion_objects");
    assert_eq!(objects.len(), 1, "{objects:?}");
    assert!(objects[0].0.contains(" not-looked-at "), "{objects:?}");
    assert_eq!(total(&found, "finalizers_not_looked_at_objects"), 1.0);
}

#[test]
fn objects_are_named_only_on_request() {
    let snapshot = snapshot(vec![going("db", "secret-name", "a/b")]);
    let without = format!(
        "{:?}",
        metrics(&snapshot, false, |seen| explained(seen, Verdict::Unknown))
    );
    assert!(!without.contains("secret-name"), "{without}");
    let found = metrics(&snapshot, true, |seen| explained(seen, Verdict::Unknown));
    let named = series(&found, "finalizers_deletion");
    assert_eq!(named.len(), 1);
    assert!(
        named[0].0.contains("secret-name")
            && named[0]
                .0
                .ends_with("kubectl finalizers explain widgets.example.com/secret-name -n db"),
        "{named:?}"
    );
}

#[test]
fn series_beyond_the_limit_are_merged_and_counted() {
    let all = (0..2_500).map(|n| {
        let (namespace, finalizer) = (format!("ns-{}", n % 2_000), format!("example.com/f-{}", n % 300));
        going(&namespace, &format!("o-{n}"), &finalizer)
    });
    let snapshot = snapshot(all.collect());
    let found = metrics(&snapshot, true, |seen| explained(seen, Verdict::Unknown));
    assert_eq!(total(&found, "finalizers_deletion_objects"), 2_500.0);
    for family in &found {
        assert!(
            family.series.len() <= 1_001,
            "{}: {}",
            family.name,
            family.series.len()
        );
    }
    let folded = series(&found, "finalizers_folded");
    let folded: BTreeMap<_, _> = folded
        .iter()
        .map(|(what, count)| (what.as_str(), *count))
        .collect();
    assert_eq!(folded["namespaces"], 1_800.0);
    assert_eq!(folded["finalizers"], 100.0);
    assert_eq!(folded["finalizers_deletion"], 2_000.0);
}

#[test]
fn finalizers_in_use_are_counted_by_type() {
    let keep = Keep {
        all: false,
        crowds: false,
        filter: crate::snapshot::Filter::default(),
        now: NOW,
        content_of: None,
        known_namespaces: None,
    };
    let mut snapshot = snapshot(Vec::new());
    for (plural, objects) in [("widgets", 2), ("gadgets", 1)] {
        let ty = ResourceType {
            group: "example.com".into(),
            plural: plural.into(),
            ..ResourceType::default()
        };
        for n in 0..objects {
            let item = crate::snapshot::Item {
                name: format!("{plural}-{n}").into(),
                finalizers: vec!["a/b".into()],
                ..crate::snapshot::Item::default()
            };
            snapshot.tally.note(&ty, item, &keep);
        }
    }
    let found = metrics(&snapshot, false, |seen| explained(seen, Verdict::Unknown));
    assert_eq!(
        series(&found, "finalizers_in_use_objects"),
        [
            ("a/b gadgets example.com".to_owned(), 1.0),
            ("a/b widgets example.com".to_owned(), 2.0)
        ]
    );
}

#[test]
fn gaps_have_their_reason() {
    let mut snapshot = snapshot(Vec::new());
    snapshot.gaps.push(Gap {
        what: What::Type {
            name: "secrets".into(),
            read: 0,
        },
        why: Why::Forbidden("no".into()),
    });
    let found = metrics(&snapshot, false, |seen| explained(seen, Verdict::Unknown));
    assert_eq!(
        series(&found, "finalizers_gaps"),
        [("scan type secrets Forbidden".to_owned(), 1.0)]
    );
}

#[test]
fn a_look_that_fails_leaves_the_last_success() {
    let look = |seconds, succeeded| Look {
        ended: NOW + SignedDuration::from_secs(seconds),
        took: Duration::from_millis(1_500),
        requests: 7,
        watched: 5,
        succeeded,
    };
    let mut health = Health::default();
    assert!(!health.is_ready());
    health.add(look(10, true));
    health.add(look(70, false));
    assert!(health.is_ready());
    let found = health.families();
    for (name, value) in [
        ("finalizers_looks", 2.0),
        ("finalizers_look_failures", 1.0),
        ("finalizers_requests", 14.0),
        ("finalizers_look_succeeded", 0.0),
        ("finalizers_look_timestamp_seconds", 70.0),
        ("finalizers_look_success_timestamp_seconds", 10.0),
        ("finalizers_look_duration_seconds", 1.5),
    ] {
        assert_eq!(total(&found, name), value, "{name}");
    }
}
