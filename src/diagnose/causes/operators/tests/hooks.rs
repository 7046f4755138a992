//! Hooks on a Machine, and who set them.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis,
        model::CauseState,
        testing::{
            fixtures::{controller, going},
            told::said,
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const HOOK: &str = "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup";

fn machine(annotations: &Value, manager: &str) -> Object {
    let mut metadata = going("m", "ns", &["machine.cluster.x-k8s.io"]);
    metadata["annotations"] = annotations.clone();
    metadata["managedFields"] = json!([{"manager": manager, "time": "2026-01-01T09:00:00Z",
        "fieldsV1": {"f:metadata": {"f:annotations": {format!("f:{HOOK}"): {}}}}}]);
    object(
        "cluster.x-k8s.io",
        "machines",
        "Machine",
        json!({"metadata": metadata, "spec": {"clusterName": "c"}}),
    )
}

fn explained(machine: &Object, others: Vec<Object>) -> Diagnosis {
    let labels = json!({"cluster.x-k8s.io/provider": "cluster-api", "control-plane": "controller-manager"});
    let capi = controller(
        "capi-system",
        "capi-controller-manager",
        &labels,
        "cluster.x-k8s.io",
    );
    let mut world = World::of(capi).serving("cluster.x-k8s.io", "machines", "Machine");
    for other in others {
        world = world.with(other);
    }
    world.explain(machine)
}

fn deployment(name: &str, ready: i64) -> Object {
    object(
        "apps",
        "deployments",
        "Deployment",
        json!({"metadata": {"name": name, "namespace": "tools"}, "spec": {"replicas": 1},
            "status": {"readyReplicas": ready}}),
    )
}

#[test]
fn a_hook_names_who_set_it_and_whether_that_still_runs() {
    let hooked = |manager: &str, others: Vec<Object>| {
        let told = explained(&machine(&json!({HOOK: "owner"}), manager), others);
        let hook = told.waits[0].on.iter().find(|on| on.says.contains("has a hook"));
        let hook = hook.unwrap_or_else(|| panic!("{told:#?}"));
        assert_eq!(hook.state, Some(CauseState::Waiting));
        hook.says.clone()
    };
    for (manager, others, says) in [
        (
            "backuper",
            vec![deployment("backuper", 1)],
            ". deploy/backuper -n tools runs",
        ),
        (
            "backuper",
            vec![deployment("backuper", 0)],
            ". deploy/backuper -n tools does not run",
        ),
        (
            "backuper",
            vec![deployment("other", 1)],
            "No Deployment or StatefulSet is called that",
        ),
        (
            "kubectl-annotate",
            vec![],
            "a tool that takes nothing away by itself",
        ),
    ] {
        let told = hooked(manager, others);
        assert!(
            told.contains(&format!("{manager} set it")) && told.contains(says),
            "{told}"
        );
    }
}

#[test]
fn a_step_of_a_deployment_is_told_and_blamed_for_nothing() {
    let step = explained(
        &machine(&json!({"helm.sh/hook": "pre-delete"}), "helm"),
        Vec::new(),
    );
    assert!(
        said(&step).contains("is a step of a deployment (metadata.annotations helm.sh/hook: \"pre-delete\")"),
        "{}",
        said(&step)
    );
    assert!(
        !step.waits[0]
            .on
            .iter()
            .any(|on| on.says.contains("step of a deployment"))
    );
    let other = explained(&machine(&json!({"helm.sh/chart": "x"}), "helm"), Vec::new());
    assert!(!said(&other).contains("step of a deployment"), "{}", said(&other));
}
