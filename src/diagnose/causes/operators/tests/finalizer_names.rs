//! Finalizers that were renamed, and those that come back.

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

/// Somebody's change: the finalizers it put on, and when.
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
fn an_older_name_that_its_author_has_left() {
    let author = wrote("controller", "2026-01-01T08:00:00Z", &[OLDER]);
    let successor = wrote("tekton-chains-controller", "2026-01-01T09:00:00Z", &[]);
    let told = World::of(chains()).explain(&run(&[OLDER], &[author.clone(), successor.clone()]));
    assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
    assert!(
        told.waits[0]
            .says
            .contains("is an older name of chains.tekton.dev/taskrun")
    );
    assert!(
        command_lines(&told)
            .last()
            .is_some_and(|last| last.contains("finalizers remove"))
    );

    let person = wrote("kubectl-edit", "2026-01-01T09:00:00Z", &[]);
    let again = wrote("controller", "2026-01-01T09:30:00Z", &[OLDER]);
    for (finalizers, changes, why) in [
        (
            &[OLDER, NEWER][..],
            vec![author.clone(), successor.clone()],
            "the newer one goes first",
        ),
        (&[OLDER], vec![author.clone()], "nobody has succeeded it"),
        (&[OLDER], vec![author, person], "a person is no release"),
        (&[OLDER], vec![again, successor], "it has written since"),
    ] {
        let told = World::of(chains()).explain(&run(finalizers, &changes));
        assert_ne!(told.waits[0].verdict, Verdict::Stalled, "{why}: {told:#?}");
        assert!(
            !command_lines(&told)
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
fn whoever_puts_it_on_later_puts_it_on_again() {
    let name = ["policies.test/clean"];
    let made = "2026-01-01T08:00:00Z";
    for (manager, time, comes_back) in [
        ("guard-operator", "2026-01-01T08:00:20Z", false),
        ("guard-operator", "2026-01-01T09:00:00Z", true),
        ("argocd-controller", "2026-01-01T08:00:20Z", true),
        ("kustomize-controller", "2026-01-01T08:00:00Z", true),
    ] {
        let told = World::of([]).explain(&alive(made, &[wrote(manager, time, &name)]));
        let said = outlook(&told).contains(&format!("{manager} puts policies.test/clean on again"));
        assert_eq!(said, comes_back, "{manager} at {time}: {told:#?}");
    }
    // Of another finalizer it says nothing.
    let told = World::of([]).explain(&alive(
        made,
        &[wrote("argocd-controller", made, &["other.test/x"])],
    ));
    assert!(!outlook(&told).contains("puts policies.test/clean on again"));
}

#[test]
fn what_the_api_server_refuses_does_not_hold() {
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
    let told = World::of([]).explain(&said(words, "2026-01-01T11:00:00Z"));
    assert!(
        outlook(&told).contains("somebody tries to put policies.test/clean back"),
        "{told:#?}"
    );
    assert!(
        told.do_not
            .iter()
            .any(|text| text.contains("patch against whoever puts policies.test/clean back"))
    );
    // From before the deletion, and of something else.
    for (words, time) in [
        (words, "2026-01-01T09:00:00Z"),
        ("not found", "2026-01-01T11:00:00Z"),
    ] {
        let told = World::of([]).explain(&said(words, time));
        assert!(!outlook(&told).contains("somebody tries"), "{told:#?}");
    }
}
