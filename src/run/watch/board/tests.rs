//! What the board makes of the news about types.

use super::*;
use crate::object::{Deletion, Finalizer, List};

const PODS: &str = "pods";

fn pod(name: &str, finalizers: &[&str]) -> Seen {
    Seen {
        object: ObjectRef {
            type_name: PODS.into(),
            kind: "Pod".into(),
            api_version: "v1".into(),
            namespace: Some("db".into()),
            name: name.into(),
            uid: format!("uid of {name}"),
        },
        created: None,
        deletion: Some(Deletion {
            timestamp: Timestamp::UNIX_EPOCH,
            grace_seconds: 0,
        }),
        finalizers: finalizers
            .iter()
            .map(|name| Finalizer {
                list: List::Metadata,
                name: (*name).into(),
            })
            .collect(),
        conditions: Vec::new(),
        driver: None,
    }
}

fn listed(in_deletion: impl IntoIterator<Item = Seen>) -> News {
    News::Listed {
        kept: in_deletion.into_iter().collect(),
        others: [("db".into(), 10)].into(),
    }
}

fn changed(seen: Seen) -> News {
    News::Changed { seen, is_new: false }
}

fn forbidden() -> Why {
    Why::Forbidden("no".into())
}

fn connection() -> Why {
    Why::Connection("refused".into())
}

/// Twelve seconds after the deletions.
fn twelve_seconds() -> Timestamp {
    Timestamp::from_second(12).expect("a time")
}

/// A board that follows these types.
fn board(types: &[&str]) -> Board {
    let mut board = Board::default();
    for name in types {
        board.add_type(name);
    }
    board
}

impl Board {
    /// Takes the news twelve seconds after the deletions, and returns the changes in a few letters.
    fn hears(&mut self, name: &str, news: News) -> Vec<String> {
        let now = twelve_seconds();
        let words = |(object, change): (ObjectName, Change)| match change {
            Change::InDeletion { .. } => format!("+{}", object.name),
            Change::Gone {
                terminating_seconds, ..
            } => format!("-{} {}", object.name, terminating_seconds.expect("a deletion")),
            Change::FinalizerRemoved { finalizer } => format!("{} -{}", object.name, finalizer.name),
            other => format!("{other:?}"),
        };
        self.take(name, news, now, Instant::now())
            .into_iter()
            .map(words)
            .collect()
    }

    fn says_of_types(&mut self) -> Vec<String> {
        let words = |change| match change {
            Change::Lost { what, .. } => format!("-{what}"),
            Change::Regained { what } => format!("+{what}"),
            Change::NotWatched { types, reason, .. } => format!("{} {reason}", types.join(", ")),
            other => format!("{other:?}"),
        };
        self.changes_of_types().into_iter().map(words).collect()
    }
}

#[test]
fn objects_join_change_and_go() {
    let mut board = board(&[PODS]);
    assert_eq!(board.hears(PODS, listed([pod("a", &["x/1", "x/2"])])), ["+a"]);
    assert_eq!(board.hears(PODS, changed(pod("b", &[]))), ["+b"]);
    // Most changes are of something else.
    assert!(board.hears(PODS, changed(pod("b", &[]))).is_empty());
    assert_eq!(board.hears(PODS, changed(pod("a", &["x/2"]))), ["a -x/1"]);
    assert_eq!(board.hears(PODS, News::Deleted(pod("a", &[]).object)), ["-a 12"]);
    assert!(!board.is_done(Instant::now()));
    assert_eq!(board.hears(PODS, News::Deleted(pod("b", &[]).object)), ["-b 12"]);
    assert!(board.is_done(Instant::now()));
}

#[test]
fn objects_that_are_not_being_deleted_are_not_followed() {
    let mut board = board(&[PODS]);
    let mut running = pod("a", &["x/1"]);
    running.deletion = None;
    assert!(board.hears(PODS, changed(running.clone())).is_empty());
    assert!(board.hears(PODS, News::Deleted(running.object)).is_empty());
}

#[test]
fn a_new_list_tells_what_went_while_nobody_watched() {
    let mut board = board(&[PODS]);
    board.hears(PODS, listed([pod("a", &[]), pod("b", &[])]));
    assert_eq!(
        board.hears(PODS, listed([pod("b", &[]), pod("c", &[])])),
        ["-a 12", "+c"]
    );
    // The list of another type tells nothing about this one.
    board.add_type("secrets");
    assert!(board.hears("secrets", listed([])).is_empty());
}

#[test]
fn an_object_that_two_groups_have_is_followed_once() {
    let mut board = board(&[PODS, "pods.example.com"]);
    board.hears(PODS, listed([pod("a", &[])]));
    let mut same = pod("a", &[]);
    same.object.type_name = "pods.example.com".into();
    assert!(board.hears("pods.example.com", listed([same])).is_empty());
}

#[test]
fn reports_nothing_before_every_type_was_tried() {
    let mut board = board(&[PODS, "secrets", "roles"]);
    board.hears(PODS, listed([]));
    board.hears("secrets", News::Lost(forbidden()));
    assert!(board.says_of_types().is_empty() && !board.is_done(Instant::now()));
    board.hears("roles", News::Lost(forbidden()));
    assert_eq!(board.says_of_types(), ["-roles, secrets"]);
    // Nobody hopes that rights come soon, and the end says what was not read.
    assert!(board.is_done(Instant::now()));
    assert_eq!(board.not_read().len(), 2);
}

#[test]
fn one_failure_of_a_followed_type_is_no_news_and_two_are() {
    let mut board = board(&[PODS]);
    board.hears(PODS, listed([pod("a", &[])]));
    board.hears(PODS, News::Lost(connection()));
    assert!(board.says_of_types().is_empty());
    board.hears(PODS, News::Lost(connection()));
    assert_eq!(board.says_of_types(), ["-pods"]);
    board.hears(PODS, News::Lost(connection()));
    assert!(board.says_of_types().is_empty());
    assert!(board.hears(PODS, listed([])).contains(&"-a 12".to_owned()));
    assert_eq!(board.says_of_types(), ["+pods"]);
}

#[test]
fn a_type_that_may_come_back_soon_delays_the_end() {
    let mut board = board(&[PODS]);
    board.hears(PODS, listed([]));
    board.hears(PODS, News::Lost(connection()));
    assert!(!board.is_done(Instant::now()));
    assert!(board.is_done(Instant::now() + timing::UNREADABLE_TYPE));
}

#[test]
fn types_that_cannot_be_watched_are_named_once() {
    let mut board = board(&[PODS, "secrets", "metrics"]);
    board.hears(PODS, listed([]));
    board.hears("secrets", listed([]));
    let metrics = News::Listed {
        kept: Vec::new(),
        others: BTreeMap::new(),
    };
    board.hears("metrics", metrics);
    for _ in 0..2 {
        board.hears(PODS, News::NotWatched(None));
        board.hears("secrets", News::NotWatched(Some(forbidden())));
        // Computed objects cannot be deleted.
        board.hears("metrics", News::NotWatched(Some(Why::ServerError("no".into()))));
    }
    assert_eq!(board.says_of_types(), ["secrets Forbidden", "pods Limit"]);
    assert!(board.says_of_types().is_empty());
}

#[test]
fn the_objects_of_a_type_that_the_server_drops_are_gone() {
    let mut board = board(&[PODS]);
    board.hears(PODS, listed([pod("a", &[])]));
    let now = twelve_seconds();
    assert_eq!(board.remove_type(PODS, now).len(), 1);
    assert!(board.is_done(Instant::now()));
}
