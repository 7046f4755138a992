//! Ages follow the server's clock, and ours only where it shows none.

use jiff::{SignedDuration, Timestamp};

use super::{
    fake::{Discovery, Fake, Kind, object},
    report,
};

/// A pod whose deletion was asked for ten minutes ago by our clock.
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
fn ages_follow_the_servers_clock() {
    let hour = SignedDuration::from_hours(1);
    for discovery in [
        Discovery::Aggregated,
        Discovery::Legacy,
        Discovery::LegacyRefusing,
    ] {
        let server = || ten_minutes().discovery(discovery);
        assert_eq!(minutes(server()), 10, "{discovery:?}");
        assert_eq!(minutes(server().clock_ahead(hour)), 70, "{discovery:?}");
        // By the server's clock it has not even happened yet; nothing lasts less than no time.
        assert_eq!(minutes(server().clock_ahead(-hour)), 0, "{discovery:?}");
    }
}

#[test]
fn a_server_without_a_clock_is_measured_by_ours() {
    assert_eq!(minutes(ten_minutes().without_date()), 10);
}

#[test]
fn older_than_is_measured_by_the_servers_clock() {
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
