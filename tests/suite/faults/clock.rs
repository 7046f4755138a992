//! Ages use the server's clock, and the local clock only if the server shows none.

use jiff::{SignedDuration, Timestamp};

use super::{
    fake::{Discovery, Fake, Kind, object},
    report,
};

/// A Pod whose deletion was requested ten minutes ago by the local clock.
fn ten_minutes() -> Fake {
    let at = Timestamp::now()
        .checked_sub(SignedDuration::from_mins(10))
        .unwrap();
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object(
            "pods",
            object("db", "p").finalizer("a/b").deleting(&at.to_string()),
        )
}

fn minutes(fake: Fake) -> i64 {
    let report = report(&fake.start(), &[]);
    report.json["terminating"][0]["deletion"]["forSeconds"]
        .as_i64()
        .unwrap()
        / 60
}

#[test]
fn ages_use_the_servers_clock() {
    let hour = SignedDuration::from_hours(1);
    for discovery in [
        Discovery::Aggregated,
        Discovery::Legacy,
        Discovery::LegacyRefusing,
    ] {
        let server = || ten_minutes().discovery(discovery);
        assert_eq!(minutes(server()), 10, "{discovery:?}");
        assert_eq!(minutes(server().clock_ahead(hour)), 70, "{discovery:?}");
        // By the server's clock the deletion is in the future; an age is never negative.
        assert_eq!(minutes(server().clock_ahead(-hour)), 0, "{discovery:?}");
    }
}

#[test]
fn ages_use_the_local_clock_if_the_server_shows_none() {
    assert_eq!(minutes(ten_minutes().without_date()), 10);
}

#[test]
fn older_than_uses_the_servers_clock() {
    let hour = SignedDuration::from_hours(1);
    let found = |fake: Fake| {
        report(&fake.start(), &["--older-than", "30m"])
            .terminating()
            .len()
    };
    assert_eq!(
        (found(ten_minutes()), found(ten_minutes().clock_ahead(hour))),
        (0, 1)
    );
}

#[test]
fn a_grace_period_ends_by_the_servers_clock() {
    let pod = |ends_in: i64| {
        let at = Timestamp::now()
            .checked_add(SignedDuration::from_secs(ends_in))
            .unwrap();
        Fake::new()
            .with_type(Kind::new("", "v1", "pods").namespaced())
            .object("pods", object("db", "p").deleting(&at.to_string()).grace(600))
    };
    let slow = |fake: Fake| report(&fake.start(), &[]).code == 0;
    assert!(slow(pod(300)));
    assert!(!slow(pod(300).clock_ahead(SignedDuration::from_mins(10))));
    assert!(!slow(pod(-300)));
    assert!(slow(pod(-300).clock_ahead(SignedDuration::from_mins(-10))));
}
