//! Claims and the pods that use them.

use serde_json::json;

use crate::diagnose::{
    Safety, Verdict,
    causes::storage::tests::{assert_destructive_steps_warn, claim, pod, text, verdict, volume},
    model::Fate,
    testing::{
        fixtures::LONG_AGO,
        told::command_lines,
        world::{World, bare as object},
    },
};

#[test]
fn a_claim_with_ten_thousand_pods_shows_a_few_and_counts_the_rest() {
    let of = |pods: usize| {
        let mut world = World::of([claim(&["kubernetes.io/pvc-protection"], true)]);
        world.objects.extend((0..pods).map(|n| {
            let phase = if n % 2 == 0 { "Running" } else { "Succeeded" };
            pod(&format!("p{n}"), phase)
        }));
        world
    };
    let few = of(40).explain_first();
    let many = of(10_000);
    let many = many.explain_large(&many.objects[0]);
    for (diagnosis, more) in [(few, "35 more pods"), (many, "9995 more pods")] {
        assert_eq!(verdict(&diagnosis), Verdict::InUse);
        assert_eq!(diagnosis.waits[0].on.len(), 6);
        assert!(text(&diagnosis).contains(more));
        assert!(diagnosis.steps.len() < 12, "{:?}", diagnosis.steps);
        assert!(text(&diagnosis).len() < 20_000);
        assert_destructive_steps_warn(&diagnosis);
    }
}

#[test]
fn a_pod_that_was_shut_down_keeps_a_named_claim_but_not_its_ephemeral_claim() {
    let mut owned = claim(&["kubernetes.io/pvc-protection"], true);
    owned.value["metadata"]["name"] = json!("p-own");
    owned.value["metadata"]["ownerReferences"] =
        json!([{"kind": "Pod", "name": "p", "uid": "uid-p", "controller": true}]);
    let mut user = pod("p", "Running");
    user.value["spec"]["volumes"] = json!([{"name": "own", "ephemeral": {}}]);
    assert_eq!(
        verdict(&World::of([owned.clone(), user.clone()]).explain_first()),
        Verdict::InUse
    );
    user.value["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
    user.value["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    assert_eq!(
        verdict(&World::of([owned.clone(), user.clone()]).explain_first()),
        Verdict::Stalled
    );
    user.value["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "p-own"}}]);
    assert_eq!(verdict(&World::of([owned, user]).explain_first()), Verdict::InUse);
}

#[test]
fn a_claim_is_unknown_without_the_right_to_list_pods() {
    let world = World::of([
        claim(&["kubernetes.io/pvc-protection"], true),
        pod("p", "Running"),
    ])
    .hiding("pods");
    let diagnosis = world.explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Unknown);
    assert_eq!(diagnosis.gaps.len(), 1);
    assert!(diagnosis.steps.is_empty());
}

#[test]
fn the_steps_scale_the_deployment_of_a_replica_set() {
    let mut user = pod("p", "Running");
    user.value["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "web-1", "controller": true}]);
    let owner = json!({"metadata": {"name": "web-1", "namespace": "ns",
        "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]}});
    let set = object("apps", "replicasets", "ReplicaSet", owner);
    let world = World::of([claim(&["kubernetes.io/pvc-protection"], true), user, set]);
    let commands = command_lines(&world.explain_first());
    assert!(
        commands.contains(&"kubectl scale deployment/web -n ns --replicas=0".to_owned()),
        "{commands:?}"
    );
}

#[test]
fn scaling_a_stateful_set_that_deletes_its_claims_warns_of_data_loss() {
    let mut user = pod("web-0", "Running");
    user.value["metadata"]["ownerReferences"] =
        json!([{"kind": "StatefulSet", "name": "web", "controller": true}]);
    let set = |policy: &str| {
        let value = json!({"metadata": {"name": "web", "namespace": "ns"},
            "spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": policy}}});
        object("apps", "statefulsets", "StatefulSet", value)
    };
    let world = |policy: &str| {
        World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            user.clone(),
            set(policy),
        ])
    };
    let scale = |world: World| {
        let steps = world.explain_first().steps;
        let found = steps
            .into_iter()
            .find(|step| step.text.contains("stop StatefulSet web"));
        found.expect("a step").text
    };
    assert!(!scale(world("Retain")).contains("DATA LOSS"));
    assert!(scale(world("Delete")).starts_with("DATA LOSS"));
    assert!(scale(world("Retain").hiding("statefulsets")).starts_with("DATA LOSS is possible"));
}

#[test]
fn a_step_that_lets_a_disk_go_says_what_becomes_of_it() {
    let world = |policy: &str, deleted: bool| {
        World::of([
            claim(&["kubernetes.io/pvc-protection"], deleted),
            volume(&[], policy, "Bound", false),
            pod("done", "Succeeded"),
        ])
    };
    let step = |diagnosis: crate::diagnose::Diagnosis| {
        let mut steps = diagnosis.steps.into_iter();
        steps
            .find(|step| step.text.contains("finished pods"))
            .expect("a step")
    };
    for (policy, fate, says) in [
        (
            "Delete",
            Fate::Destroyed,
            "The disk disk-1 is DESTROYED (reclaim policy Delete).",
        ),
        (
            "",
            Fate::Unknown,
            "Whether the disk disk-1 is DESTROYED is not known",
        ),
    ] {
        let step = step(world(policy, true).explain_first());
        assert_eq!(step.safety, Safety::Destructive, "{step:?}");
        assert_eq!(step.lets_go[0].fate, fate);
        assert!(
            step.text.starts_with("DATA LOSS") && step.text.contains(says),
            "{step:?}"
        );
    }
    let hidden = step(world("Retain", true).hiding("persistentvolumes").explain_first());
    assert_eq!(hidden.safety, Safety::Destructive, "{hidden:?}");
    let kept = step(world("Retain", true).explain_first());
    assert_eq!(kept.safety, Safety::Safe);
    assert!(
        kept.text
            .ends_with("The disk disk-1 stays (reclaim policy Retain)."),
        "{kept:?}"
    );
    let unharmed = step(world("Delete", false).explain_first());
    assert_eq!((unharmed.safety, unharmed.lets_go.len()), (Safety::Safe, 0));
}
