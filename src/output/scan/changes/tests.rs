//! How the changes since a snapshot read.

use crate::{
    output::scan::{
        Options,
        tests::{NOW, causes, stuck_cluster, within},
        write,
    },
    report::{
        ScanReport,
        changes::{ChangesReport, Moment},
    },
};

fn report() -> ScanReport {
    let (before, mut now) = (stuck_cluster(), stuck_cluster());
    now.tally.kept.clear();
    let moment = |snapshot| Moment {
        snapshot,
        namespace: None,
        is_dump: false,
    };
    let mut report = causes();
    let mut changes = ChangesReport::new("old.snapshot".into(), moment(&before), moment(&now));
    changes.since = NOW;
    report.add_changes(changes);
    report
}

fn text(options: Options) -> String {
    let mut out = Vec::new();
    write(&report(), options, &within(100), &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn changes_come_before_the_causes() {
    let text = text(Options::default());
    let (before, after) = text
        .split_once("\nCHANGES since 1970-01-01 00:00 UTC: 0 new, ")
        .expect("changes");
    assert!(!before.contains("1. "), "{text}");
    assert!(after.contains("\n1. "), "{text}");
    assert!(after.contains(" went "), "{text}");
}

#[test]
fn rows_for_scripts_are_the_changes() {
    let text = text(Options {
        no_headers: true,
        ..Options::default()
    });
    assert!(text.starts_with(" went "), "{text}");
    assert!(!text.contains("CHANGES"), "{text}");
}
