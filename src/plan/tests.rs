//! Tests plans and refusals with hand-made diagnoses, so that each verdict is tried.

mod complaints;
mod living;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Cost, Outside, Plan, Refusal, Seen, digest, finalize, nudge, remove, unaccepted};
use crate::{
    diagnose::{
        Blocker, Diagnosis, Lost, Unable, Verdict, Veto, Wait,
        testing::world::{NOW, bare},
    },
    knowledge::{Consequence, Knowledge},
    object::{Finalizer, List, ObjectRef},
    snapshot::{
        Gap, What, Why,
        facts::{Answer, Content, Facts, Object, Query},
    },
};

const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

fn object(group: &str, plural: &str, kind: &str, value: Value) -> Object {
    let mut value = value;
    let metadata = value["metadata"].as_object_mut().expect("metadata");
    for (field, text) in [
        ("uid", "u1"),
        ("resourceVersion", "7"),
        ("deletionTimestamp", "2026-01-01T11:00:00Z"),
    ] {
        metadata.entry(field).or_insert(text.into());
    }
    bare(group, plural, kind, value)
}

fn widget(finalizers: &[&str]) -> Object {
    let value = json!({"metadata": {"name": "w", "namespace": "a", "finalizers": finalizers}});
    object("x.test", "widgets", "Widget", value)
}

struct Diagnosed {
    verdict: Verdict,
    unable: Option<Unable>,
    vetoes: Vec<Veto>,
    complete: bool,
    gaps: Vec<Gap>,
    facts: Facts,
}

impl Diagnosed {
    fn with_verdict(verdict: Verdict) -> Self {
        Diagnosed {
            verdict,
            unable: None,
            vetoes: Vec::new(),
            complete: true,
            gaps: Vec::new(),
            facts: Facts {
                redacted: false,
                now: NOW.parse().expect("a time"),
                types: Vec::new(),
                gaps: Vec::new(),
                answers: BTreeMap::new(),
                kept: 0,
            },
        }
    }

    fn with_gap(mut self, name: &str) -> Self {
        self.gaps.push(Gap {
            what: What::Type {
                name: name.into(),
                read: 0,
            },
            why: Why::Forbidden("no".into()),
        });
        self
    }

    fn plan_with<T>(&self, object: &Object, plan: impl Fn(&Seen<'_>) -> T) -> T {
        let wait = |finalizer: Finalizer| Wait {
            page: None,
            finalizer: Some(finalizer),
            verdict: self.verdict,
            said: "removed by somebody".into(),
            known: None,
            on: Vec::new(),
            may_be: BTreeSet::new(),
            unable: self.unable,
            trial: None,
            vetoes: self.vetoes.clone(),
        };
        let diagnosis = Diagnosis {
            target: object.reference(),
            deletion: object.deletion(),
            observed_at: self.facts.now,
            headline: String::new(),
            risk: None,
            fault: None,
            lets_go: Vec::new(),
            waits: object.finalizers().into_iter().map(wait).collect(),
            outlook: Vec::new(),
            effects: Vec::new(),
            steps: Vec::new(),
            steps_for: Vec::new(),
            do_not: Vec::new(),
            evidence: Vec::new(),
            gaps: self.gaps.clone(),
        };
        let knowledge = Knowledge::builtin();
        plan(&Seen {
            object,
            diagnosis: &diagnosis,
            complete: self.complete,
            facts: &self.facts,
            knowledge: &knowledge,
        })
    }

    fn remove(&self, object: &Object, name: &str) -> Result<Plan, Refusal> {
        self.plan_with(object, |seen| remove(seen, name))
    }
}

#[test]
fn each_verdict_gives_a_plan_or_a_refusal() {
    let object = widget(&["x.test/hold"]);
    for (verdict, may) in [
        (Verdict::InUse, false),
        (Verdict::Waiting, false),
        (Verdict::Rejected, false),
        (Verdict::Failing, false),
        (Verdict::Stalled, true),
        (Verdict::Orphaned, true),
        (Verdict::Unknown, true),
    ] {
        let plan = Diagnosed::with_verdict(verdict).remove(&object, "x.test/hold");
        assert_eq!(plan.is_ok(), may, "{verdict:?}: {plan:?}");
        let mut stopped = Diagnosed::with_verdict(verdict);
        stopped.complete = false;
        assert!(stopped.remove(&object, "x.test/hold").is_err(), "{verdict:?}");
    }
}

/// Every verdict that allows a removal, with what it takes.
fn allowed() -> [Diagnosed; 7] {
    let failing = |unable| Diagnosed {
        unable: Some(unable),
        ..Diagnosed::with_verdict(Verdict::Failing)
    };
    [
        Diagnosed::with_verdict(Verdict::Unknown),
        Diagnosed::with_verdict(Verdict::Stalled),
        Diagnosed::with_verdict(Verdict::Orphaned),
        failing(Unable::CannotRun),
        failing(Unable::Without(Lost::Backend)),
        failing(Unable::Without(Lost::Credentials)),
        failing(Unable::WithoutObject),
    ]
}

#[test]
fn a_gap_refuses_every_verdict_unless_the_dry_run_shows_it() {
    let object = widget(&["x.test/hold"]);
    for diagnosed in allowed() {
        assert!(
            diagnosed.remove(&object, "x.test/hold").is_ok(),
            "{:?}",
            diagnosed.verdict
        );
        let diagnosed = diagnosed.with_gap("validatingwebhookconfigurations.admissionregistration.k8s.io");
        assert!(
            diagnosed.remove(&object, "x.test/hold").is_ok(),
            "{:?}",
            diagnosed.verdict
        );
        let diagnosed = diagnosed.with_gap("leases.coordination.k8s.io");
        let refusal = diagnosed.remove(&object, "x.test/hold").expect_err("a refusal");
        assert!(
            refusal.why.contains("leases.coordination.k8s.io") && !refusal.why.contains("webhook"),
            "{refusal:?}"
        );
    }
}

#[test]
fn a_veto_refuses_every_verdict_and_a_namespace_too() {
    let object = widget(&["x.test/hold"]);
    for mut diagnosed in allowed() {
        diagnosed.vetoes = vec![Veto::UninstallNotConfirmed];
        let refusal = diagnosed.remove(&object, "x.test/hold").expect_err("a refusal");
        assert!(refusal.why.contains("nobody has confirmed"), "{refusal:?}");
    }
    let (namespace, mut diagnosed) = empty_namespace();
    let finalized = |diagnosed: &Diagnosed| {
        diagnosed.plan_with(&namespace, |seen| finalize(seen, super::finalize::KUBERNETES))
    };
    assert!(finalized(&diagnosed).is_ok());
    diagnosed.vetoes = vec![Veto::ControllerManagerStopped];
    let refusal = finalized(&diagnosed).expect_err("a refusal");
    assert!(
        refusal.needs.contains("kube-controller-manager runs again"),
        "{refusal:?}"
    );
}

/// A namespace in deletion that was listed and is empty.
fn empty_namespace() -> (Object, Diagnosed) {
    let value = json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}});
    let mut diagnosed = Diagnosed::with_verdict(Verdict::Stalled);
    let query = Query::Content {
        namespace: "n".into(),
    };
    let nothing = Answer::Content(Box::default());
    diagnosed.facts.answers.insert(query, Ok(nothing));
    (object("", "namespaces", "Namespace", value), diagnosed)
}

#[test]
fn a_failing_controller_is_repaired_and_not_passed_over() {
    let object = widget(&["x.test/hold"]);
    let refusal = Diagnosed::with_verdict(Verdict::Failing)
        .remove(&object, "x.test/hold")
        .expect_err("a refusal");
    assert!(
        refusal.needs.contains("what it complains of is repaired"),
        "{refusal:?}"
    );
}

#[test]
fn a_refusal_offers_something_else_and_never_the_way_around_it() {
    let object = widget(&["x.test/hold"]);
    let mut living = object.clone();
    living.value["metadata"]["deletionTimestamp"] = Value::Null;
    let orphaned = || Diagnosed::with_verdict(Verdict::Orphaned);
    let plan = orphaned().remove(&object, "x.test/hold").expect("a plan");
    let mut refusals = unaccepted(std::slice::from_ref(&plan), &[]);
    refusals.extend(unaccepted(&[plan], &[Consequence::Metadata]));
    refusals.extend([
        orphaned().remove(&living, "x.test/hold").expect_err("a refusal"),
        orphaned().remove(&object, "x.test/other").expect_err("a refusal"),
        orphaned()
            .with_gap("pods")
            .remove(&object, "x.test/hold")
            .expect_err("a refusal"),
    ]);
    for verdict in [
        Verdict::InUse,
        Verdict::Waiting,
        Verdict::Rejected,
        Verdict::Failing,
    ] {
        let diagnosed = Diagnosed::with_verdict(verdict);
        refusals.push(diagnosed.remove(&object, "x.test/hold").expect_err("a refusal"));
    }
    assert_eq!(refusals.len(), 10);
    for refusal in refusals {
        let told = format!("{} {} {}", refusal.why, refusal.needs, refusal.instead.text);
        assert!(
            !told.contains("--accept") && !told.contains("kubectl patch"),
            "{told}"
        );
        assert!(!refusal.instead.text.is_empty());
        if let Some(command) = refusal.instead.command {
            assert_eq!(
                command.to_string(),
                "kubectl finalizers explain widgets.x.test/w -n a"
            );
        }
    }
}

#[test]
fn a_pod_whose_stop_is_unconfirmed_waits_for_its_kubelet() {
    let kubelet = |grace: i64| {
        let value = json!({"metadata": {"name": "p", "namespace": "a", "finalizers": ["x.test/hold"],
            "deletionGracePeriodSeconds": grace}, "spec": {"nodeName": "node-7"}});
        let pod = object("", "pods", "Pod", value);
        let plan = Diagnosed::with_verdict(Verdict::Orphaned).remove(&pod, "x.test/hold");
        plan.expect("a plan").kubelet
    };
    assert_eq!(kubelet(30).as_deref(), Some("node-7"));
    assert_eq!(kubelet(0), None, "the kubelet has confirmed, or nobody must");
}

#[test]
fn an_entry_of_the_other_list_is_named_with_the_verb_for_it() {
    let value = json!({"metadata": {"name": "n", "finalizers": ["x.test/hold"]}});
    let namespace = object("", "namespaces", "Namespace", value);
    let diagnosed = Diagnosed::with_verdict(Verdict::Orphaned);
    let finalize = |name| {
        diagnosed
            .plan_with(&namespace, |seen| finalize(seen, name))
            .expect_err("a refusal")
    };
    let other = finalize("x.test/hold");
    assert_eq!(
        other.why,
        "x.test/hold is in metadata.finalizers, which only remove changes"
    );
    let command = other.instead.command.expect("a command").to_string();
    assert_eq!(
        command,
        "kubectl finalizers remove ns/n --finalizer x.test/hold --plan"
    );
    let empty = finalize("kubernetes");
    assert_eq!(
        empty.why,
        "spec.finalizers is empty; metadata.finalizers still has x.test/hold"
    );
}

#[test]
fn an_unknown_controller_has_the_first_minutes_to_act() {
    let deleted = |time: &str| {
        let mut object = widget(&["x.test/hold"]);
        object.value["metadata"]["deletionTimestamp"] = time.into();
        object
    };
    let young = deleted("2026-01-01T11:55:01Z");
    // One that cannot run may be about to start.
    let unable = Diagnosed {
        unable: Some(Unable::CannotRun),
        ..Diagnosed::with_verdict(Verdict::Failing)
    };
    for diagnosed in [Diagnosed::with_verdict(Verdict::Unknown), unable] {
        let refusal = diagnosed.remove(&young, "x.test/hold").expect_err("a refusal");
        assert!(refusal.why.contains("deleted only 4m59s ago"), "{refusal:?}");
        assert!(refusal.needs.contains("it is still there in 1s"), "{refusal:?}");
        let old = deleted("2026-01-01T11:55:00Z");
        assert!(diagnosed.remove(&old, "x.test/hold").is_ok());
    }
    // A controller that is proved gone needs no time.
    let gone = Diagnosed::with_verdict(Verdict::Orphaned);
    assert!(gone.remove(&young, "x.test/hold").is_ok());
}

#[test]
fn the_request_tests_the_object_and_removes_one_entry() {
    let object = widget(&["x.test/other", "x.test/hold"]);
    let plan = Diagnosed::with_verdict(Verdict::Orphaned)
        .remove(&object, "x.test/hold")
        .expect("a plan");
    assert_eq!(
        plan.request.uri(true),
        "/apis/x.test/v1/namespaces/a/widgets/w?fieldManager=kubectl-finalizers&dryRun=All"
    );
    assert_eq!(
        plan.request.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u1"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/metadata/finalizers/1", "value": "x.test/hold"},
            {"op": "remove", "path": "/metadata/finalizers/1"},
        ])
    );
    let stays: Vec<_> = plan.stays.iter().map(ToString::to_string).collect();
    assert_eq!(stays, ["x.test/other"]);
}

#[test]
fn quotes_names_in_paths_and_commands() {
    let value = json!({"metadata": {"name": "a b/%'", "finalizers": ["x.test/it's"]}});
    let object = object("", "nodes", "Node", value);
    let plan = Diagnosed::with_verdict(Verdict::Orphaned)
        .remove(&object, "x.test/it's")
        .expect("a plan");
    assert_eq!(plan.request.path, "/api/v1/nodes/a%20b%2F%25%27");
    let command = plan.request.as_kubectl(&object).to_string();
    assert!(
        command.contains(r"nodes 'a b/%'\''' --field-manager"),
        "{command}"
    );
    assert!(command.contains(r"x.test/it'\''s"), "{command}");
}

#[test]
fn a_request_with_invisible_characters_is_shown_with_escapes() {
    let value = json!({"metadata": {"name": "a", "finalizers": ["x.test/it\u{fe0f}"]}});
    let object = object("", "nodes", "Node", value);
    let plan = Diagnosed::with_verdict(Verdict::Orphaned)
        .remove(&object, "x.test/it\u{fe0f}")
        .expect("a plan");
    let command = plan.request.as_kubectl(&object);
    assert!(
        command.render().expect("a line").contains("it\\ufe0f"),
        "{command}"
    );
    let body = command.argv().pop().expect("a body");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body, plan.request.body);
}

#[test]
fn the_digest_changes_with_the_object_the_version_and_the_finalizer() {
    let diagnosed = Diagnosed::with_verdict(Verdict::Orphaned);
    let of = |field: &str, value: &str, name: &str| {
        let mut object = widget(&["x.test/hold", "x.test/other"]);
        object.value["metadata"][field] = value.into();
        digest(&[diagnosed.remove(&object, name).expect("a plan")], "server")
    };
    let all = [
        of("uid", "u1", "x.test/hold"),
        of("uid", "u2", "x.test/hold"),
        of("resourceVersion", "8", "x.test/hold"),
        of("name", "v", "x.test/hold"),
        of("uid", "u1", "x.test/other"),
    ];
    for (at, one) in all.iter().enumerate() {
        assert_eq!(one.len(), 16);
        assert!(!all[at + 1..].contains(one), "{all:?}");
    }
    assert_eq!(all[0], of("uid", "u1", "x.test/hold"));
}

#[test]
fn names_the_disk_that_would_leak() {
    let value = json!({"metadata": {"name": "pv", "finalizers": [PROVISIONER]},
        "spec": {"csi": {"driver": "csi.example.com", "volumeHandle": "disk-2dacf297"}}});
    let volume = object("", "persistentvolumes", "PersistentVolume", value);
    let plan = Diagnosed::with_verdict(Verdict::Orphaned)
        .remove(&volume, PROVISIONER)
        .expect("a plan");
    assert_eq!(plan.cost.consequence, Consequence::LeakedInfrastructure);
    let ids: Vec<_> = plan
        .cost
        .outside
        .iter()
        .map(|outside| outside.id.as_str())
        .collect();
    assert!(ids.contains(&"disk-2dacf297"), "{:?}", plan.cost);
}

#[test]
fn one_accepted_word_covers_one_consequence() {
    use Consequence::{DataLoss, LeakedInfrastructure, Metadata, None, OrphanedObjects};

    let costing = |consequence| {
        let object = widget(&["x.test/hold"]);
        let mut plan = Diagnosed::with_verdict(Verdict::Orphaned)
            .remove(&object, "x.test/hold")
            .expect("a plan");
        plan.cost = Cost {
            consequence,
            text: String::new(),
            outside: Vec::new(),
            known: true,
        };
        plan
    };
    let refused = |costs: &[Consequence], accepted: &[Consequence]| {
        let plans: Vec<_> = costs.iter().map(|cost| costing(*cost)).collect();
        unaccepted(&plans, accepted).len()
    };
    assert_eq!(refused(&[None, Metadata], &[]), 0);
    for cost in [OrphanedObjects, LeakedInfrastructure, DataLoss] {
        assert_eq!(refused(&[cost], &[]), 1, "{cost}");
        assert_eq!(refused(&[cost], &[cost]), 0, "{cost}");
    }
    assert_eq!(refused(&[DataLoss, OrphanedObjects], &[DataLoss]), 1);
    assert_eq!(
        refused(&[DataLoss, OrphanedObjects], &[DataLoss, OrphanedObjects]),
        0
    );
    assert_eq!(refused(&[OrphanedObjects], &[OrphanedObjects, DataLoss]), 1);
}

#[test]
fn finalizes_a_namespace_only_if_it_was_fully_listed_and_is_empty() {
    let value = json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes", "x.test/other"]}});
    let namespace = object("", "namespaces", "Namespace", value);
    let with = |content: Option<Content>, gaps: Vec<Gap>, verdict: Verdict| {
        let mut diagnosed = Diagnosed::with_verdict(verdict);
        diagnosed.facts.gaps = gaps;
        if let Some(content) = content {
            let query = Query::Content {
                namespace: "n".into(),
            };
            diagnosed
                .facts
                .answers
                .insert(query, Ok(Answer::Content(Box::new(content))));
        }
        diagnosed.plan_with(&namespace, |seen| finalize(seen, super::finalize::KUBERNETES))
    };
    let empty = || Some(Content::default());
    let plan = with(empty(), Vec::new(), Verdict::Stalled).expect("a plan");
    assert_eq!(plan.request.body["spec"]["finalizers"], json!(["x.test/other"]));
    assert_eq!(plan.request.body["metadata"]["resourceVersion"], "7");
    assert_eq!(plan.request.path, "/api/v1/namespaces/n/finalize");

    assert!(with(None, Vec::new(), Verdict::Stalled).is_err());
    assert!(with(empty(), Vec::new(), Verdict::Waiting).is_err());
    let gap = |what| Gap {
        what,
        why: Why::Unavailable("no".into()),
    };
    assert!(with(empty(), vec![gap(What::Groups)], Verdict::Stalled).is_err());
    let unread = Content {
        gaps: vec![gap(What::Type {
            name: "pods".into(),
            read: 0,
        })],
        ..Content::default()
    };
    assert!(with(Some(unread), Vec::new(), Verdict::Stalled).is_err());
    let left = Content {
        counts: [("pods".to_owned(), 1)].into(),
        ..Content::default()
    };
    assert!(with(Some(left), Vec::new(), Verdict::Stalled).is_err());
    let other = Finalizer {
        list: List::Spec,
        name: "x.test/other".into(),
    };
    assert_eq!(plan.stays, [other]);
}

#[test]
fn a_nudge_creates_annotations_and_is_stable_for_one_version() {
    let object = widget(&["x.test/hold"]);
    let diagnosed = Diagnosed::with_verdict(Verdict::Stalled);
    let plan = diagnosed.plan_with(&object, nudge).expect("a plan");
    let body = plan.request.body.as_array().expect("operations");
    assert_eq!(
        body[2],
        json!({"op": "add", "path": "/metadata/annotations", "value": {}})
    );
    assert_eq!(
        body[3]["path"],
        "/metadata/annotations/kubectl-finalizers~1nudged"
    );
    assert_eq!(
        digest(&[plan], "server"),
        digest(&[diagnosed.plan_with(&object, nudge).expect("a plan")], "server")
    );
    assert!(
        Diagnosed::with_verdict(Verdict::InUse)
            .plan_with(&object, nudge)
            .is_err()
    );
}

#[test]
fn finalize_removes_one_entry_of_several_with_the_same_name() {
    let twice = ["x.test/other", "x.test/hold", "x.test/hold"];
    let value = json!({"metadata": {"name": "n"}, "spec": {"finalizers": twice}});
    let namespace = object("", "namespaces", "Namespace", value);
    let mut diagnosed = Diagnosed::with_verdict(Verdict::Orphaned);
    let query = Query::Content {
        namespace: "n".into(),
    };
    let empty = Answer::Content(Box::default());
    diagnosed.facts.answers.insert(query, Ok(empty));
    let plan = diagnosed
        .plan_with(&namespace, |seen| finalize(seen, "x.test/hold"))
        .expect("a plan");
    let left = ["x.test/other", "x.test/hold"];
    assert_eq!(plan.request.body["spec"]["finalizers"], json!(left));
    let stays: Vec<_> = plan.stays.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(stays, left, "the plan says the same");
}

/// A plan to remove the finalizer of a widget.
fn plan() -> Plan {
    Diagnosed::with_verdict(Verdict::Orphaned)
        .remove(&widget(&["x.test/other", "x.test/hold"]), "x.test/hold")
        .expect("a plan")
}

#[test]
fn the_digest_covers_what_is_confirmed_and_where() {
    let changed = |change: fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        digest(&[plan], "server")
    };
    let confirmed = digest(&[plan()], "server");
    assert_eq!(confirmed, changed(|_| {}));
    for (what, other) in [
        ("server", digest(&[plan()], "another")),
        ("verdict", changed(|plan| plan.verdict = Verdict::Unknown)),
        (
            "consequence",
            changed(|plan| plan.cost.consequence = Consequence::OrphanedObjects),
        ),
        ("outside", changed(|plan| plan.cost.outside.push(disk("d-1")))),
        ("dry run", changed(|plan| plan.untried = None)),
        (
            "candidate",
            changed(|plan| _ = plan.may_be.insert("Deployment ops/b".into())),
        ),
    ] {
        assert_ne!(confirmed, other, "{what}");
    }
}

fn disk(id: &str) -> Outside {
    Outside {
        what: "disk".into(),
        field: "spec.id".into(),
        id: id.into(),
    }
}

/// A change of a plan.
type Change<'a> = &'a dyn Fn(&mut Plan);

#[test]
fn names_everything_that_is_worse_than_the_confirmed_plan() {
    let blocker = |name: &str, says: &str| {
        let object = ObjectRef {
            type_name: "pods".into(),
            kind: "Pod".into(),
            name: name.into(),
            ..ObjectRef::default()
        };
        Blocker::new(Some(object), says)
    };
    let confirmed = || {
        let mut plan = plan();
        plan.verdict = Verdict::Stalled;
        plan.untried = None;
        plan.cost.consequence = Consequence::LeakedInfrastructure;
        plan.cost.outside = vec![disk("d-1")];
        plan.blockers = vec![
            blocker("pod-1", "waits for 5s"),
            Blocker::new(None, "node n1 is gone since 5s"),
        ];
        plan.may_be = ["Deployment ops/a".to_owned()].into();
        plan
    };
    let unable = |plan: &mut Plan, why| {
        plan.verdict = Verdict::Failing;
        plan.unable = Some(why);
    };
    let worse = |change: Change<'_>| {
        let mut now = confirmed();
        change(&mut now);
        confirmed().worse(&now)
    };
    let not_worse: [Change<'_>; 8] = [
        &|_| {},
        &|now| now.resource_version = "8".into(),
        &|now| now.verdict = Verdict::Orphaned,
        &|now| now.cost.consequence = Consequence::OrphanedObjects,
        &|now| now.cost.outside.clear(),
        &|now| now.blockers = vec![blocker("pod-1", "waits for 9s")],
        &|now| now.blockers[1] = Blocker::new(None, "node n1 is gone since 9s"),
        &|now| now.may_be.clear(),
    ];
    for change in not_worse {
        assert!(worse(change).is_empty(), "{:?}", worse(change));
    }
    let changes: [(Change<'_>, &str); 11] = [
        (
            &|now| now.verdict = Verdict::Unknown,
            "it was stalled and is unknown now",
        ),
        (&|now| now.verdict = Verdict::Waiting, "is waiting now"),
        (
            &|now| now.cost.consequence = Consequence::DataLoss,
            "it costs data-loss now",
        ),
        (&|now| now.cost.text = "two disks".into(), "two disks"),
        (
            &|now| now.cost.outside.push(disk("d-2")),
            "this also stays outside: disk d-2",
        ),
        (
            &|now| now.blockers.push(blocker("pod-2", "runs")),
            "its controller now waits for pod/pod-2: runs",
        ),
        (
            &|now| now.blockers.push(Blocker::new(None, "node n2 is gone since 5s")),
            "its controller now waits for node n2 is gone",
        ),
        (
            &|now| _ = now.may_be.insert("Deployment ops/b".into()),
            "this may be its controller, and was not there: Deployment ops/b",
        ),
        (
            &|now| unable(now, Unable::CannotRun),
            "it was stalled and is failing now",
        ),
        (
            &|now| now.stays.clear(),
            "these other finalizers are on it now: none",
        ),
        (
            &|now| now.untried = Some("a service".into()),
            "no longer be tried out: a service",
        ),
    ];
    for (change, told) in changes {
        let worse = worse(change).join("; ");
        assert!(worse.contains(told), "{told}: {worse}");
    }
    // It fails for another reason than the confirmed one.
    let (mut before, mut now) = (confirmed(), confirmed());
    unable(&mut before, Unable::CannotRun);
    unable(&mut now, Unable::Without(Lost::Backend));
    assert_eq!(before.worse(&before.clone()), [""; 0]);
    assert!(
        before
            .worse(&now)
            .join("; ")
            .contains("it was failing and is failing now: removed by")
    );
}

#[test]
fn a_type_that_a_service_may_serve_is_not_tried_out() {
    let widget = widget(&["x.test/hold"]);
    let query = super::backend_query(&widget.reference()).expect("a query");
    let untried = |answer: Option<Result<Answer, Why>>| {
        let mut diagnosed = Diagnosed::with_verdict(Verdict::Orphaned);
        if let Some(answer) = answer {
            diagnosed.facts.answers.insert(query.clone(), answer);
        }
        diagnosed.remove(&widget, "x.test/hold").expect("a plan").untried
    };
    let served_by = |service: Value| {
        let value = json!({"metadata": {"name": "v1.x.test"}, "spec": {"service": service}});
        let found = object("apiregistration.k8s.io", "apiservices", "APIService", value);
        untried(Some(Ok(Answer::Object(Some(Box::new(found))))))
    };
    assert_eq!(served_by(Value::Null), None);
    assert_eq!(untried(Some(Ok(Answer::Object(None)))), None);
    let service = served_by(json!({"name": "s", "namespace": "a"}));
    assert!(service.is_some_and(|why| why.contains("service/s -n a serves this type")));
    assert!(untried(None).is_some());
    assert!(untried(Some(Err(Why::Forbidden("no".into())))).is_some());

    let own = object(
        "apps",
        "deployments",
        "Deployment",
        json!({"metadata": {"name": "d"}}),
    );
    assert_eq!(super::backend_query(&own.reference()), None);
}
