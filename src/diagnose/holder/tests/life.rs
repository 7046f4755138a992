//! Tests whether the controller is alive: uninstalled, unreadable, running, switched off, crashing.

use serde_json::json;

use super::*;
use crate::diagnose::model::When;

#[test]
fn an_uninstalled_controller_is_orphaned_with_the_cost_of_removal() {
    let diagnosis = World::of([definition()]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    let last = diagnosis.steps.last().expect("a step");
    assert!(last.text.starts_with("LEAKED INFRASTRUCTURE"), "{last:?}");
    assert_eq!(last.safety, Safety::Destructive);
    assert!(advises_removal(&diagnosis));
    // The first step that changes something brings the controller back, and names what installed it.
    let first = first_change(&diagnosis);
    assert!(first.text.contains("Helm release cert-manager"), "{first:?}");
}

/// A refusal by a webhook would be a second obstacle. It would not make the controller come back.
#[test]
fn an_uninstalled_controller_is_gone_where_webhooks_cannot_be_read() {
    let world = World::of([definition()]).hiding("validatingwebhookconfigurations");
    let diagnosis = world.explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    let says = diagnosis.waits[0].says();
    assert!(
        says.contains("whether an admission webhook or policy refuses updates of it is not known"),
        "{says}"
    );
}

#[test]
fn a_controller_that_cannot_be_read_is_unknown() {
    for plural in ["deployments", "serviceaccounts", "leases"] {
        let diagnosis = World::of([definition()]).hiding(plural).explain(&challenge());
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{plural}: {diagnosis:#?}");
        assert!(!advises_removal(&diagnosis));
        assert!(!diagnosis.gaps.is_empty());
    }
}

#[test]
fn a_running_controller_is_waited_for() {
    let diagnosis = installed().explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("Deployment cert-manager/cert-manager: 1 of 1 ready")
    );
    assert!(!advises_removal(&diagnosis));
}

/// Steps for a controller that is gone are no advice if it runs, and the other way round.
#[test]
fn steps_depend_on_the_state_of_the_controller() {
    let steps = |diagnosis: &Diagnosis| -> Vec<(When, String)> {
        diagnosis
            .steps
            .iter()
            .map(|step| (step.when, step.text.clone()))
            .collect()
    };
    let has = |steps: &[(When, String)], when: When, words: &str| {
        steps
            .iter()
            .any(|(each, text)| *each == when && text.contains(words))
    };
    let (again, credentials, look) = (
        "If cert-manager was uninstalled",
        "the Secret with the DNS credentials that the solver names",
        "See whether",
    );
    let running = steps(&installed().explain(&challenge()));
    assert!(has(&running, When::Now, credentials), "{running:#?}");
    assert!(
        !running
            .iter()
            .any(|(_, text)| text.contains(again) || text.contains(look)),
        "{running:#?}"
    );

    let gone = steps(&World::of([definition()]).explain(&challenge()));
    assert!(has(&gone, When::Now, again), "{gone:#?}");
    assert!(
        !gone
            .iter()
            .any(|(_, text)| text.contains(credentials) || text.contains(look)),
        "{gone:#?}"
    );

    let unseen = steps(&installed().hiding_everything().explain(&challenge()));
    assert!(has(&unseen, When::Now, look), "{unseen:#?}");
    assert!(has(&unseen, When::HolderRuns, credentials), "{unseen:#?}");
    // A destructive step is not shown until the controller is certainly gone. One that loses nothing is a question.
    assert!(
        !unseen.iter().any(|(_, text)| text.contains(again)),
        "{unseen:#?}"
    );
}

#[test]
fn a_restore_that_loses_nothing_is_shown_while_the_controller_is_unknown() {
    let samples = object(
        "samples.operator.openshift.io",
        "configs",
        "Config",
        json!({"metadata": {"name": "cluster", "deletionTimestamp": "2026-01-01T09:00:00Z",
            "deletionGracePeriodSeconds": 0, "finalizers": ["samples.operator.openshift.io/finalizer"]}}),
    );
    let diagnosis = World::of([]).hiding_everything().explain(&samples);
    let asked = |step: &Step| step.when == When::HolderGone && step.text.contains("Restore the operator");
    assert!(diagnosis.steps.iter().any(asked), "{diagnosis:#?}");
}

#[test]
fn finds_a_deployment_that_a_chart_renamed() {
    let mut renamed = deployment("infra", &labels(), 1, 1);
    renamed.value["metadata"]["name"] = "certs".into();
    let mut all = vec![definition(), renamed];
    all.extend(rights("infra", "cert-manager"));
    let diagnosis = World::of(all).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
}

#[test]
fn a_deployment_of_the_same_name_elsewhere_leaves_the_controller_unknown() {
    let other = deployment("shop", &json!({"app": "shop"}), 1, 1);
    let diagnosis = World::of([definition(), other]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(!advises_removal(&diagnosis));
}

#[test]
fn a_controller_scaled_to_zero_is_the_root_cause() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl-scale", "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let diagnosis =
        World::of([definition(), off, account("cert-manager", "cert-manager")]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    let root = &diagnosis.waits[0].on[0];
    assert_eq!(root.says, "is scaled to 0 replicas, by kubectl-scale 4h ago");
    assert_eq!(
        command_line(first_change(&diagnosis)),
        "kubectl scale deployments.apps/cert-manager -n cert-manager --replicas=1"
    );
}

#[test]
fn other_parts_of_the_product_are_no_sign_of_life() {
    let machine = object(
        "kubevirt.io",
        "virtualmachines",
        "VirtualMachine",
        json!({"metadata": {"name": "db", "namespace": "shop", "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}}),
    );
    let part = |name: &str, ready: u32| {
        let mut part = deployment("kubevirt", &json!({"kubevirt.io": name}), ready, ready);
        part.value["metadata"]["name"] = name.into();
        part.value["metadata"]["uid"] = name.into();
        part
    };
    let all = [
        part("virt-controller", 0),
        part("virt-api", 2),
        part("virt-operator", 2),
    ];
    let diagnosis = World::of(all).explain(&machine);
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    let root = &diagnosis.waits[0].on[0];
    assert_eq!(
        root.object.as_ref().map(|object| object.name.as_str()),
        Some("virt-controller")
    );
    assert!(root.says.starts_with("is scaled to 0 replicas"), "{root:?}");
}

#[test]
fn advises_the_former_number_of_replicas() {
    let command = |annotations: serde_json::Value, message: &str| {
        let mut off = deployment("cert-manager", &labels(), 0, 0);
        off.value["metadata"]["annotations"] = annotations;
        let event = object(
            "",
            "events",
            "Event",
            json!({"metadata": {"namespace": "cert-manager", "name": "e"}, "reason": "ScalingReplicaSet", "message": message,
                "lastTimestamp": "2026-01-01T08:00:00Z",
                "involvedObject": {"kind": "Deployment", "namespace": "cert-manager", "name": "cert-manager"}}),
        );
        let all = [definition(), off, account("cert-manager", "cert-manager"), event];
        let diagnosis = World::of(all).explain(&challenge());
        let command = command_line(first_change(&diagnosis));
        command.rsplit(' ').next().unwrap_or_default().to_owned()
    };
    let by_event = "Scaled down replica set cert-manager-1 from 3 to 0";
    assert_eq!(command(json!({}), by_event), "--replicas=3");
    assert_eq!(
        command(json!({}), "Scaled down replica set a to 0"),
        "--replicas=1"
    );
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"replicas\":2}}"});
    assert_eq!(command(applied, by_event), "--replicas=2");
    // An applied zero tells nothing about the number before. Invalid JSON tells nothing at all.
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"replicas\":0}}"});
    assert_eq!(command(applied, by_event), "--replicas=3");
    let idle = json!({"idling.alpha.openshift.io/previous-scale": "4", "kubectl.kubernetes.io/last-applied-configuration": "{"});
    assert_eq!(command(idle, by_event), "--replicas=4");
}

#[test]
fn a_crashing_controller_is_failing_with_the_reason() {
    let pod = object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "p", "namespace": "cert-manager", "labels": labels()}, "status": {"containerStatuses": [
            {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}}),
    );
    let diagnosis =
        World::of([definition(), deployment("cert-manager", &labels(), 1, 0), pod]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
    assert_eq!(
        diagnosis.waits[0].on[0].says,
        "0 of 1 ready: ImagePullBackOff: no such image"
    );
}
