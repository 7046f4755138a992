//! A guest of KubeVirt that may still write to its disk.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        model::StepKind,
        removal::Veto,
        testing::{
            fixtures::going,
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

fn guest() -> Object {
    let held = ["kubevirt.io/foregroundDeleteVirtualMachine"];
    object(
        "kubevirt.io",
        "virtualmachineinstances",
        "VirtualMachineInstance",
        json!({"metadata": going("guest", "vms", &held), "status": {"nodeName": "n"}}),
    )
}

fn launcher(phase: &str, owner: &str) -> Object {
    object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "virt-launcher-guest", "namespace": "vms",
            "ownerReferences": [{"kind": "VirtualMachineInstance", "name": "guest", "uid": owner, "controller": true}]},
            "status": {"phase": phase}}),
    )
}

fn node(ready: &str, taints: &Value) -> Object {
    object(
        "",
        "nodes",
        "Node",
        json!({"metadata": {"name": "n"}, "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}}),
    )
}

/// The vetoes, in words.
fn vetoes(world: &World) -> Vec<String> {
    let diagnosis = world.explain(&guest());
    let vetoes: Vec<_> = diagnosis.waits.iter().flat_map(|wait| &wait.vetoes).collect();
    assert!(
        vetoes.is_empty()
            || !diagnosis
                .steps
                .iter()
                .any(|step| step.kind() == StepKind::RemoveFinalizer),
        "{diagnosis:#?}"
    );
    vetoes.into_iter().map(Veto::why).collect()
}

#[test]
fn a_guest_that_may_run_keeps_its_finalizer_whoever_is_gone() {
    let uid = guest().uid().to_owned();
    let because = "two guests that write to one disk destroy it";
    let ready = || node("True", &json!([]));
    assert_eq!(
        vetoes(&World::of([ready(), launcher("Running", &uid)])),
        [format!("its pod virt-launcher-guest has not ended: {because}")]
    );
    assert_eq!(
        vetoes(&World::of([node("Unknown", &json!([]))])),
        [format!("its node n does not report: {because}")]
    );
    // Not everything could be read.
    for hidden in ["pods", "nodes"] {
        let found = vetoes(&World::of([ready()]).hiding(hidden));
        assert!(
            found[0].contains("whether it runs is not known"),
            "{hidden}: {found:?}"
        );
    }
}

#[test]
fn a_guest_that_ended_or_whose_node_is_gone_is_not_forbidden() {
    let uid = guest().uid().to_owned();
    let out =
        json!([{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]);
    for world in [
        World::of([node("True", &json!([])), launcher("Succeeded", &uid)]),
        World::of([node("True", &json!([])), launcher("Running", "of-another")]),
        World::of([node("Unknown", &out)]),
        World::default(),
    ] {
        assert_eq!(vetoes(&world), Vec::<String>::new());
    }
}
