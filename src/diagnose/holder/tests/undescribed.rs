//! Tests controllers that the catalogue does not describe.

use serde_json::json;

use super::*;

/// A widget that this program wrote after the deletion was requested.
fn written_by(manager: &str) -> Object {
    let mut widget = widget();
    widget.value["metadata"]["managedFields"] = json!([{"manager": manager, "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"widgets.test/clean\"": {}}}}}]);
    widget
}

#[test]
fn rights_are_no_sign_of_life_unless_a_name_agrees() {
    let mut all = vec![deployment("ops", &json!({"app": "w"}), 1, 1)];
    all.extend(widget_rights("ops", "cert-manager"));
    let world = || World::of(all.clone());
    // The Deployment is called cert-manager and may change widgets. That only keeps the controller from being gone.
    for target in [widget(), written_by("gizmo"), written_by("manager")] {
        let diagnosis = world().explain(&target);
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
        let says = diagnosis.waits[0].says();
        assert!(
            says.contains("Deployment ops/cert-manager: runs and may change"),
            "{says}"
        );
        assert!(!says.contains("likely"), "{says}");
    }
    let diagnosis = world().explain(&written_by("cert-manager"));
    assert_ne!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    let says = diagnosis.waits[0].says();
    assert!(
        says.contains("This runs, and is probably it: Deployment ops/cert-manager"),
        "{says}"
    );
}

#[test]
fn roles_of_a_namespace_that_were_not_read_do_not_hide_who_has_the_right_in_the_whole_cluster() {
    let mut all = vec![deployment("ops", &json!({"app": "w"}), 1, 1)];
    all.extend(widget_rights("ops", "cert-manager"));
    for hidden in ["roles", "rolebindings"] {
        let world = || World::of(all.clone()).hiding(hidden);
        let diagnosis = world().explain(&written_by("cert-manager"));
        let says = diagnosis.waits[0].says();
        assert!(
            says.contains("This runs, and is probably it: Deployment ops/cert-manager"),
            "{hidden}: {says}"
        );
        // Where no name agrees, somebody with a role there may be the controller.
        let diagnosis = world().explain(&written_by("gizmo"));
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{hidden}: {diagnosis:#?}");
    }
    // Nobody is gone while roles were not read.
    let diagnosis = World::default().hiding("roles").explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

#[test]
fn an_undescribed_controller_that_is_not_seen_is_unknown() {
    // No workload runs with the rights: one sign. No account has the rights: another sign. Both never occur
    // together.
    let diagnosis = World::of(widget_rights("ops", "cert-manager")).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    let diagnosis = World::default().explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(!advises_removal(&diagnosis));
}

#[test]
fn an_undescribed_controller_is_gone_by_two_signs() {
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    definition.value["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service":
        {"namespace": "ops", "name": "webhook"}}}});
    let diagnosis = World::of([definition]).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    assert!(
        diagnosis
            .steps
            .last()
            .is_some_and(|step| step.text.starts_with("DATA LOSS"))
    );
}

#[test]
fn an_undescribed_controller_in_the_domain_of_its_platform_may_be_hidden() {
    let target = |group: &str| {
        let mut widget = widget();
        widget.resource.group = group.into();
        widget.value["metadata"]["finalizers"] = json!([format!("{group}/clean")]);
        widget
    };
    let world = |group: &str| {
        let mut definition = definition();
        definition.value["metadata"]["name"] = format!("widgets.{group}").into();
        definition.value["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service":
            {"namespace": "ops", "name": "webhook"}}}});
        World::of([definition])
    };
    let node = |label: &str| {
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n", "labels": {label: "a"}}}),
        )
    };
    for (group, label, expected) in [
        ("pool.gke.io", "cloud.google.com/gke-nodepool", Verdict::Unknown),
        ("pool.gke.io", "kubernetes.azure.com/cluster", Verdict::Orphaned),
        ("widgets.test", "cloud.google.com/gke-nodepool", Verdict::Orphaned),
        ("notgke.io", "cloud.google.com/gke-nodepool", Verdict::Orphaned),
    ] {
        let diagnosis = world(group).with(node(label)).explain(&target(group));
        assert_eq!(verdict(&diagnosis), expected, "{group} {label}: {diagnosis:#?}");
        let is_hidden = expected == Verdict::Unknown;
        assert_eq!(diagnosis.waits[0].says().contains("GKE hides it"), is_hidden);
        assert_eq!(diagnosis.gaps.is_empty(), !is_hidden, "{:?}", diagnosis.gaps);
    }
}

#[test]
fn a_pod_of_a_kubelet_whose_node_is_gone_has_nobody_who_can_act() {
    let pod = |kubelet: &str| {
        let owns = json!({"manager": "mac-kubelet", "time": "2026-01-01T08:00:00Z",
            "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"mac.test/vm\"": {}}}}});
        let wrote = json!({"manager": kubelet, "time": "2026-01-01T08:00:00Z", "subresource": "status",
            "fieldsV1": {"f:status": {"f:containerStatuses": {}}}});
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "runner", "namespace": "ci", "uid": "p", "finalizers": ["mac.test/vm"],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "managedFields": [owns, wrote]},
                "spec": {"nodeName": "mac-1"}}),
        )
    };
    let node = |name: &str| object("", "nodes", "Node", json!({"metadata": {"name": name}}));
    let diagnosis = World::of([node("mac-2")]).explain(&pod("mac-kubelet"));
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    let says = diagnosis.waits[0].says();
    assert!(says.contains("only mac-kubelet on it can act"), "{says}");
    // The node is there, or somebody else runs the containers: then nothing is known.
    for (name, kubelet) in [("mac-1", "mac-kubelet"), ("mac-2", "kubelet")] {
        let diagnosis = World::of([node(name)]).explain(&pod(kubelet));
        assert_eq!(
            verdict(&diagnosis),
            Verdict::Unknown,
            "{name} {kubelet}: {diagnosis:#?}"
        );
    }
}

#[test]
fn the_program_that_put_the_finalizer_on_is_looked_for_by_its_name() {
    let mut secret = object(
        "",
        "secrets",
        "Secret",
        json!({"metadata": widget().value["metadata"].clone()}),
    );
    secret.value["metadata"]["managedFields"] =
        written_by("tcs-issuer").value["metadata"]["managedFields"].clone();
    let workload = |container: &Value| {
        let mut workload = deployment("ops", &json!({"app": "w"}), 1, 1);
        workload.value["spec"]["template"]["spec"]["containers"] = json!([container]);
        workload
    };
    for named in [
        json!({"name": "tcs-issuer"}),
        json!({"name": "main", "image": "registry.test/intel/tcs-issuer:v1"}),
        json!({"name": "main", "command": ["/usr/bin/tcs-issuer"]}),
    ] {
        let diagnosis = World::of([workload(&named)]).explain(&secret);
        let says = diagnosis.waits[0].says();
        assert!(
            says.contains("This runs, and is probably it: Deployment ops/cert-manager"),
            "{named}: {says}"
        );
        // Without any right on Secrets it can do nothing.
        assert_eq!(verdict(&diagnosis), Verdict::Failing, "{named}: {says}");
    }
    for other in [
        json!({"name": "tcs"}),
        json!({"name": "main", "image": "registry.test/tcs-issuer/other:v1"}),
    ] {
        let diagnosis = World::of([workload(&other)]).explain(&secret);
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{other}");
    }
}
