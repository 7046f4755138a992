//! Two times, and what may be said of the difference.

use jiff::SignedDuration;

use super::*;
use crate::{
    object::{Deletion, ResourceType},
    snapshot::{Namespaces, Tally, TypeRead, Why},
};

const THEN: Timestamp = Timestamp::UNIX_EPOCH;
const DAY: i64 = 24 * 3600;

fn seconds(after: i64) -> Timestamp {
    THEN + SignedDuration::from_secs(after)
}

/// A stuck ConfigMap that somebody deleted so many seconds after the earlier time.
fn stuck(name: &str, uid: &str, deleted: i64) -> Seen {
    Seen {
        object: ObjectRef {
            type_name: "configmaps".into(),
            kind: "ConfigMap".into(),
            api_version: "v1".into(),
            namespace: Some("db".into()),
            name: name.into(),
            uid: uid.into(),
        },
        created: None,
        deletion: Some(Deletion {
            timestamp: seconds(deleted),
            grace_seconds: 0,
        }),
        finalizers: Vec::new(),
        conditions: Vec::new(),
        driver: None,
    }
}

fn snapshot(at: i64, kept: Vec<Seen>, gaps: Vec<Gap>) -> Snapshot {
    let configmaps = TypeRead {
        ty: ResourceType {
            version: "v1".into(),
            plural: "configmaps".into(),
            kind: "ConfigMap".into(),
            ..ResourceType::default()
        },
        objects: 0,
    };
    let is_read = !gaps.iter().any(|gap| matches!(gap.what, What::CoreGroup));
    Snapshot {
        observed_at: seconds(at),
        source: "https://one".into(),
        server_version: None,
        types: is_read.then_some(configmaps).into_iter().collect(),
        tally: Tally {
            kept,
            ..Tally::default()
        },
        namespaces: Namespaces::Known,
        only_within: Vec::new(),
        gaps,
        notes: Vec::new(),
        interrupted: false,
    }
}

fn moment(snapshot: &Snapshot) -> Moment<'_> {
    Moment {
        snapshot,
        namespace: None,
        is_dump: false,
    }
}

/// What is new, what went, what stays, what is not known.
fn told(before: Moment<'_>, now: Moment<'_>) -> [String; 4] {
    let changes = ChangesReport::new("f".into(), before, now);
    let names = |objects: &[ChangedObject]| {
        let names: Vec<_> = objects.iter().map(|one| one.object.name.as_str()).collect();
        names.join(" ")
    };
    let unknown: Vec<_> = changes.not_known.iter().map(|one| one.object.clone()).collect();
    [
        names(&changes.new),
        names(&changes.went),
        names(&changes.stays),
        names(&unknown),
    ]
}

fn gap(what: What) -> Vec<Gap> {
    vec![Gap {
        what,
        why: Why::Forbidden("no".into()),
    }]
}

fn type_gap() -> What {
    What::Type {
        name: "configmaps".into(),
        read: 0,
    }
}

#[test]
fn tells_what_is_new_what_went_and_what_stays() {
    let before = snapshot(0, vec![stuck("a", "1", -60), stuck("b", "2", -60)], Vec::new());
    let now = snapshot(DAY, vec![stuck("b", "2", -60), stuck("c", "3", 60)], Vec::new());
    assert_eq!(told(moment(&before), moment(&now)), ["c", "a", "b", ""]);
}

#[test]
fn an_object_made_again_is_another_one() {
    let before = snapshot(0, vec![stuck("a", "1", -60)], Vec::new());
    let now = snapshot(DAY, vec![stuck("a", "2", 60)], gap(type_gap()));
    assert_eq!(told(moment(&before), moment(&now)), ["a", "a", "", ""]);
    let without_uid = snapshot(DAY, vec![stuck("a", "", -60)], Vec::new());
    assert_eq!(told(moment(&before), moment(&without_uid)), ["", "", "a", ""]);
}

#[test]
fn an_object_that_was_not_read_now_is_never_called_gone() {
    let before = snapshot(0, vec![stuck("a", "1", -60)], Vec::new());
    let inside = |namespace: &str| What::TypeIn {
        name: "configmaps".into(),
        namespace: namespace.into(),
        read: 0,
    };
    let outside = |read_in: &[&str]| What::TypeOutside {
        name: "configmaps".into(),
        read_in: read_in.iter().map(|&name| name.to_owned()).collect(),
    };
    let file = What::File {
        path: "f".into(),
        line: None,
    };
    for (what, is_hidden) in [
        (type_gap(), true),
        (What::CoreGroup, true),
        (What::Groups, false),
        (inside("db"), true),
        (inside("web"), false),
        (outside(&["web"]), true),
        (outside(&["db"]), false),
        (file, true),
        (What::Namespaces, false),
        (What::Version, false),
    ] {
        let now = snapshot(DAY, Vec::new(), gap(what.clone()));
        let expected = if is_hidden {
            ["", "", "", "a"]
        } else {
            ["", "a", "", ""]
        };
        assert_eq!(told(moment(&before), moment(&now)), expected, "{what:?}");
    }
}

#[test]
fn an_object_that_was_not_read_before_is_new_only_if_it_was_deleted_later() {
    let before = snapshot(0, Vec::new(), gap(type_gap()));
    let now = snapshot(
        DAY,
        vec![stuck("old", "1", -60), stuck("late", "2", 60)],
        Vec::new(),
    );
    assert_eq!(told(moment(&before), moment(&now)), ["late", "", "", "old"]);
}

#[test]
fn one_namespace_and_files_from_kubectl_know_only_themselves() {
    let before = snapshot(0, vec![stuck("a", "1", -60)], Vec::new());
    let now = snapshot(DAY, Vec::new(), Vec::new());
    let of = |namespace| Moment {
        namespace: Some(namespace),
        ..moment(&now)
    };
    assert_eq!(told(moment(&before), of("web")), ["", "", "", "a"]);
    assert_eq!(told(moment(&before), of("db")), ["", "a", "", ""]);
    let dump = Moment {
        is_dump: true,
        ..moment(&now)
    };
    assert_eq!(told(moment(&before), dump), ["", "", "", "a"]);
}

#[test]
fn the_content_of_a_namespace_that_went_is_not_known_where_it_cannot_be_listed() {
    let mut home = stuck("db", "9", -60);
    home.object.type_name = "namespaces".into();
    home.object.namespace = None;
    let before = snapshot(0, vec![stuck("a", "1", -60), home.clone()], Vec::new());
    let mut now = snapshot(DAY, Vec::new(), Vec::new());
    now.only_within = vec!["configmaps".into()];
    assert_eq!(told(moment(&before), moment(&now)), ["", "db", "", "a"]);
    now.tally.kept = vec![home];
    assert_eq!(told(moment(&before), moment(&now)), ["", "a", "db", ""]);
}

#[test]
fn an_object_in_its_grace_period_is_not_stuck() {
    let mut slow = stuck("slow", "1", 30);
    if let Some(deletion) = &mut slow.deletion {
        deletion.grace_seconds = 60;
    }
    let before = snapshot(0, vec![slow.clone()], Vec::new());
    let now = snapshot(DAY, vec![slow], Vec::new());
    assert_eq!(told(moment(&before), moment(&now)), ["slow", "", "", ""]);
}

#[test]
fn a_finalizer_that_an_object_lost_is_told_while_the_object_stays() {
    let with = |finalizers: &[&str]| {
        let mut seen = stuck("a", "1", -60);
        let finalizer = |name: &&str| Finalizer {
            list: crate::object::List::Metadata,
            name: (*name).to_owned(),
        };
        seen.finalizers = finalizers.iter().map(finalizer).collect();
        seen
    };
    let lost = |before: &[&str], now: &[&str]| {
        let before = snapshot(0, vec![with(before)], Vec::new());
        let now = snapshot(DAY, vec![with(now)], Vec::new());
        let changes = ChangesReport::new("f".into(), moment(&before), moment(&now));
        let lost = &changes.stays[0].finalizers_removed;
        lost.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(lost(&["x.test/a", "x.test/b"], &["x.test/b"]), ["x.test/a"]);
    // One that was added was not removed.
    assert!(lost(&["x.test/a"], &["x.test/a", "x.test/b"]).is_empty());
}
