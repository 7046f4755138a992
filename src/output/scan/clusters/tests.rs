//! What a scan of several clusters prints.

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{
    output::scan::tests::{WIDTHS, causes, within},
    report::{ScanReport, clusters::ClusterName},
};

fn cluster(name: &str, scan: Option<ScanReport>) -> ClusterReport {
    let not_read = scan
        .is_none()
        .then(|| GapReport::of_cluster(name, "TimedOut", format!("https://{name} did not answer in time")));
    ClusterReport {
        name: ClusterName {
            cluster: name.into(),
            ..ClusterName::default()
        },
        seconds: Some(1.25),
        scan,
        not_read,
    }
}

fn report(clusters: Vec<ClusterReport>) -> ClustersReport {
    ClustersReport::new(clusters)
}

fn text(report: &ClustersReport, options: Options, width: usize) -> String {
    let mut out = Vec::new();
    write_clusters(report, options, &within(width), &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn three() -> ClustersReport {
    report(vec![
        cluster("prod-eu", Some(causes())),
        cluster("staging", None),
        cluster("prod-us", Some(causes())),
    ])
}

#[test]
fn a_row_for_each_cluster_then_the_causes_with_their_clusters() {
    let text = text(&three(), Options::default(), 100);
    let each = causes();
    let stuck = each.totals.stuck;
    let number = each.root_causes.len();
    let first = format!(
        "3 clusters: {} objects stuck, {number} causes, worst first.\n\
         NOT READ (may hide stuck objects): staging\n\n \
         cluster   stuck   causes   not read     time\n \
         prod-eu   {stuck}       {number}        0            1.2 s\n \
         staging   ?       ?        everything   1.2 s\n \
         prod-us   {stuck}       {number}        0            1.2 s\n",
        2 * stuck
    );
    assert!(text.starts_with(&first), "{text}");
    assert!(text.contains("prod-eu, prod-us: "), "{text}");
    assert!(text.contains("\n   prod-us:"), "{text}");
    assert!(
        text.contains("  staging: everything: https://staging did not answer in time\n"),
        "{text}"
    );
}

#[test]
fn a_cause_of_one_cluster_has_no_block_for_each_cluster() {
    let text = text(
        &report(vec![cluster("one", Some(causes()))]),
        Options::default(),
        100,
    );
    assert!(text.contains(" one: "), "{text}");
    assert!(!text.contains("\n   one:"), "{text}");
}

#[test]
fn many_clusters_with_one_cause_are_counted() {
    let names: Vec<_> = (1..=9).map(|number| format!("c-{number}")).collect();
    let many = report(names.iter().map(|name| cluster(name, Some(causes()))).collect());
    let short = text(&many, Options::default(), 100);
    assert!(short.contains("c-1, c-2, c-3, c-4, c-5 and 4 more: "), "{short}");
    assert!(short.contains("   and 6 more: -o wide\n"), "{short}");
    let wide = Options {
        wide: true,
        ..Options::default()
    };
    assert!(text(&many, wide, 100).contains("\n   c-9:"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let report = three();
    for width in WIDTHS {
        for line in text(&report, Options::default(), width).lines() {
            // A word of a command is never cut.
            let is_command = line.starts_with("   kubectl") || line.starts_with("     ");
            assert!(is_command || line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn rows_for_scripts_begin_with_the_cluster() {
    let rows = text(
        &three(),
        Options {
            no_headers: true,
            ..Options::default()
        },
        200,
    );
    let stuck = causes().terminating.len();
    assert_eq!(rows.lines().count(), 2 * stuck, "{rows}");
    assert!(
        rows.lines().take(stuck).all(|line| line.starts_with(" prod-eu ")),
        "{rows}"
    );
}
