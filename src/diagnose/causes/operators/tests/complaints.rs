//! Which complaints make a controller fail, and which are only quoted.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, Lost, Unable, Verdict,
        model::{Liveness, When},
        testing::{
            fixtures::{controller, going},
            told::{said, verdict},
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const FINALIZER: &str = "finalizer.acme.cert-manager.io";
const GROUP: &str = "acme.cert-manager.io";
const GONE: &str = "cannot read the credentials: secrets \"dns\" not found";

fn challenge() -> Object {
    let mut metadata = going("api-cert", "pay", &[FINALIZER]);
    metadata["uid"] = "u".into();
    object(
        GROUP,
        "challenges",
        "Challenge",
        json!({"metadata": metadata, "spec": {}}),
    )
}

/// A Warning of cert-manager about this challenge, two minutes ago.
fn warning() -> Object {
    let value = json!({"metadata": {"name": "e", "namespace": "pay"}, "type": "Warning", "reason": "CleanUpError",
        "message": "no route to the DNS server", "lastTimestamp": "2026-01-01T11:58:00Z",
        "source": {"component": "cert-manager-challenges"}, "reportingComponent": "cert-manager-challenges",
        "involvedObject": {"name": "api-cert", "uid": "u"}});
    object("", "events", "Event", value)
}

fn with(pointer: &str, value: impl Into<Value>) -> Object {
    let mut warning = warning();
    *warning.value.pointer_mut(pointer).expect("a field") = value.into();
    warning
}

/// The diagnosis where nobody knows whether cert-manager runs.
fn unseen(event: Object) -> Diagnosis {
    World::of([event]).hiding("leases").explain(&challenge())
}

/// The diagnosis where cert-manager runs.
fn running(event: Object, challenge: &Object) -> Diagnosis {
    let labels =
        json!({"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller"});
    World::of(controller("cert-manager", "cert-manager", &labels, GROUP))
        .with(event)
        .explain(challenge)
}

#[test]
fn a_recent_warning_of_the_controller_about_this_object_is_a_failure() {
    assert_eq!(
        verdict(&running(warning(), &challenge()), FINALIZER),
        Some(Verdict::Failing)
    );
    assert_eq!(verdict(&unseen(warning()), FINALIZER), Some(Verdict::Failing));
}

#[test]
fn a_warning_that_is_not_the_controllers_own_or_not_recent_is_only_quoted() {
    for (why, event) in [
        ("of a stranger", with("/source/component", "stranger")),
        ("of two who do not agree", with("/reportingComponent", "stranger")),
        ("of a name that many share", {
            let mut event = with("/source/component", "controller");
            event.value["reportingComponent"] = "controller".into();
            event
        }),
        ("of nobody", {
            let mut event = with("/source/component", "");
            event.value["reportingComponent"] = "".into();
            event
        }),
        ("about no uid", with("/involvedObject/uid", "")),
        (
            "of the far future",
            with("/lastTimestamp", "9999-01-01T00:00:00Z"),
        ),
        (
            "of 36 minutes ago",
            with("/lastTimestamp", "2026-01-01T11:24:00Z"),
        ),
    ] {
        let diagnosis = running(event.clone(), &challenge());
        assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Waiting), "{why}");
        assert!(said(&diagnosis).contains("no route to the DNS server"), "{why}");
        let diagnosis = unseen(event);
        assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Unknown), "{why}");
        assert!(said(&diagnosis).contains("no route to the DNS server"), "{why}");
    }
    // Another object of this name is another object.
    let diagnosis = running(with("/involvedObject/uid", "other"), &challenge());
    assert!(!said(&diagnosis).contains("no route"), "{diagnosis:#?}");
}

#[test]
fn a_newer_warning_of_a_stranger_does_not_hide_the_controllers_own() {
    let mut stranger = with("/lastTimestamp", "2026-01-01T11:59:00Z");
    stranger.value["metadata"]["name"] = "f".into();
    stranger.value["message"] = "look at me".into();
    stranger.value["source"]["component"] = "stranger".into();
    let diagnosis = World::of([warning(), stranger])
        .hiding("leases")
        .explain(&challenge());
    assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Failing));
    let said = said(&diagnosis);
    assert!(said.contains("no route") && said.contains("look at me"), "{said}");
}

fn with_condition(manager: &str, time: &str, message: &str) -> Object {
    let mut challenge = challenge();
    challenge.value["status"] = json!({"conditions": [{"type": "CleanUpFailed", "status": "True", "reason": "Error",
        "message": message, "lastTransitionTime": time}]});
    challenge.value["metadata"]["managedFields"] = json!([{"manager": manager, "subresource": "status", "time": time,
        "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"CleanUpFailed\"}": {"f:message": {}}}}}}]);
    challenge
}

#[test]
fn a_condition_and_an_event_with_the_same_words_are_told_once() {
    let mut challenge = with_condition(
        "cert-manager-challenges",
        "2026-01-01T11:50:00Z",
        "no route to the DNS server",
    );
    challenge.value["status"]["conditions"][0]["reason"] = "CleanUpError".into();
    let blockers = |message: &str| {
        let mut event = with("/message", message);
        event.value["count"] = 4.into();
        running(event, &challenge).waits[0].on.len()
    };
    assert_eq!(blockers("no route to the DNS server"), 1);
    assert_eq!(blockers("no answer"), 2);
}

#[test]
fn a_condition_counts_if_the_controller_owns_it() {
    let recent = "2026-01-01T11:50:00Z";
    let world = || World::default().hiding("leases");
    for (manager, expected) in [
        ("cert-manager-challenges", Verdict::Failing),
        ("kubectl-edit", Verdict::Unknown),
        ("controller", Verdict::Unknown),
        ("other-operator", Verdict::Unknown),
    ] {
        let diagnosis = world().explain(&with_condition(manager, recent, "no"));
        assert_eq!(verdict(&diagnosis, FINALIZER), Some(expected), "{manager}");
        assert!(said(&diagnosis).contains("Error: no"), "{manager}");
    }
    // Whoever put the finalizer on this object is its controller, whatever its name.
    let mut by_author = with_condition("controller", recent, "no");
    by_author.value["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
        json!({"f:finalizers": {format!("v:\"{FINALIZER}\""): {}}});
    assert_eq!(
        verdict(&world().explain(&by_author), FINALIZER),
        Some(Verdict::Failing)
    );
}

#[test]
fn an_old_condition_counts_only_while_the_controller_runs() {
    let old = with_condition("cert-manager-challenges", "2026-01-01T11:20:00Z", GONE);
    let unseen = World::default().hiding("leases").explain(&old);
    assert_eq!(verdict(&unseen, FINALIZER), Some(Verdict::Unknown));
    let runs = running(with("/type", "Normal"), &old);
    assert_eq!(verdict(&runs, FINALIZER), Some(Verdict::Failing));
    assert_eq!(
        runs.waits[0].unable, None,
        "what was gone then may have come back"
    );
}

/// As `kubectl get -o yaml` prints it.
fn without_managers(mut object: Object) -> Object {
    let metadata = object.value["metadata"].as_object_mut().expect("metadata");
    metadata.remove("managedFields");
    object
}

#[test]
fn a_condition_since_the_deletion_that_nobody_signed_is_of_the_controller_of_the_type() {
    let silent = || with("/type", "Normal");
    let signed = with_condition("other-operator", "2026-01-01T11:50:00Z", GONE);
    assert_eq!(
        verdict(&running(silent(), &signed), FINALIZER),
        Some(Verdict::Waiting)
    );
    let diagnosis = running(silent(), &without_managers(signed.clone()));
    assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Failing));
    // Nothing says who wrote it, so it allows no removal.
    assert_eq!(diagnosis.waits[0].unable, None);

    let unseen = World::default().hiding("leases");
    let diagnosis = unseen.explain(&without_managers(signed));
    assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Unknown));

    let older = without_managers(with_condition("x", "2025-12-31T11:50:00Z", GONE));
    assert_eq!(
        verdict(&running(silent(), &older), FINALIZER),
        Some(Verdict::Waiting)
    );
}

#[test]
fn only_its_own_complaint_of_a_loss_shows_that_a_running_controller_cannot_succeed() {
    let lost = Some(Unable::Without(Lost::Credentials));
    assert_eq!(
        running(with("/message", GONE), &challenge()).waits[0].unable,
        lost
    );
    assert_eq!(running(warning(), &challenge()).waits[0].unable, None);
    let mut stranger = with("/message", GONE);
    stranger.value["source"]["component"] = "stranger".into();
    assert_eq!(running(stranger, &challenge()).waits[0].unable, None);
}

#[test]
fn a_failure_from_before_the_deletion_is_told_and_is_no_failure_of_the_deletion() {
    // It was deleted at ten o'clock.
    let of = |time: &str| {
        let challenge = with_condition("cert-manager-challenges", time, "no route to the DNS server");
        running(with("/type", "Normal"), &challenge)
    };
    let before = of("2026-01-01T09:55:00Z");
    assert_ne!(verdict(&before, FINALIZER), Some(Verdict::Failing));
    let text = said(&before);
    assert!(
        text.contains("Before the deletion it reported: Error: no route to the DNS server"),
        "{text}"
    );
    assert_eq!(
        verdict(&of("2026-01-01T10:05:00Z"), FINALIZER),
        Some(Verdict::Failing)
    );
}

#[test]
fn a_controller_that_reported_on_the_object_minutes_ago_runs() {
    let state = |event: Object| {
        let diagnosis = unseen(event);
        let controller = diagnosis.waits[0].said.controller.clone();
        controller.map(|controller| controller.state)
    };
    assert_eq!(state(warning()), Some(Liveness::Running));
    for other in [
        with("/source/component", "stranger"),
        with("/lastTimestamp", "2026-01-01T11:24:00Z"),
    ] {
        assert_eq!(state(other), Some(Liveness::Unknown));
    }
}

#[test]
fn steps_for_a_controller_that_runs_are_no_question_once_it_has_reported() {
    let asks = |event: Object| {
        let steps = unseen(event).steps;
        steps.iter().any(|step| step.when == When::HolderRuns)
    };
    assert!(!asks(warning()));
    assert!(asks(with("/lastTimestamp", "2026-01-01T11:24:00Z")));
}

#[test]
fn what_wants_to_create_in_a_namespace_that_is_being_deleted_cannot_succeed() {
    let says = "This cannot succeed";
    let refused = "secrets \"sh.helm.release.v1.a.v2\" is forbidden: unable to create new content in namespace pay because it is \
                   being terminated";
    let text = said(&running(with("/message", refused), &challenge()));
    assert!(text.contains(says), "{text}");
    let text = said(&running(warning(), &challenge()));
    assert!(!text.contains(says), "{text}");
}

#[test]
fn what_the_controller_does_not_find_is_lost_only_if_it_still_exists() {
    let warned = |message: &str| {
        let diagnosis = running(with("/message", message), &challenge());
        let known = diagnosis.waits[0].known.as_ref();
        let is_doubted = known.is_some_and(|known| known.is_doubted);
        let mut do_not = diagnosis.do_not.into_iter();
        let is_warned = do_not.any(|text| text.contains("by hand. If it still exists: "));
        assert_eq!(is_warned, is_doubted, "{message}");
        is_warned
    };
    for missing in [
        "DELETE /records/7: [404] record not found",
        "failed to fetch the record: not found",
        "the zone doesn't exist",
    ] {
        assert!(warned(missing), "{missing}");
    }
    for other in [
        "secrets \"dns\" not found (404)",
        "the Secret dns does not exist",
        "no route to the DNS server",
    ] {
        assert!(!warned(other), "{other}");
    }
}
