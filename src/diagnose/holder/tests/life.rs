//! Whether it lives: uninstalled, unseen, running, switched off, crashing.

use serde_json::json;

use super::*;

#[test]
fn uninstalled_is_orphaned_and_says_what_it_costs() {
    let told = World::of([definition()]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Orphaned, "{told:#?}");
    let last = told.steps.last().expect("a step");
    assert!(last.text.starts_with("LEAKED INFRASTRUCTURE"), "{last:?}");
    assert_eq!(last.safety, Safety::Destructive);
    assert!(takes_out(&told));
    // Bringing it back comes first, and whoever installed it is named.
    assert!(
        told.steps[0].text.contains("Helm release cert-manager"),
        "{:?}",
        told.steps
    );
}

#[test]
fn what_cannot_be_seen_is_not_gone() {
    for plural in ["deployments", "serviceaccounts", "leases"] {
        let told = World::of([definition()]).hiding(plural).explain(&challenge());
        assert_eq!(verdict(&told), Verdict::Unknown, "{plural}: {told:#?}");
        assert!(!takes_out(&told));
        assert!(!told.gaps.is_empty());
    }
}

#[test]
fn one_that_runs_is_waited_for() {
    let told = installed().explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    assert!(
        told.waits[0]
            .says
            .contains("Deployment cert-manager/cert-manager: 1 of 1 ready")
    );
    assert!(!takes_out(&told));
}

/// What the entry says for a holder that is gone is no advice where it runs, and the other way round.
#[test]
fn what_is_advised_is_for_how_it_stands() {
    let steps = |told: &Diagnosis| -> Vec<(&'static str, String)> {
        told.steps
            .iter()
            .map(|step| (step.when, step.text.clone()))
            .collect()
    };
    let has = |steps: &[(&str, String)], when: &str, words: &str| {
        steps
            .iter()
            .any(|(each, text)| *each == when && text.contains(words))
    };
    let (again, credentials, look) = (
        "If cert-manager was uninstalled",
        "If it fails, give back",
        "See whether",
    );
    let running = steps(&installed().explain(&challenge()));
    assert!(has(&running, "what to do", credentials), "{running:#?}");
    assert!(
        !running
            .iter()
            .any(|(_, text)| text.contains(again) || text.contains(look)),
        "{running:#?}"
    );

    let gone = steps(&World::of([definition()]).explain(&challenge()));
    assert!(has(&gone, "what to do", again), "{gone:#?}");
    assert!(
        !gone
            .iter()
            .any(|(_, text)| text.contains(credentials) || text.contains(look)),
        "{gone:#?}"
    );

    let unseen = steps(&installed().hiding_everything().explain(&challenge()));
    assert!(has(&unseen, "what to do", look), "{unseen:#?}");
    assert!(has(&unseen, "does it run?", credentials), "{unseen:#?}");
    assert!(has(&unseen, "is it gone?", again), "{unseen:#?}");
}

#[test]
fn a_chart_may_have_given_it_another_name() {
    let mut renamed = deployment("infra", &labels(), 1, 1);
    renamed.value["metadata"]["name"] = "certs".into();
    let mut all = vec![definition(), renamed];
    all.extend(rights("infra", "cert-manager"));
    let told = World::of(all).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
}

#[test]
fn a_deployment_of_the_same_name_elsewhere_is_neither_it_nor_its_absence() {
    let other = deployment("shop", &json!({"app": "shop"}), 1, 1);
    let told = World::of([definition(), other]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    assert!(!takes_out(&told));
}

#[test]
fn scaled_to_zero_is_the_root_cause() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl-scale", "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let told = World::of([definition(), off, account("cert-manager", "cert-manager")]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    let root = &told.waits[0].on[0];
    assert_eq!(root.says, "is scaled to 0 replicas, by kubectl-scale 4h ago");
    assert_eq!(
        told.steps[0].command.as_deref(),
        Some("kubectl -n cert-manager scale deployments.apps cert-manager --replicas=1")
    );
}

#[test]
fn what_is_installed_beside_it_is_no_sign_of_its_life() {
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
    let told = World::of(all).explain(&machine);
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    let root = &told.waits[0].on[0];
    assert_eq!(
        root.object.as_ref().map(|object| object.name.as_str()),
        Some("virt-controller")
    );
    assert!(root.says.starts_with("is scaled to 0 replicas"), "{root:?}");
}

#[test]
fn as_many_replicas_as_there_were_are_advised() {
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
        let told = World::of(all).explain(&challenge());
        let command = told.steps[0].command.clone().unwrap_or_default();
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
    // Applied as zero, it says nothing of before; and what is no JSON says nothing at all.
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"replicas\":0}}"});
    assert_eq!(command(applied, by_event), "--replicas=3");
    let idle = json!({"idling.alpha.openshift.io/previous-scale": "4", "kubectl.kubernetes.io/last-applied-configuration": "{"});
    assert_eq!(command(idle, by_event), "--replicas=4");
}

#[test]
fn one_that_crashes_is_failing_with_the_reason() {
    let pod = object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "p", "namespace": "cert-manager", "labels": labels()}, "status": {"containerStatuses": [
            {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}}),
    );
    let told =
        World::of([definition(), deployment("cert-manager", &labels(), 1, 0), pod]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Failing, "{told:#?}");
    assert_eq!(
        told.waits[0].on[0].says,
        "0 of 1 ready: ImagePullBackOff: no such image"
    );
}
