//! What a scan prints, at the widths that terminals have.

use jiff::{SignedDuration, Timestamp};

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{
    command::{Command, RunFlags},
    diagnose::{
        Blocker, CauseState, Diagnosis, Fate, Finding, Release, Safety, Step, Verdict, Wait, model::When,
    },
    knowledge::Knowledge,
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    report::{
        causes::{Examination, Examined},
        scan::ScanView,
    },
    snapshot::{Gap, Seen, Snapshot, Tally, TypeRead, What, Why},
};

pub(in crate::output) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

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

pub(in crate::output) fn going(
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
pub(in crate::output) fn stuck_cluster() -> Snapshot {
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
        server_version: None,
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

pub(super) const WIDTHS: [usize; 6] = [60, 80, 100, 120, 160, 200];

fn table(snapshot: &Snapshot, options: Options, width: Option<usize>) -> String {
    let style = Style {
        width,
        ..Style::default()
    };
    text(&report(snapshot, &[]), options, &style)
}

/// The report on objects with these waits. All others have no wait.
pub(in crate::output) fn report(snapshot: &Snapshot, waits: &[(&str, Vec<Wait>)]) -> ScanReport {
    report_from("stuck.snapshot", snapshot, waits)
}

/// Like [`report`], for this file.
fn report_from(file: &str, snapshot: &Snapshot, waits: &[(&str, Vec<Wait>)]) -> ScanReport {
    let view = ScanView {
        terminating: true,
        there: RunFlags {
            from: vec![file.into()],
            ..RunFlags::default()
        },
        ..ScanView::default()
    };
    let knowledge = Knowledge::builtin();
    let mut report = ScanReport::new(snapshot, &knowledge, &view);
    let of = |seen: &Seen| waits.iter().find(|(name, _)| *name == seen.object.name);
    let examined: Vec<_> = snapshot
        .tally
        .kept
        .iter()
        .map(|seen| {
            let waits = of(seen).map(|(_, waits)| waits.clone()).unwrap_or_default();
            Examined {
                seen,
                result: Examination::Explained(Box::new(diagnosis(&seen.object, waits))),
                content: Vec::new(),
            }
        })
        .collect();
    report.add_causes(&examined, &knowledge, &view.there);
    report
}

fn diagnosis(target: &ObjectRef, waits: Vec<Wait>) -> Diagnosis {
    Diagnosis {
        target: target.clone(),
        deletion: None,
        observed_at: NOW,
        headline: String::new(),
        risk: None,
        fault: None,
        lets_go: Vec::new(),
        waits,
        outlook: Vec::new(),
        effects: Vec::new(),
        steps: Vec::new(),
        steps_for: Vec::new(),
        do_not: Vec::new(),
        evidence: Vec::new(),
        gaps: Vec::new(),
    }
}

pub(in crate::output) fn wait(finalizer: &str, verdict: Verdict, says: &str, on: Vec<Blocker>) -> Wait {
    let finalizer = Finalizer {
        list: List::Metadata,
        name: finalizer.into(),
    };
    let mut wait = Finding::new(Some(finalizer), verdict, says).wait;
    wait.on = on;
    wait
}

fn text(report: &ScanReport, options: Options, style: &Style) -> String {
    let mut out = Vec::new();
    write(report, options, style, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

pub(super) fn within(width: usize) -> Style {
    Style {
        width: Some(width),
        unicode: true,
        ..Style::default()
    }
}

/// A Pod as a blocker.
fn pod(name: &str) -> Blocker {
    let object = ObjectRef {
        type_name: "pods".into(),
        kind: "Pod".into(),
        api_version: "v1".into(),
        namespace: Some("db".into()),
        name: name.into(),
        uid: String::new(),
    };
    Blocker::new(Some(object), "Running on node-7")
}

/// A claim that a Pod uses and its volume, a claim of which nobody knows the controller, and a Pod on a silent node.
pub(in crate::output) fn causes() -> ScanReport {
    let claim = |name, finalizers: &[&str]| {
        going(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            Some("db"),
            name,
            3,
            finalizers,
        )
    };
    let mut snapshot = stuck_cluster();
    snapshot.gaps.clear();
    snapshot.tally.kept = vec![
        claim("data-0", &["kubernetes.io/pvc-protection"]),
        going(
            "persistentvolumes",
            "PersistentVolume",
            None,
            "pv-0",
            3,
            &["kubernetes.io/pv-protection"],
        ),
        claim("odd", &["corp.example/a", "kubernetes.io/pvc-protection"]),
        going("pods", "Pod", Some("web"), "web-1", 72, &[]),
    ];
    let used_by = Blocker::new(
        Some(snapshot.tally.kept[0].object.clone()),
        "Bound, being deleted too",
    );
    let node = ObjectRef {
        type_name: "nodes".into(),
        kind: "Node".into(),
        api_version: "v1".into(),
        name: "node-3".into(),
        ..ObjectRef::default()
    };
    let silent = Blocker::new(Some(node), "not ready").in_state(CauseState::NotReady);
    let mut on_node = wait("", Verdict::Waiting, "", vec![silent]);
    on_node.finalizer = None;
    let waits = [
        (
            "data-0",
            vec![wait(
                "kubernetes.io/pvc-protection",
                Verdict::InUse,
                "",
                vec![pod("db-0")],
            )],
        ),
        (
            "pv-0",
            vec![wait(
                "kubernetes.io/pv-protection",
                Verdict::InUse,
                "",
                vec![used_by],
            )],
        ),
        (
            "odd",
            vec![
                wait("corp.example/a", Verdict::Unknown, "nobody knows", Vec::new()),
                wait(
                    "kubernetes.io/pvc-protection",
                    Verdict::InUse,
                    "",
                    vec![pod("db-1")],
                ),
            ],
        ),
        ("web-1", vec![on_node]),
    ];
    report(&snapshot, &waits)
}

#[test]
fn causes_come_worst_first_with_their_objects_and_a_command() {
    assert_eq!(
        text(&causes(), Options::default(), &within(100)),
        "\
4 objects stuck, 4 causes, worst first.

1. NOT READY node/node-3: not ready.
     pod/web-1 -n web  3d
   kubectl finalizers explain node/node-3 --from stuck.snapshot

2. UNKNOWN   No controller is known. Removal by hand costs: data-loss.
     pvc/odd -n db     3h     corp.example/a, kubernetes.io/pvc-protection, also cause 4
   kubectl finalizers explain pvc/odd -n db --from stuck.snapshot

3. IN USE    No fault: pod/db-0 -n db uses pvc/data-0: Running on node-7.
     pvc/data-0 -n db  3h     kubernetes.io/pvc-protection
     pv/pv-0           3h     waits for pvc/data-0
   kubectl finalizers explain pvc/data-0 -n db --from stuck.snapshot

4. IN USE    No fault: pod/db-1 -n db: Running on node-7. Also holds pvc/odd -n db (cause 2).
   kubectl finalizers explain pvc/odd -n db --from stuck.snapshot

2 types, 12,345 objects read. Start with cause 1.
"
    );
}

#[test]
fn no_line_exceeds_the_terminal_and_no_command_is_truncated() {
    for width in WIDTHS {
        for report in [&causes(), &report(&stuck_cluster(), &[]), &hostile()] {
            let text = text(report, Options::default(), &within(width));
            for line in text.lines() {
                // A name in a command is whole, however long it is.
                let longest = line.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
                let has_no_room = longest + "     --namespace  \\".len() > width;
                assert!(has_no_room || line.width() <= width, "{width}: {line}\n{text}");
            }
            let mut commands = text.lines().skip_while(|line| !line.starts_with("   kubectl"));
            let mut command = String::new();
            for line in commands.by_ref() {
                command.push_str(line.trim_end_matches('\\').trim());
                command.push(' ');
                if !line.ends_with('\\') {
                    break;
                }
            }
            let next = report.root_causes[0].next.as_ref().expect("a command");
            assert_eq!(
                command.trim(),
                next.render().expect("printable"),
                "{width}: {text}"
            );
        }
    }
}

#[test]
fn a_sentence_that_is_cut_ends_without_a_full_stop() {
    let mut report = causes();
    report.root_causes[0].says = "not ready because the network is away ".repeat(9);
    let text = text(&report, Options::default(), &within(60));
    assert!(text.contains("…\n") && !text.contains("…."), "{text}");
}

/// Objects with the longest names and finalizers, and with characters that mean something to a shell or a terminal.
fn hostile() -> ScanReport {
    let long = "x".repeat(253);
    let mut snapshot = stuck_cluster();
    let finalizer = format!("{}.example/{}", "y".repeat(200), "z".repeat(50));
    snapshot.tally.kept = vec![
        going(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            Some(&"n".repeat(63)),
            &long,
            2,
            &[&finalizer],
        ),
        going(
            "pods",
            "Pod",
            Some("web"),
            "a; rm -rf ~ $(id)",
            2,
            &["corp.example/\u{1b}[2J"],
        ),
        going(
            "widgets.shop.example",
            "Widget",
            Some("web"),
            "你好世界你好世界",
            2,
            &["corp.example/b"],
        ),
    ];
    report(&snapshot, &[])
}

#[test]
fn names_from_the_cluster_do_nothing_to_the_terminal_or_the_shell() {
    for width in WIDTHS {
        let text = text(&hostile(), Options::default(), &within(width));
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            text.replace(" \\\n    ", "")
                .contains("explain 'pod/a; rm -rf ~ $(id)' -n web"),
            "{text}"
        );
        // The name is cut where people read it, and whole where they paste it.
        assert!(text.contains(&"x".repeat(253)) && text.contains('…'), "{text}");
    }
}

#[test]
fn objects_that_say_the_same_share_a_line() {
    let mut snapshot = stuck_cluster();
    snapshot.tally.kept = (0..50)
        .map(|at| {
            going(
                "configmaps",
                "ConfigMap",
                Some("ns-0"),
                &format!("o-{at}"),
                2,
                &["lab.example.com/hold"],
            )
        })
        .collect();
    let report = report(&snapshot, &[]);
    let all = text(&report, Options::default(), &within(100));
    assert!(all.starts_with("50 objects stuck, 1 cause.\n"), "{all}");
    assert!(
        all.contains("\n     cm ×50 -n ns-0  120m   lab.example.com/hold: o-0, o-1, o-10 and 47 more\n"),
        "{all}"
    );
    let wide = Options {
        wide: true,
        ..Options::default()
    };
    let all = text(&report, wide, &within(100));
    assert_eq!(all.matches("     cm/o-").count(), 50, "{all}");
}

#[test]
fn many_causes_are_counted_by_state() {
    let mut snapshot = stuck_cluster();
    snapshot.tally.kept = (0..13)
        .map(|at| {
            let finalizer = format!("corp-{at}.example/hold");
            going(
                "configmaps",
                "ConfigMap",
                Some("web"),
                &format!("o-{at}"),
                2,
                &[&finalizer],
            )
        })
        .collect();
    let mut report = report(&snapshot, &[]);
    let few = text(&report, Options::default(), &within(80));
    assert!(few.contains("\n10. UNKNOWN ") && !few.contains("\n11. "), "{few}");
    assert!(
        few.contains("\n3 more causes, not shown: 3 UNKNOWN. All of them: --all\n"),
        "{few}"
    );
    report.objects = Some(Vec::new());
    let all = text(&report, Options::default(), &within(80));
    assert!(
        all.contains("\n13. UNKNOWN ") && !all.contains("not shown"),
        "{all}"
    );
}

#[test]
fn states_and_losses_have_colours_of_their_own() {
    let style = Style {
        colour: true,
        ..within(160)
    };
    let mut report = causes();
    report.root_causes[2].lets_go = vec![Release {
        policy: None,
        what: "disk vol-0a1b".into(),
        fate: Fate::Destroyed,
        why: String::new(),
    }];
    let text = text(&report, Options::default(), &style);
    for coloured in [
        "1. \u{1b}[31mNOT READY\u{1b}[",
        "2. \u{1b}[33mUNKNOWN\u{1b}[",
        "3. \u{1b}[32mIN USE\u{1b}[",
        "\u{1b}[31mdata-loss\u{1b}[",
        "After that, disk vol-0a1b is \u{1b}[31mDESTROYED\u{1b}[",
    ] {
        assert!(text.contains(coloured), "{coloured:?} in {text}");
    }
}

#[test]
fn gaps_are_shown_first_and_end_with_their_reason() {
    let text = table(&stuck_cluster(), Options::default(), Some(100));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "2 objects stuck, 2 causes, worst first.",
            "NOT READ (may hide stuck objects): metrics.k8s.io/v1beta1, pods. Reasons at the end.",
        ]
    );
    assert!(
        text.ends_with(
            "\
2 types, 12,345 objects read. Start with cause 1.
NOT READ (may hide stuck objects):
  metrics.k8s.io/v1beta1: APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses; hides
    nodes.metrics.k8s.io
  pods: no answer within 30 s (after 1500 objects)
To wait longer for each answer: --request-timeout 2m
"
        ),
        "{text}"
    );
    // With one reason, the head has it, and the end is silent.
    let mut snapshot = stuck_cluster();
    snapshot.gaps.retain(|gap| matches!(gap.what, What::Type { .. }));
    let text = table(&snapshot, Options::default(), Some(100));
    assert!(
        text.contains(
            "\nNOT READ (may hide stuck objects): pods: no answer within 30 s (after 1500 objects)\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches("NOT READ").count(), 1, "{text}");
}

#[test]
fn objects_from_standard_input_have_no_next_command() {
    let snapshot = stuck_cluster();
    let report = report_from("-", &snapshot, &[]);
    let text = text(&report, Options::default(), &within(100));
    assert!(!text.contains("kubectl"), "{text}");
}

#[test]
fn a_grace_period_is_slow_and_not_stuck() {
    let mut snapshot = stuck_cluster();
    snapshot.tally.kept.truncate(1);
    snapshot.tally.kept[0].deletion = Some(Deletion {
        timestamp: NOW + SignedDuration::from_secs(20),
        grace_seconds: 30,
    });
    let text = table(&snapshot, Options::default(), Some(100));
    assert!(text.starts_with("Nothing is stuck.\n"), "{text}");
    assert!(
        text.contains("\n   SLOW      1 object in the grace period, not stuck.\n     pvc/data-0 -n db  10s"),
        "{text}"
    );
}

#[test]
fn what_is_at_risk_stands_apart_from_what_is_slow() {
    let mut snapshot = stuck_cluster();
    let in_grace = |name: &str| {
        let mut pod = going("pods", "Pod", Some("web"), name, 0, &[]);
        pod.deletion = Some(Deletion {
            timestamp: NOW + SignedDuration::from_mins(5),
            grace_seconds: 600,
        });
        pod
    };
    snapshot.tally.kept = vec![in_grace("lost"), in_grace("slow")];
    let knowledge = Knowledge::builtin();
    let mut report = ScanReport::new(&snapshot, &knowledge, &ScanView::default());
    let risk = |name: &str| (name == "lost").then(|| "Node n1: not ready".to_owned());
    let examined: Vec<_> = snapshot
        .tally
        .kept
        .iter()
        .map(|seen| Examined {
            seen,
            result: Examination::InGrace(risk(&seen.object.name)),
            content: Vec::new(),
        })
        .collect();
    report.add_causes(&examined, &knowledge, &RunFlags::default());
    let shown = text(&report, Options::default(), &within(100));
    let (at_risk, slow) = shown.split_once("SLOW").expect("both kinds");
    assert!(
        at_risk.contains("AT RISK   1 object in the grace period, and stuck soon."),
        "{shown}"
    );
    assert!(
        at_risk.contains("lost") && at_risk.contains("Node n1: not ready"),
        "{shown}"
    );
    assert!(
        slow.contains("1 object in the grace period, not stuck."),
        "{shown}"
    );
    assert!(slow.contains("slow") && !slow.contains("lost"), "{shown}");
    assert_eq!(
        report.terminating[0].at_risk.as_deref(),
        Some("Node n1: not ready")
    );
}

#[test]
fn a_cause_that_nothing_blocks_any_more_has_the_nudge() {
    let with = |verdict: Verdict, safety: Safety| {
        let snapshot = stuck_cluster();
        let seen = &snapshot.tally.kept[0];
        let mut told = diagnosis(
            &seen.object,
            vec![wait("corp.example/a", verdict, "idle", Vec::new())],
        );
        told.steps.push(Step {
            when: When::Now,
            text: "touch it".into(),
            command: Some(Command::nudge("pvc", "data-0", "db")),
            safety,
            lets_go: Vec::new(),
        });
        let knowledge = Knowledge::builtin();
        let mut report = ScanReport::new(&snapshot, &knowledge, &ScanView::default());
        let examined: Vec<_> = snapshot
            .tally
            .kept
            .iter()
            .map(|seen| Examined {
                seen,
                result: Examination::Explained(Box::new(told.clone())),
                content: Vec::new(),
            })
            .collect();
        report.add_causes(&examined, &knowledge, &RunFlags::default());
        text(&report, Options::default(), &within(100))
    };
    let nudge = "kubectl finalizers nudge pvc/data-0 -n db";
    assert!(with(Verdict::Stalled, Safety::Safe).contains(nudge));
    // What it lets go would be lost, or something still blocks it.
    assert!(!with(Verdict::Stalled, Safety::Destructive).contains(nudge));
    assert!(!with(Verdict::Unknown, Safety::Safe).contains(nudge));
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
        "deletion requested 1969-12-31T22:00:00Z",
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
    assert_eq!(
        first(true, false),
        "Nothing is stuck: no object is being deleted."
    );
    assert_eq!(
        first(true, true),
        "Nothing is stuck: no object that matches is being deleted."
    );
    let weak = "In what could be read, nothing is stuck. Not everything could be read.";
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
