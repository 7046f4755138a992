//! Finalizers that were renamed, and finalizers that come back.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Verdict,
        testing::{
            fixtures::{controller, going},
            told::{command_lines, outlook},
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const OLDER: &str = "chains.tekton.dev";
const NEWER: &str = "chains.tekton.dev/taskrun";

/// A change by a manager: the finalizers that it added, and when.
fn wrote(manager: &str, time: &str, finalizers: &[&str]) -> Value {
    let mut fields = json!({"f:metadata": {"f:annotations": {}}});
    for name in finalizers {
        fields["f:metadata"]["f:finalizers"][format!("v:\"{name}\"")] = json!({});
    }
    json!({"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields})
}

fn run(finalizers: &[&str], changes: &[Value]) -> Object {
    let mut metadata = going("build", "ci", finalizers);
    metadata["managedFields"] = json!(changes);
    object("tekton.dev", "taskruns", "TaskRun", json!({"metadata": metadata}))
}

fn chains() -> [Object; 4] {
    let labels = json!({"app": "tekton-chains-controller"});
    controller("tekton-chains", "tekton-chains-controller", &labels, "tekton.dev")
}

#[test]
fn an_older_name_is_stalled_if_another_program_succeeded_its_author() {
    let author = wrote("controller", "2026-01-01T08:00:00Z", &[OLDER]);
    let successor = wrote("tekton-chains-controller", "2026-01-01T09:00:00Z", &[]);
    let diagnosis = World::of(chains()).explain(&run(&[OLDER], &[author.clone(), successor.clone()]));
    assert_eq!(diagnosis.waits[0].verdict, Verdict::Stalled, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("is an older name of chains.tekton.dev/taskrun")
    );
    assert!(
        command_lines(&diagnosis)
            .last()
            .is_some_and(|last| last.contains("finalizers remove"))
    );

    let person = wrote("kubectl-edit", "2026-01-01T09:00:00Z", &[]);
    let again = wrote("controller", "2026-01-01T09:30:00Z", &[OLDER]);
    for (finalizers, changes, why) in [
        (
            &[OLDER, NEWER][..],
            vec![author.clone(), successor.clone()],
            "the newer name is removed first",
        ),
        (
            &[OLDER],
            vec![author.clone()],
            "no other program has succeeded it",
        ),
        (&[OLDER], vec![author, person], "a person is not a newer release"),
        (&[OLDER], vec![again, successor], "the author has written since"),
    ] {
        let diagnosis = World::of(chains()).explain(&run(finalizers, &changes));
        assert_ne!(
            diagnosis.waits[0].verdict,
            Verdict::Stalled,
            "{why}: {diagnosis:#?}"
        );
        assert!(
            !command_lines(&diagnosis)
                .iter()
                .any(|command| command.contains("finalizers remove")),
            "{why}"
        );
    }
}

fn alive(made: &str, changes: &[Value]) -> Object {
    object(
        "policies.test",
        "guards",
        "Guard",
        json!({"metadata": {"name": "g", "namespace": "n", "finalizers": ["policies.test/clean"], "creationTimestamp": made,
            "managedFields": changes}}),
    )
}

#[test]
fn a_manager_that_adds_a_finalizer_later_adds_it_again() {
    let name = ["policies.test/clean"];
    let made = "2026-01-01T08:00:00Z";
    for (manager, time, comes_back) in [
        ("guard-operator", "2026-01-01T08:00:20Z", false),
        ("guard-operator", "2026-01-01T09:00:00Z", true),
        ("argocd-controller", "2026-01-01T08:00:20Z", true),
        ("kustomize-controller", "2026-01-01T08:00:00Z", true),
    ] {
        let diagnosis = World::of([]).explain(&alive(made, &[wrote(manager, time, &name)]));
        let said = outlook(&diagnosis).contains(&format!("{manager} puts policies.test/clean on again"));
        assert_eq!(said, comes_back, "{manager} at {time}: {diagnosis:#?}");
    }
    // A manager of another finalizer does not count.
    let diagnosis = World::of([]).explain(&alive(
        made,
        &[wrote("argocd-controller", made, &["other.test/x"])],
    ));
    assert!(!outlook(&diagnosis).contains("puts policies.test/clean on again"));
}

#[test]
fn a_finalizer_that_the_api_server_rejects_does_not_hold_the_object() {
    let said = |message: &str, time: &str| {
        object(
            "policies.test",
            "guards",
            "Guard",
            json!({"metadata": going("g", "n", &["policies.test/other"]), "status": {"conditions": [{"type": "Ready",
                "status": "False", "reason": "ReconcileError", "message": message, "lastTransitionTime": time}]}}),
        )
    };
    let words = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{\"policies.test/clean\"}";
    let diagnosis = World::of([]).explain(&said(words, "2026-01-01T11:00:00Z"));
    assert!(
        outlook(&diagnosis).contains("somebody tries to put policies.test/clean back"),
        "{diagnosis:#?}"
    );
    assert!(
        diagnosis
            .do_not
            .iter()
            .any(|text| text.contains("patch against whoever puts policies.test/clean back"))
    );
    // A message from before the deletion does not count, nor one about something else.
    for (words, time) in [
        (words, "2026-01-01T09:00:00Z"),
        ("not found", "2026-01-01T11:00:00Z"),
    ] {
        let diagnosis = World::of([]).explain(&said(words, time));
        assert!(!outlook(&diagnosis).contains("somebody tries"), "{diagnosis:#?}");
    }
}

#[test]
fn a_controller_that_first_adds_its_new_finalizer_fails() {
    let message = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
                   finalizers []string{\"policies.test/clean\"}";
    let told = |message: &str| {
        let guard = object(
            "policies.test",
            "guards",
            "Guard",
            json!({"metadata": {"name": "g", "namespace": "n", "uid": "u", "finalizers": ["policies.test/old"],
                "deletionTimestamp": "2026-01-01T10:00:00Z", "managedFields": [
                    wrote("policies", "2026-01-01T08:00:00Z", &["policies.test/old"])]},
                "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "ReconcileError",
                    "message": message, "lastTransitionTime": "2026-01-01T11:00:00Z"}]}}),
        );
        let world = World::of(controller(
            "ops",
            "policies",
            &json!({"app": "policies"}),
            "policies.test",
        ));
        world.serving("policies.test", "guards", "Guard").explain(&guard)
    };
    let words = "policies.test/old may be the name that an older release of it used";
    let failing = told(message);
    assert_eq!(failing.waits[0].verdict, Verdict::Failing, "{failing:#?}");
    assert!(failing.waits[0].says().contains(words), "{failing:#?}");
    // Another report says nothing about the name.
    let other = told("waiting for the last guard");
    assert_ne!(other.waits[0].verdict, Verdict::Failing, "{other:#?}");
    assert!(!other.waits[0].says().contains(words), "{other:#?}");
}
