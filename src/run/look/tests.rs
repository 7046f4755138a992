//! How an investigation behaves at its limits, and how it reports what it did not see.

use std::{cell::RefCell, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{asking::Ask, *};
use crate::{
    cli::Format,
    error::Error,
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    report::ScanReport,
    settings::{Show, Source},
    snapshot::{
        Filter, LeftoverCount, Namespaces, Seen, Tally, TypeRead, Why,
        facts::{Answer, Facts, Object, Query, Resource},
    },
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A fake server with these namespaces and objects, with claims that are in use, and with these volumes.
#[derive(Default)]
struct Fake {
    existing: &'static [&'static str],
    hangs: bool,
    volumes: usize,
    asked: RefCell<usize>,
}

impl Ask for Fake {
    async fn initial_facts(&self) -> Result<Facts, Error> {
        panic!("the scan has asked for the types already")
    }

    async fn answer(&self, queries: Vec<Query>, facts: &mut Facts) -> bool {
        *self.asked.borrow_mut() += queries.len();
        if self.hangs {
            std::future::pending::<()>().await;
        }
        for query in queries {
            let answer = match &query {
                Query::Object { resource, name, .. } if resource.plural == "persistentvolumeclaims" => {
                    let value = json!({"metadata": {"name": name, "uid": name, "namespace": name,
                        "finalizers": ["kubernetes.io/pvc-protection"], "deletionTimestamp": "1969-12-31T00:00:00Z"}});
                    Answer::Object(Some(Box::new(claim(value))))
                }
                Query::Object { resource, name, .. } => {
                    let there = self.existing.contains(&name.as_str());
                    let object = Object {
                        resource: resource.clone(),
                        ..claim(json!({"metadata": {"name": name}}))
                    };
                    Answer::Object(there.then(|| Box::new(object)))
                }
                _ => Answer::List(Vec::new()),
            };
            facts.answers.insert(query, Ok(answer));
        }
        true
    }

    async fn each(&self, ty: &ResourceType, _: bool, visit: &mut dyn FnMut(Object)) -> Result<(), Why> {
        *self.asked.borrow_mut() += 1;
        assert_eq!(ty.plural, "persistentvolumes");
        for at in 0..self.volumes {
            visit(Object {
                resource: Resource::new("", "persistentvolumes"),
                ..claim(json!({
                    "metadata": {"name": format!("pv-{at}")},
                    "spec": {"persistentVolumeReclaimPolicy": "Delete"},
                    "status": {"phase": "Released", "lastPhaseTransitionTime": "1969-12-31T00:00:00Z"},
                }))
            });
        }
        Ok(())
    }
}

fn claim(value: serde_json::Value) -> Object {
    Object {
        resource: Resource::new("", "persistentvolumeclaims"),
        kind: "PersistentVolumeClaim".into(),
        api_version: "v1".into(),
        value,
    }
}

fn ty(plural: &str, objects: u64) -> TypeRead {
    TypeRead {
        ty: ResourceType {
            version: "v1".into(),
            plural: plural.into(),
            namespaced: plural.ends_with("claims"),
            ..ResourceType::default()
        },
        objects,
    }
}

/// A snapshot with this number of stuck claims, each in its own namespace.
fn snapshot(claims: usize) -> Snapshot {
    let seen = |at: usize| Seen {
        object: ObjectRef {
            type_name: "persistentvolumeclaims".into(),
            kind: "PersistentVolumeClaim".into(),
            api_version: "v1".into(),
            namespace: Some(format!("c{at}")),
            name: format!("c{at}"),
            uid: format!("c{at}"),
        },
        created: None,
        deletion: Some(Deletion {
            timestamp: NOW - SignedDuration::from_hours(24),
            grace_seconds: 0,
        }),
        finalizers: vec![Finalizer {
            list: List::Metadata,
            name: "kubernetes.io/pvc-protection".into(),
        }],
        conditions: Vec::new(),
        driver: None,
    };
    Snapshot {
        observed_at: NOW,
        source: "fake".into(),
        server_version: None,
        types: vec![
            ty("persistentvolumeclaims", 100_000),
            ty("pods", 1),
            ty("events", 1),
        ],
        tally: Tally {
            kept: (0..claims).map(seen).collect(),
            ..Tally::default()
        },
        namespaces: Namespaces::Known,
        only_within: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        interrupted: false,
    }
}

/// A scan of everything.
pub(super) fn scan() -> Scan {
    Scan {
        source: Source::Files(Vec::new()),
        scope: Scope::All,
        types: Vec::new(),
        exclude: Vec::new(),
        filter: Filter::default(),
        view: crate::report::scan::ScanView::default(),
        show: Show {
            format: Format::Table,
            no_headers: false,
        },
        exit_code: false,
        since: None,
        accepted_gaps: Vec::new(),
        every_namespace: false,
    }
}

fn report(snapshot: &Snapshot, server: &Fake, limits: Limits) -> ScanReport {
    let (scan, knowledge) = (scan(), Knowledge::builtin());
    let mut look = Investigation::new(snapshot, &scan, limits, &knowledge);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(look.run(server, &knowledge));
    let found = look.finish(snapshot, &knowledge, false);
    let mut report = ScanReport::new(snapshot, &knowledge, &scan.view);
    report.add_causes(&found.examined, &knowledge, &scan.view.there);
    report.add_leftovers(found.leftovers, &scan.view.there);
    report
}

fn looked_at(report: &ScanReport) -> usize {
    let rows = report.terminating.iter();
    rows.filter(|row| row.verdict.is_some()).count()
}

#[test]
fn investigates_up_to_the_limit_and_counts_the_rest() {
    let limits = Limits {
        objects: 10,
        ..Limits::default()
    };
    let report = report(&snapshot(30), &Fake::default(), limits);
    assert_eq!((looked_at(&report), report.not_looked_at), (10, 20));
    assert!(
        report.notes[0].starts_with("20 of 30 objects were not looked at one by one"),
        "{:?}",
        report.notes
    );
}

#[test]
fn stops_at_the_request_limit() {
    let limits = Limits {
        requests: 45,
        ..Limits::default()
    };
    let server = Fake::default();
    let report = report(&snapshot(30), &server, limits);
    let asked = *server.asked.borrow();
    assert!((30..=45).contains(&asked), "{asked}");
    let looked = looked_at(&report);
    assert!(looked > 0 && looked < 30, "{looked}");
    assert_eq!(report.not_looked_at, 30 - looked);
}

#[test]
fn stops_when_the_time_is_up() {
    let limits = Limits {
        max_time: Duration::from_millis(5),
        ..Limits::default()
    };
    let server = Fake {
        hangs: true,
        ..Fake::default()
    };
    let report = report(&snapshot(3), &server, limits);
    assert_eq!((looked_at(&report), report.not_looked_at), (0, 3));
}

#[test]
fn reports_a_gap_if_volumes_take_too_many_requests() {
    let mut many = snapshot(0);
    many.types.push(ty("persistentvolumes", 1_000_000));
    let report = report(&many, &Fake::default(), Limits::default());
    let leftovers = report.leftovers.as_ref().expect("asked for");
    assert_eq!(leftovers.gaps.len(), 1, "{leftovers:?}");
    assert_eq!(leftovers.gaps[0].reason, "NotLookedAt");
    assert!(leftovers.volumes.as_ref().is_none_or(|all| all.count == 0));
}

#[test]
fn keeps_the_first_leftover_volumes_and_counts_all() {
    let mut many = snapshot(0);
    many.types.push(ty("persistentvolumes", 700));
    let limits = Limits {
        objects: 10,
        requests: 5,
        ..Limits::default()
    };
    let server = Fake {
        volumes: 700,
        ..Fake::default()
    };
    let report = report(&many, &server, limits);
    let leftovers = report.leftovers.as_ref().expect("asked for");
    let volumes = leftovers.volumes.as_ref().expect("volumes");
    assert_eq!((volumes.count, volumes.first.len()), (700, 10));
    assert_eq!(report.totals.leftovers, 700);
    assert!(
        volumes.first.iter().all(|one| one.reason.contains("Released")),
        "{volumes:?}"
    );
}

fn add_objects_without_namespace(snapshot: &mut Snapshot, namespace: &str) {
    let seen = ObjectRef {
        type_name: "pods".into(),
        kind: "Pod".into(),
        api_version: "v1".into(),
        namespace: Some(namespace.into()),
        name: format!("pod-of-{namespace}"),
        uid: String::new(),
    };
    let leftover_type = LeftoverCount {
        objects: 50_000,
        terminating: 0,
        first: vec![seen],
        held: None,
    };
    snapshot
        .tally
        .leftovers
        .0
        .entry(namespace.into())
        .or_default()
        .insert("pods".into(), leftover_type);
}

#[test]
fn reports_a_missing_namespace_only_after_checking_it_and_its_objects() {
    let mut found = snapshot(0);
    for namespace in ["missing", "created-meanwhile", "created-and-deleted"] {
        add_objects_without_namespace(&mut found, namespace);
    }
    let server = Fake {
        existing: &["pod-of-missing", "created-meanwhile", "pod-of-created-meanwhile"],
        ..Fake::default()
    };
    let report = report(&found, &server, Limits::default());
    let leftovers = report.leftovers.as_ref().expect("asked for");
    let namespaces = leftovers.namespaces.as_ref().expect("known");
    let names: Vec<_> = namespaces.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["missing"]);
    assert_eq!(namespaces[0].next.line(), Some("kubectl get pods -n missing"));
    assert_eq!(report.totals.leftovers, 50_000);
    assert!(leftovers.gaps.is_empty(), "{leftovers:?}");
    assert!(*server.asked.borrow() <= 5);
}

#[test]
fn reports_a_gap_for_a_namespace_that_was_not_checked_again() {
    let mut found = snapshot(0);
    add_objects_without_namespace(&mut found, "missing");
    let limits = Limits {
        requests: 0,
        ..Limits::default()
    };
    let report = report(&found, &Fake::default(), limits);
    let leftovers = report.leftovers.as_ref().expect("asked for");
    assert_eq!(report.totals.leftovers, 0);
    assert_eq!(leftovers.gaps.len(), 1, "{leftovers:?}");
}
