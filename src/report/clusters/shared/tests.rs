//! The same cause in several clusters.

use jiff::Timestamp;

use super::*;
use crate::{
    diagnose::testing::{
        fixtures::going,
        scanned::snapshot,
        world::{World, object},
    },
    knowledge::{Consequence, Knowledge},
    object::List,
    report::{
        ClustersReport,
        clusters::{ClusterName, ClusterReport},
        root_causes::Row,
        scan::ScanView,
    },
};

fn cause(state: CauseState, controller: Option<&str>, finalizer: Option<&str>) -> RootCauseReport {
    RootCauseReport {
        cluster: None,
        state,
        object: None,
        finalizer: finalizer.map(|name| Finalizer {
            list: List::Metadata,
            name: name.into(),
        }),
        controller: controller.map(str::to_owned),
        says: format!("{state:?}"),
        if_removed: None,
        lets_go: Vec::new(),
        frees: 1,
        objects: Vec::new(),
        next: None,
        nudge: None,
        together: None,
        is_own: finalizer.is_some(),
        is_known: true,
        rows: Vec::new(),
    }
}

fn scan(root_causes: Vec<RootCauseReport>) -> ScanReport {
    let claim = object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        serde_json::json!({
            "metadata": going("a", "db", &["a/b"]),
        }),
    );
    let seen = snapshot(&World::of([]).facts(), &claim);
    let mut report = ScanReport::new(&seen, &Knowledge::builtin(), &ScanView::default());
    report.observed_at = Timestamp::UNIX_EPOCH;
    report.root_causes = root_causes;
    report
}

fn cluster(name: &str, root_causes: Vec<RootCauseReport>) -> ClusterReport {
    ClusterReport {
        name: ClusterName {
            cluster: name.into(),
            ..ClusterName::default()
        },
        seconds: None,
        scan: Some(scan(root_causes)),
        not_read: None,
    }
}

#[test]
fn one_cause_lists_the_clusters_that_have_it_and_the_worst_comes_first() {
    let gone = |says: &str| RootCauseReport {
        says: says.into(),
        ..cause(CauseState::Gone, Some("cert-manager"), Some("acme/x"))
    };
    let report = ClustersReport::new(vec![
        cluster("a", vec![cause(CauseState::InUse, None, None)]),
        cluster("b", vec![gone("one text")]),
        cluster(
            "c",
            vec![gone("another text"), cause(CauseState::InUse, None, None)],
        ),
    ]);
    let found: Vec<_> = report
        .root_causes
        .iter()
        .map(|cause| (cause.state, cause.clusters.join(" "), cause.frees))
        .collect();
    assert_eq!(
        found,
        [
            (CauseState::Gone, "b c".into(), 2),
            (CauseState::InUse, "a c".into(), 2)
        ]
    );
    let marked = report.clusters[2].scan.as_ref().expect("a scan");
    assert_eq!(marked.root_causes[0].cluster.as_deref(), Some("c"));
    assert_eq!(marked.terminating[0].cluster.as_deref(), Some("c"));
}

#[test]
fn another_finalizer_controller_or_state_is_another_cause() {
    let one = || cause(CauseState::Gone, Some("m"), Some("a/b"));
    for other in [
        cause(CauseState::Gone, Some("m"), Some("a/c")),
        cause(CauseState::Gone, Some("n"), Some("a/b")),
        cause(CauseState::Unknown, Some("m"), Some("a/b")),
    ] {
        let report = ClustersReport::new(vec![cluster("a", vec![one()]), cluster("b", vec![other])]);
        assert_eq!(report.root_causes.len(), 2, "{:#?}", report.root_causes);
    }
}

#[test]
fn nodes_of_two_clusters_are_two_causes_unless_they_have_one_name() {
    let node = |name: &str| RootCauseReport {
        object: Some(ObjectName {
            api_version: "v1".into(),
            kind: "Node".into(),
            resource: "nodes".into(),
            namespace: None,
            name: name.into(),
            uid: Some(name.into()),
        }),
        ..cause(CauseState::NotReady, None, None)
    };
    let causes = |one, other| {
        ClustersReport::new(vec![
            cluster("a", vec![node(one)]),
            cluster("b", vec![node(other)]),
        ])
        .root_causes
    };
    assert_eq!(causes("n-1", "n-2").len(), 2);
    let same = causes("n-1", "n-1");
    assert_eq!(same.len(), 1);
    assert_eq!(same[0].object.as_ref().expect("a node").uid, None);
}

#[test]
fn a_cause_that_costs_more_comes_first_and_rows_have_the_new_numbers() {
    let cost = |cause, consequence| RootCauseReport {
        if_removed: Some(IfRemoved {
            consequence,
            known: true,
        }),
        ..cause
    };
    let row = |also: &[usize]| Row {
        at: 0,
        through: None,
        also: also.to_vec(),
    };
    let mut first = cost(cause(CauseState::Gone, None, Some("a/x")), Consequence::Metadata);
    first.rows = vec![row(&[1])];
    let mut second = cause(CauseState::InUse, None, None);
    second.rows = vec![row(&[0])];
    let worst = cost(cause(CauseState::Gone, None, Some("a/y")), Consequence::DataLoss);
    let report = ClustersReport::new(vec![cluster("a", vec![first, second]), cluster("b", vec![worst])]);
    let order: Vec<_> = report
        .root_causes
        .iter()
        .map(|cause| cause.clusters.join(" "))
        .collect();
    assert_eq!(order, ["b", "a", "a"]);
    let causes = &report.clusters[0].scan.as_ref().expect("a scan").root_causes;
    assert_eq!(causes[0].rows[0].also, [2]);
    assert_eq!(causes[1].rows[0].also, [1]);
}
