//! The tables as documents: a scan in a pipe, on a terminal, and on a narrow terminal.

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::{
    knowledge::Knowledge,
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    report::scan::ScanView,
    snapshot::{Gap, Seen, Snapshot, Tally, TypeRead, What, Why},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn read(plural: &str, kind: &str, short: &str) -> TypeRead {
    TypeRead {
        ty: ResourceType {
            version: "v1".into(),
            plural: plural.into(),
            singular: kind.to_lowercase(),
            kind: kind.into(),
            short_names: vec![short.into()],
            ..ResourceType::default()
        },
        objects: 1,
    }
}

fn going(
    plural: &str,
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    hours: i64,
    finalizers: &[&str],
) -> Seen {
    let finalizer = |name: &&str| Finalizer {
        list: List::Metadata,
        name: (*name).into(),
    };
    Seen {
        object: ObjectRef {
            type_name: plural.into(),
            kind: kind.into(),
            api_version: "v1".into(),
            namespace: namespace.map(Into::into),
            name: name.into(),
            uid: "2dacf297".into(),
        },
        created: None,
        deletion: Some(Deletion {
            timestamp: NOW - SignedDuration::from_hours(hours),
            grace_seconds: 0,
        }),
        finalizers: finalizers.iter().map(finalizer).collect(),
        conditions: Vec::new(),
        driver: None,
    }
}

/// A snapshot with two stuck objects, one list that failed, and one group that does not respond.
fn stuck_cluster() -> Snapshot {
    let gap = |what, why| Gap { what, why };
    let metrics = What::GroupVersion {
        group: "metrics.k8s.io".into(),
        version: "v1beta1".into(),
        types: vec!["nodes.metrics.k8s.io".into()],
    };
    let pods = What::Type {
        name: "pods".into(),
        read: 1_500,
    };
    Snapshot {
        observed_at: NOW,
        source: "https://cluster.example".into(),
        types: vec![
            read("persistentvolumeclaims", "PersistentVolumeClaim", "pvc"),
            read("pods", "Pod", "po"),
        ],
        tally: Tally {
            objects: 12_345,
            kept: vec![
                going(
                    "persistentvolumeclaims",
                    "PersistentVolumeClaim",
                    Some("db"),
                    "data-0",
                    2,
                    &["corp.example/a", "corp.example/b"],
                ),
                going("pods", "Pod", Some("web"), "web-1", 72, &[]),
            ],
            ..Tally::default()
        },
        namespaces: crate::snapshot::Namespaces::NotAsked,
        only_within: Vec::new(),
        gaps: vec![
            gap(
                metrics,
                Why::Unavailable("APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses".into()),
            ),
            gap(pods, Why::TimedOut(Duration::from_secs(30))),
        ],
        notes: Vec::new(),
        interrupted: false,
    }
}

fn table(snapshot: &Snapshot, options: Options, width: Option<usize>) -> String {
    let view = ScanView {
        terminating: true,
        ..ScanView::default()
    };
    let report = ScanReport::new(snapshot, &Knowledge::builtin(), &view);
    let style = Style {
        width,
        ..Style::default()
    };
    let mut out = Vec::new();
    write(&report, options, &style, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn at(width: Option<usize>) -> String {
    let options = Options {
        took: Some(Duration::from_millis(3_100)),
        ..Options::default()
    };
    table(&stuck_cluster(), options, width)
}

#[test]
fn does_not_wrap_lines_in_a_pipe() {
    assert_eq!(
        at(None),
        "\
TERMINATING (2 objects)
 object       namespace   for    finalizers          why it is still there
 pod/web-1    -n web      3d     (none)              no finalizer; the last step of its deletion failed once: deleting it again, or any update, finishes it
 pvc/data-0   -n db       120m   corp.example/a +1   waits until corp.example/a, corp.example/b are removed; not in the catalogue

2 types, 12,345 objects, 3.1 s.
NOT READ, and so not known to be free of what is asked about:
  metrics.k8s.io/v1beta1: APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses; hides nodes.metrics.k8s.io
  pods: no answer within 30 s (after 1500 objects)
  To wait longer for each answer: --request-timeout 2m
"
    );
}

#[test]
fn cuts_reasons_and_wraps_gaps_on_a_terminal() {
    assert_eq!(
        at(Some(100)),
        "\
TERMINATING (2 objects)
 object       namespace   for    finalizers          why it is still there
 pod/web-1    -n web      3d     (none)              no finalizer; the last step of its deletion...
 pvc/data-0   -n db       120m   corp.example/a +1   waits until corp.example/a, corp.example/b a...

2 types, 12,345 objects, 3.1 s.
NOT READ, and so not known to be free of what is asked about:
  metrics.k8s.io/v1beta1: APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses; hides
    nodes.metrics.k8s.io
  pods: no answer within 30 s (after 1500 objects)
  To wait longer for each answer: --request-timeout 2m
"
    );
}

#[test]
fn hides_columns_before_words_on_a_narrow_terminal() {
    let text = at(Some(70));
    let rows: Vec<_> = text.lines().skip(1).take(3).collect();
    assert_eq!(
        rows,
        [
            " object       namespace   for    why it is still there",
            " pod/web-1    -n web      3d     no finalizer; the last step of its...",
            " pvc/data-0   -n db       120m   waits until corp.example/a, corp.e...",
        ]
    );
}

#[test]
fn puts_the_whole_reason_below_its_row_on_a_very_narrow_terminal() {
    assert_eq!(
        at(Some(56)),
        "\
TERMINATING (2 objects)
 object       namespace   for    finalizers
 pod/web-1    -n web      3d     (none)
    no finalizer; the last step of its deletion failed
    once: deleting it again, or any update, finishes it
 pvc/data-0   -n db       120m   corp.example/a +1
    waits until corp.example/a, corp.example/b are
    removed; not in the catalogue

2 types, 12,345 objects, 3.1 s.
NOT READ, and so not known to be free of what is asked
 about:
  metrics.k8s.io/v1beta1: APIService
    v1beta1.metrics.k8s.io: MissingEndpoints: no
    addresses; hides nodes.metrics.k8s.io
  pods: no answer within 30 s (after 1500 objects)
  To wait longer for each answer: --request-timeout 2m
"
    );
}

#[test]
fn breaks_every_line_that_contains_more_than_one_word() {
    for width in 20..140 {
        for line in at(Some(width)).lines() {
            let unbreakable = line.trim().split(' ').count() == 1;
            assert!(unbreakable || line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn prints_only_rows_without_headings() {
    let options = Options {
        no_headers: true,
        ..Options::default()
    };
    let rows = table(&stuck_cluster(), options, None);
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.lines().all(|line| line.starts_with(" p")), "{rows}");
}

#[test]
fn wide_shows_every_column_on_any_terminal() {
    let options = Options {
        wide: true,
        ..Options::default()
    };
    let wide = table(&stuck_cluster(), options, Some(40));
    for part in [
        "deletion requested",
        "1969-12-31T22:00:00Z",
        "2dacf297",
        "corp.example/a, corp.example/b",
    ] {
        assert!(wide.contains(part), "{part}: {wide}");
    }
}

#[test]
fn says_nothing_is_terminating_only_about_what_was_read_and_requested() {
    let first = |complete: bool, filtered: bool| {
        let mut quiet = stuck_cluster();
        quiet.tally.kept.clear();
        if complete {
            quiet.gaps.clear();
        }
        let options = Options {
            filtered,
            ..Options::default()
        };
        let text = table(&quiet, options, None);
        text.lines().next().expect("a line").to_owned()
    };
    assert_eq!(first(true, false), "Nothing is being deleted.");
    assert_eq!(first(true, true), "Nothing that matches is being deleted.");
    let weak =
        "Of what could be read, nothing that was asked for is being deleted. Not everything could be read.";
    assert_eq!(
        (first(false, false).as_str(), first(false, true).as_str()),
        (weak, weak)
    );
}

#[test]
fn marks_an_interrupted_scan_as_partial() {
    let mut part = stuck_cluster();
    part.interrupted = true;
    part.gaps = vec![Gap {
        what: What::Type {
            name: "pods".into(),
            read: 0,
        },
        why: Why::Interrupted,
    }];
    let text = table(&part, Options::default(), None);
    assert!(
        text.ends_with("STOPPED before the end: this is only part of the answer.\n"),
        "{text}"
    );
}
