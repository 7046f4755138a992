//! The server disappears during a scan.

use std::time::Duration;

use super::{
    PATIENCE,
    fake::{Fake, Fault, Kind, Running, object},
    report, scan, timed,
};

/// A hundred and twenty types. The server answers for this many of them, and then fails for good in this way.
fn failing_after(types: u32, fault: &Fault) -> Running {
    let mut fake = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object(
            "pods",
            object("db", "stuck")
                .finalizer("a/b")
                .deleting("2026-01-01T00:00:00Z"),
        );
    for n in 0..120 {
        fake = fake.with_type(Kind::new("example.com", "v1", &format!("thing{n}s")));
    }
    fake.on("/*", fault.clone().after(2 + types)).start()
}

#[test]
fn a_silent_server_does_not_cost_a_timeout_for_each_type() {
    for fault in [
        Fault::HangBeforeHeaders,
        Fault::ResetBeforeHeaders,
        Fault::CloseBeforeHeaders,
    ] {
        let server = failing_after(10, &fault);
        let (report, took) = timed(|| report(&server, &[PATIENCE]));
        assert_eq!(report.terminating(), ["pods/stuck"], "{fault:?}");
        assert_eq!((report.gaps().len(), report.code), (111, 4), "{fault:?}");
        assert!(took < Duration::from_secs(12), "{fault:?}: {took:?}");
        assert!(
            server.requests().len() < 50,
            "{fault:?}: {}",
            server.requests().len()
        );
    }
}

#[test]
fn a_silent_server_does_not_cost_a_line_for_each_type() {
    let out = scan(&failing_after(10, &Fault::HangBeforeHeaders), &[PATIENCE]).success();
    // The list at the end; the first lines only say that there is one.
    let (_, list) = out.rsplit_once("\nNOT READ").unwrap();
    let lines = list.lines().count();
    assert!(lines <= 7, "{out}");
}

#[test]
fn an_unavailable_group_with_many_types_is_not_a_dead_server() {
    let mut fake = Fake::new();
    for n in 0..24 {
        fake = fake.with_type(Kind::new("dead.example.com", "v1", &format!("thing{n}s")));
    }
    for n in 0..10 {
        fake = fake
            .with_type(Kind::new("well.example.com", "v1", &format!("other{n}s")))
            .object(
                &format!("other{n}s.well.example.com"),
                object("", "x").finalizer("a/b"),
            );
    }
    let server = fake
        .on("/apis/dead.example.com/*", Fault::HangBeforeHeaders)
        .start();
    let report = report(&server, &[PATIENCE]);
    assert_eq!(report.carrying("a/b"), 10, "{:#}", report.json);
    assert_eq!(report.gaps().len(), 24);
    assert!(report.gaps().iter().all(|gap| gap["reason"] == "TimedOut"));
}
