//! Tests what counts as a sign of life, and what does not.

use serde_json::{Value, json};

use super::*;

#[test]
fn a_provider_of_other_types_is_no_sign_of_life() {
    let bucket = object(
        "s3.aws.upbound.io",
        "buckets",
        "Bucket",
        json!({"metadata": {"name": "logs", "finalizers": ["finalizer.managedresource.crossplane.io"],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": {}}),
    );
    let another = || {
        let mut another = deployment(
            "crossplane-system",
            &json!({"pkg.crossplane.io/provider": "sql"}),
            1,
            1,
        );
        another.value["metadata"]["name"] = "provider-sql".into();
        another
    };
    let diagnosis = World::of([another()]).explain(&bucket);
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    let text = format!("{diagnosis:?}");
    assert!(
        text.contains("is for others: it may not change buckets.s3.aws.upbound.io"),
        "{text}"
    );
    assert!(!text.contains("may neither"), "{text}");
    // The same if its rights cannot be read.
    let diagnosis = World::of([another()]).hiding("clusterroles").explain(&bucket);
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

#[test]
fn quotes_the_event_of_the_controller() {
    let event = object(
        "",
        "events",
        "Event",
        json!({"metadata": {"name": "e", "namespace": "pay"}, "type": "Warning", "reason": "CleanUpError",
            "message": "Error cleaning up challenge: secret \"dns\" not found", "count": 7,
            "lastTimestamp": "2026-01-01T11:58:00Z", "source": {"component": "cert-manager-challenges"},
            "involvedObject": {"name": "api-cert", "uid": "challenges-api-cert"}}),
    );
    let diagnosis = installed().with(event).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert_eq!(
        diagnosis.waits[0].on[0].says,
        "CleanUpError: Error cleaning up challenge: secret \"dns\" not found (7 times)"
    );
}

#[test]
fn a_status_written_after_the_deletion_is_a_sign_of_life() {
    let mut written = challenge();
    written.value["metadata"]["managedFields"] = json!([{"manager": "controller", "subresource": "status",
        "time": "2026-01-01T11:59:00Z", "fieldsV1": {"f:status": {"f:state": {}}}}]);
    let diagnosis = World::of([definition()]).explain(&written);
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    // A tool that people use is no controller, and a time before the deletion does not count.
    for (manager, time) in [
        ("kubectl-edit", "2026-01-01T11:59:00Z"),
        ("controller", "2026-01-01T08:00:00Z"),
    ] {
        written.value["metadata"]["managedFields"][0]["manager"] = manager.into();
        written.value["metadata"]["managedFields"][0]["time"] = time.into();
        let diagnosis = World::of([definition()]).explain(&written);
        assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{manager} {time}");
    }
}

#[test]
fn a_stale_lease_alone_proves_nothing() {
    let diagnosis = World::of([definition(), lease("2026-01-01T11:58:00Z")])
        .hiding("serviceaccounts")
        .explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    // A Lease that is stale for an hour is a second sign.
    let diagnosis = World::of([definition(), lease("2026-01-01T10:00:00Z")]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
}

#[test]
fn the_lease_of_another_instance_is_no_sign_of_life() {
    let finalizer = "widgets.test/clean";
    let off = |namespace: &str| {
        let mut off = deployment(namespace, &json!({"app": "w"}), 0, 0);
        off.value["metadata"]["name"] = "widgets-operator".into();
        off
    };
    let lease = |namespace: &str| {
        let mut lease = lease("2026-01-01T11:59:58Z");
        lease.value["metadata"] = json!({"name": "8f2a.widgets.test", "namespace": namespace});
        lease
    };
    let diagnosis = |home: &str| {
        let mut all = vec![off("ops"), lease(home)];
        all.extend(widget_rights("ops", "cert-manager"));
        World::of(all).explain(&widget())
    };
    let ours = diagnosis("ops");
    assert!(
        ours.waits[0]
            .says()
            .contains("This runs, and is probably it: Lease ops/8f2a"),
        "{finalizer}: {ours:#?}"
    );
    let another = diagnosis("elsewhere");
    assert!(another.waits[0].says().contains("switched off"), "{another:#?}");
    assert!(
        another
            .evidence
            .iter()
            .any(|one| one.value.contains("of another instance"))
    );
}

#[test]
fn a_controller_in_a_terminating_namespace_is_failing() {
    let namespace = object(
        "",
        "namespaces",
        "Namespace",
        json!({"metadata": {"name": "cert-manager", "deletionTimestamp": "2026-01-01T11:00:00Z"}}),
    );
    let diagnosis = World::of([
        definition(),
        deployment("cert-manager", &labels(), 1, 0),
        namespace,
    ])
    .explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
    let roots: Vec<_> = diagnosis.waits[0].on.iter().map(|root| &*root.says).collect();
    assert!(
        roots
            .iter()
            .any(|says| says.starts_with("is being deleted, for 60m")),
        "{roots:?}"
    );
}

#[test]
fn the_status_of_a_built_in_type_is_no_sign_of_life() {
    let mut claim = object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": {"name": "c", "namespace": "n", "finalizers": ["widgets.test/clean"],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0,
            "managedFields": [{"manager": "kube-controller-manager", "time": "2026-01-01T11:59:00Z",
                "fieldsV1": {"f:status": {"f:phase": {}}}}]}}),
    );
    assert_eq!(verdict(&World::default().explain(&claim)), Verdict::Unknown);
    // If that manager also put the finalizer on, it is a sign of life.
    claim.value["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
        json!({"f:finalizers": {"v:\"widgets.test/clean\"": {}}});
    assert_eq!(verdict(&World::default().explain(&claim)), Verdict::Waiting);
}

#[test]
fn a_status_written_before_the_switch_off_is_no_sign_of_life() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl", "time": "2026-01-01T11:57:00Z",
        "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let mut written = challenge();
    let cluster = World::of([definition(), off]);
    for (time, words) in [
        ("2026-01-01T11:56:00Z", "switched off"),
        ("2026-01-01T11:58:00Z", "This runs, and is probably it"),
    ] {
        written.value["metadata"]["managedFields"] = json!([{"manager": "controller", "subresource": "status",
            "time": time, "fieldsV1": {"f:status": {}}}]);
        let diagnosis = cluster.explain(&written);
        assert!(
            diagnosis.waits[0].says().contains(words),
            "{time}: {diagnosis:#?}"
        );
    }
}

#[test]
fn names_a_pause_mark_and_the_command_to_remove_it() {
    let mut marked = challenge();
    marked.value["metadata"]["annotations"] = json!({"cluster.x-k8s.io/paused": "true"});
    let diagnosis = installed().explain(&marked);
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    assert!(
        diagnosis.waits[0].on[0].says.contains("marked to be left alone"),
        "{diagnosis:#?}"
    );
    let command = "kubectl annotate challenges.acme.cert-manager.io/api-cert -n pay cluster.x-k8s.io/paused-";
    assert!(
        diagnosis.steps.iter().any(|step| command_line(step) == command),
        "{:#?}",
        diagnosis.steps
    );
}

#[test]
fn marks_of_a_common_form_and_hooks_are_recognised() {
    for (annotations, says) in [
        (
            json!({"lab.test/paused": "true"}),
            "marked to be left alone (metadata.annotations lab.test/paused",
        ),
        (
            json!({"lab.test/reconcile": "disabled"}),
            "marked to be left alone",
        ),
        (
            json!({"pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup": "kcp"}),
            "waits until whoever set the hook takes it away",
        ),
    ] {
        let mut marked = challenge();
        marked.value["metadata"]["annotations"] = annotations.clone();
        let diagnosis = installed().explain(&marked);
        let blockers = &diagnosis.waits[0].on;
        assert_eq!(blockers.len(), 1, "{annotations}: {blockers:#?}");
        assert!(blockers[0].says.contains(says), "{blockers:#?}");
    }
    for annotations in [
        json!({"lab.test/paused": "false"}),
        json!({"lab.test/reconcile": "2026-01-01T00:00:00Z"}),
        json!({"lab.test/not-paused": "true"}),
    ] {
        let mut unmarked = challenge();
        unmarked.value["metadata"]["annotations"] = annotations.clone();
        let diagnosis = installed().explain(&unmarked);
        assert!(diagnosis.waits[0].on.is_empty(), "{annotations}: {diagnosis:#?}");
    }
}

/// A controller is uninstalled with its package. A package that exists or cannot be read is no sign.
#[test]
fn a_missing_package_is_a_sign_that_the_controller_is_gone() {
    let group = "pkg.crossplane.io";
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    definition.value["metadata"]["ownerReferences"] = json!([{"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": "p-1", "uid": "u"}]);
    let revision = object(
        group,
        "providerrevisions",
        "ProviderRevision",
        json!({"metadata": {"name": "p-1"}}),
    );
    let on =
        |objects: Vec<Object>| World::of(objects).serving(group, "providerrevisions", "ProviderRevision");
    let diagnosis = on(vec![definition.clone()]).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("belongs to ProviderRevision p-1, which does not exist")
    );
    let diagnosis = on(vec![definition.clone(), revision]).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    let diagnosis = on(vec![definition])
        .hiding("providerrevisions")
        .explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

/// A user who suspends a Flux object wants to keep what it applied. To resume it would delete that.
#[test]
fn does_not_advise_to_resume_a_suspended_object() {
    let flux = |spec: Value| {
        object(
            "kustomize.toolkit.fluxcd.io",
            "kustomizations",
            "Kustomization",
            json!({"metadata": {"name": "apps", "namespace": "flux-system", "finalizers": ["finalizers.fluxcd.io"],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": spec}),
        )
    };
    let speaks = |diagnosis: &Diagnosis| {
        diagnosis
            .outlook
            .iter()
            .any(|outlook| outlook.then.contains("lets go without deleting"))
    };
    let diagnosis = World::default().explain(&flux(json!({"suspend": true})));
    assert!(speaks(&diagnosis), "{diagnosis:#?}");
    assert!(
        diagnosis.do_not.iter().any(|text| text.contains("resume it")),
        "{diagnosis:#?}"
    );
    let resumes = |step: &crate::diagnose::Step| command_line(step).contains("\"suspend\":false");
    assert!(!diagnosis.steps.iter().any(resumes), "{diagnosis:#?}");
    assert!(!speaks(
        &World::default().explain(&flux(json!({"suspend": false})))
    ));
}

#[test]
fn a_user_outside_the_cluster_may_be_the_controller() {
    let mut stale = lease("2026-01-01T10:00:00Z");
    stale.value["metadata"] = json!({"name": "8f2a.widgets.test", "namespace": "ops"});
    let diagnosis = World::of([stale.clone()]).explain(&widget());
    assert_eq!(
        verdict(&diagnosis),
        Verdict::Orphaned,
        "two signs: {diagnosis:#?}"
    );
    let user = json!([{"kind": "User", "name": "hub-agent"}]);
    let mut all = vec![stale];
    all.extend(granted("hub", &json!(["widgets", "widgets/status"]), &user));
    let diagnosis = World::of(all).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

/// Any adapter can serve `external.metrics.k8s.io`, and the one installed last does.
#[test]
fn a_dead_api_of_another_adapter_is_no_sign_against_the_controller() {
    let scaled = || {
        object(
            "keda.sh",
            "scaledobjects",
            "ScaledObject",
            json!({"metadata": {"name": "o", "namespace": "n", "finalizers": ["finalizer.keda.sh"],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}}),
        )
    };
    let said_with = |namespace: &str, name: &str| {
        let api = object(
            "apiregistration.k8s.io",
            "apiservices",
            "APIService",
            json!({"metadata": {"name": "v1beta1.external.metrics.k8s.io"},
                "spec": {"group": "external.metrics.k8s.io", "version": "v1beta1",
                    "service": {"namespace": namespace, "name": name}}}),
        );
        let diagnosis = World::of([api]).explain(&scaled());
        crate::diagnose::testing::told::said(&diagnosis)
    };
    for (namespace, name) in [
        ("keda", "keda-metrics-apiserver"),
        ("scaling", "keda-operator-metrics-apiserver"),
    ] {
        let said = said_with(namespace, name);
        assert!(
            said.contains(&format!("points at svc/{name} -n {namespace}")),
            "{said}"
        );
    }
    let said = said_with("datadog", "datadog-cluster-agent-metrics-api");
    assert!(!said.contains("points at svc/"), "{said}");
}
