//! Reports to draw.

use jiff::SignedDuration;

use crate::{
    command::{Command, Shown},
    diagnose::{
        Blocker, CauseState, Safety, Verdict,
        model::{Liveness, StepKind, Strength, When},
    },
    object::{Age, Finalizer, List, ObjectRef},
    output::scan::tests::{NOW, going, report, stuck_cluster, wait},
    report::{
        API_VERSION, DeletionReport, GapReport, ObjectName, ScanReport, TOOL_VERSION,
        changes::{ChangedObject, ChangesReport, NotKnown, Time},
        explain::{BlockerReport, EvidenceReport, ExplainReport, HolderReport, StepReport, WaitReport},
    },
    snapshot::Snapshot,
};

/// Names that break out of a text that is not quoted.
pub(super) const HOSTILE: &[&str] = &[
    "a\"]; evil [label=\"b",
    "a\\",
    "a\\\"; evil",
    "</script><img src=x onerror=alert(1)>",
    "<!-- a -->x",
    "a\nb\r\nc\u{2028}d",
    "\u{202e}gnp.exe\u{1b}[2J",
    "%%{init: {\"theme\":\"dark\"}}%%",
    "`a` #quot; #35; &quot; &#34; style:x",
    "' onmouseover='alert(1)",
];

fn name(resource: &str, kind: &str, name: &str) -> ObjectName {
    ObjectName {
        api_version: "v1".into(),
        kind: kind.into(),
        resource: resource.into(),
        namespace: Some("db".into()),
        name: name.into(),
        uid: None,
    }
}

/// The same scan as [`scan_of`], with one change of each kind since an earlier snapshot. Each text has this name.
pub(super) fn changed_scan_of(text: &str) -> ScanReport {
    let changed = |kind: &str| ChangedObject {
        object: name(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            &format!("{kind}-{text}"),
        ),
        requested_at: NOW,
        age: Age::between(NOW, NOW),
        finalizers_removed: Vec::new(),
    };
    let mut report = scan_of(text);
    report.add_changes(ChangesReport {
        since: NOW,
        file: "old.snapshot".into(),
        source: report.source.clone(),
        new: vec![changed("new")],
        went: vec![changed("went")],
        stays: Vec::new(),
        not_known: vec![NotKnown {
            object: changed("unknown"),
            not_read: Time::Now,
            message: text.into(),
        }],
    });
    report
}

/// A controller in this state.
fn holder(name: &str, state: Liveness, signs: Vec<String>) -> HolderReport {
    HolderReport {
        name: name.into(),
        part: None,
        state,
        likely: false,
        version: None,
        signs,
    }
}

/// A claim that an operator and a Pod hold. Each text of it has this name.
pub(super) fn explanation(text: &str) -> ExplainReport {
    let pod = |says: String| BlockerReport {
        object: Some(name("pods", "Pod", text)),
        says,
        root_cause: true,
        rest: false,
        quotes: false,
        blockers: Vec::new(),
        waits_for: Vec::new(),
    };
    let failing = WaitReport {
        finalizer: Some(finalizer(&format!("corp.example/{text}"))),
        verdict: Verdict::Failing,
        says: text.into(),
        holder: Some(holder(
            &format!("operator {text}"),
            Liveness::Failing,
            vec![text.into()],
        )),
        once: Some(text.into()),
        work: Some(text.into()),
        now: vec![text.into()],
        protects: Some(text.into()),
        if_removed: None,
        blockers: vec![pod(format!("{text} fails"))],
        cause: None,
    };
    let in_use = WaitReport {
        finalizer: Some(finalizer("kubernetes.io/pvc-protection")),
        verdict: Verdict::InUse,
        holder: Some(holder("kube-controller-manager", Liveness::Running, Vec::new())),
        blockers: vec![pod("uses it".into())],
        ..failing.clone()
    };
    ExplainReport {
        api_version: API_VERSION,
        kind: "Explanation",
        tool_version: TOOL_VERSION,
        server_version: None,
        source: String::new(),
        is_recorded: false,
        observed_at: NOW,
        target: name("persistentvolumeclaims", "PersistentVolumeClaim", text),
        deletion: Some(DeletionReport {
            requested_at: NOW - SignedDuration::from_hours(2),
            deletion_timestamp: NOW - SignedDuration::from_hours(2),
            grace_period_seconds: 0,
            for_seconds: 7200,
            in_grace_period: false,
            age: Age(SignedDuration::from_hours(2)),
        }),
        gone: false,
        interrupted: false,
        headline: text.into(),
        at_risk: None,
        nudge: None,
        notes: vec![text.into()],
        waits_for: vec![failing, in_use],
        outlook: Vec::new(),
        if_deleted: Vec::new(),
        fault: None,
        data_fate: Vec::new(),
        next: Shown::default(),
        steps: vec![StepReport {
            finalizer: None,
            when: When::Now,
            kind: StepKind::Look,
            text: text.into(),
            command: Shown::from(&Command::explain("pvc", text, "db")),
            safety: Safety::ReadOnly,
            read_only: true,
            needs_input: Vec::new(),
            lets_go: Vec::new(),
        }],
        do_not: vec![text.into()],
        evidence: vec![EvidenceReport {
            source: text.into(),
            value: text.into(),
            strength: Strength::Strong,
        }],
        not_read: vec![GapReport {
            cluster: None,
            what: "type",
            name: Some("pods".into()),
            namespace: Some(text.into()),
            read_only_in: None,
            objects_read: 0,
            hides: Vec::new(),
            line: None,
            reason: "TimedOut",
            message: format!("{text} timed out"),
        }],
    }
}

fn finalizer(name: &str) -> Finalizer {
    Finalizer {
        list: List::Metadata,
        name: name.into(),
    }
}

fn node(name: &str) -> Blocker {
    let node = ObjectRef {
        type_name: "nodes".into(),
        kind: "Node".into(),
        api_version: "v1".into(),
        name: name.into(),
        ..ObjectRef::default()
    };
    Blocker::new(Some(node), format!("{name} not ready")).in_state(CauseState::NotReady)
}

/// A scan that found a claim of this name, which waits for a node of this name.
pub(super) fn scan_of(name: &str) -> ScanReport {
    let mut snapshot = stuck_cluster();
    let held = format!("corp.example/{name}");
    snapshot.tally.kept = vec![
        going(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            Some("db"),
            name,
            3,
            &[&held],
        ),
        going("pods", "Pod", Some(name), "lost", 4, &[&held]),
    ];
    let waits = [
        (name, vec![wait(&held, Verdict::Waiting, "", vec![node(name)])]),
        ("lost", vec![wait(&held, Verdict::Unknown, name, Vec::new())]),
    ];
    report(&snapshot, &waits)
}

/// A scan that found so many stuck claims with names of usual length, which wait for so many nodes.
pub(super) fn many(objects: usize, causes: usize) -> ScanReport {
    let names: Vec<_> = (0..objects)
        .map(|at| format!("data-elasticsearch-master-{at}"))
        .collect();
    let held = "kubernetes.io/pvc-protection";
    let claim = |name: &String| {
        going(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            Some("observability"),
            name,
            3,
            &[held],
        )
    };
    let mut snapshot: Snapshot = stuck_cluster();
    snapshot.tally.kept = names.iter().map(claim).collect();
    let waits: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let node = node(&format!(
                "ip-10-0-12-{}.eu-central-1.compute.internal",
                at % causes
            ));
            (&**name, vec![wait(held, Verdict::Waiting, "", vec![node])])
        })
        .collect();
    report(&snapshot, &waits)
}
