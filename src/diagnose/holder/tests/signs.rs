//! What counts as a sign of life, and what does not.

use serde_json::{Value, json};

use super::*;

#[test]
fn of_many_of_a_kind_the_one_for_other_types_says_nothing() {
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
    let told = World::of([another()]).explain(&bucket);
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    let text = format!("{told:?}");
    assert!(
        text.contains("is for others: it may not change buckets.s3.aws.upbound.io"),
        "{text}"
    );
    assert!(!text.contains("may neither"), "{text}");
    // Nor does it while nobody knows what it may.
    let told = World::of([another()]).hiding("clusterroles").explain(&bucket);
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
}

#[test]
fn its_complaint_is_quoted() {
    let event = object(
        "",
        "events",
        "Event",
        json!({"metadata": {"name": "e", "namespace": "pay"}, "type": "Warning", "reason": "CleanUpError",
            "message": "Error cleaning up challenge: secret \"dns\" not found", "count": 7,
            "lastTimestamp": "2026-01-01T11:58:00Z", "involvedObject": {"name": "api-cert"}}),
    );
    let told = installed().with(event).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Failing);
    assert_eq!(
        told.waits[0].on[0].says,
        "CleanUpError: Error cleaning up challenge: secret \"dns\" not found (7 times)"
    );
}

#[test]
fn a_status_written_since_then_shows_that_somebody_lives() {
    let mut written = challenge();
    written.value["metadata"]["managedFields"] = json!([{"manager": "controller", "subresource": "status",
        "time": "2026-01-01T11:59:00Z", "fieldsV1": {"f:status": {"f:state": {}}}}]);
    let told = World::of([definition()]).explain(&written);
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    // A person's hand is no controller, and neither is a time before the deletion.
    for (manager, time) in [
        ("kubectl-edit", "2026-01-01T11:59:00Z"),
        ("controller", "2026-01-01T08:00:00Z"),
    ] {
        written.value["metadata"]["managedFields"][0]["manager"] = manager.into();
        written.value["metadata"]["managedFields"][0]["time"] = time.into();
        let told = World::of([definition()]).explain(&written);
        assert_eq!(verdict(&told), Verdict::Orphaned, "{manager} {time}");
    }
}

#[test]
fn a_stale_lease_alone_proves_nothing_more() {
    let told = World::of([definition(), lease("2026-01-01T11:58:00Z")])
        .hiding("serviceaccounts")
        .explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    // One that was never renewed in time is not there: an hour is enough to be a second sign.
    let told = World::of([definition(), lease("2026-01-01T10:00:00Z")]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Orphaned);
}

#[test]
fn the_lease_of_another_instance_does_not_bring_it_to_life() {
    let finalizer = "widgets.test/clean";
    let off = |namespace: &str| {
        let mut off = deployment(namespace, &json!({"app": "w"}), 0, 0);
        off.value["metadata"]["name"] = "operator".into();
        off
    };
    let lease = |namespace: &str| {
        let mut lease = lease("2026-01-01T11:59:58Z");
        lease.value["metadata"] = json!({"name": "8f2a.widgets.test", "namespace": namespace});
        lease
    };
    let told = |home: &str| {
        let mut all = vec![off("ops"), lease(home)];
        all.extend(widget_rights("ops", "cert-manager"));
        World::of(all).explain(&widget())
    };
    let ours = told("ops");
    assert!(
        ours.waits[0].says.contains("It likely runs. Lease ops/8f2a"),
        "{finalizer}: {ours:#?}"
    );
    let another = told("elsewhere");
    assert!(another.waits[0].says.contains("switched off"), "{another:#?}");
    assert!(
        another
            .evidence
            .iter()
            .any(|one| one.value.contains("of another instance"))
    );
}

#[test]
fn one_in_a_namespace_that_goes_cannot_be_repaired_there() {
    let namespace = object(
        "",
        "namespaces",
        "Namespace",
        json!({"metadata": {"name": "cert-manager", "deletionTimestamp": "2026-01-01T11:00:00Z"}}),
    );
    let told = World::of([
        definition(),
        deployment("cert-manager", &labels(), 1, 0),
        namespace,
    ])
    .explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Failing, "{told:#?}");
    let roots: Vec<_> = told.waits[0].on.iter().map(|root| root.says.as_str()).collect();
    assert!(
        roots
            .iter()
            .any(|says| says.starts_with("is being deleted, for 60m")),
        "{roots:?}"
    );
}

#[test]
fn kubernetes_writes_the_status_of_its_own_types_whoever_holds_them() {
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
    // Whoever put the finalizer on is another matter.
    claim.value["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
        json!({"f:finalizers": {"v:\"widgets.test/clean\"": {}}});
    assert_eq!(verdict(&World::default().explain(&claim)), Verdict::Waiting);
}

#[test]
fn what_was_written_before_it_was_switched_off_says_nothing() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl", "time": "2026-01-01T11:57:00Z",
        "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let mut written = challenge();
    let cluster = World::of([definition(), off]);
    for (time, words) in [
        ("2026-01-01T11:56:00Z", "switched off"),
        ("2026-01-01T11:58:00Z", "It likely runs"),
    ] {
        written.value["metadata"]["managedFields"] = json!([{"manager": "controller", "subresource": "status",
            "time": time, "fieldsV1": {"f:status": {}}}]);
        let told = cluster.explain(&written);
        assert!(told.waits[0].says.contains(words), "{time}: {told:#?}");
    }
}

#[test]
fn a_mark_is_named_and_taken_away() {
    let mut marked = challenge();
    marked.value["metadata"]["annotations"] = json!({"cluster.x-k8s.io/paused": "true"});
    let told = installed().explain(&marked);
    assert_eq!(verdict(&told), Verdict::Waiting);
    assert!(
        told.waits[0].on[0].says.contains("marked to be left alone"),
        "{told:#?}"
    );
    let command = "kubectl -n pay annotate challenges.acme.cert-manager.io/api-cert cluster.x-k8s.io/paused-";
    assert!(
        told.steps
            .iter()
            .any(|step| step.command.as_deref() == Some(command)),
        "{:#?}",
        told.steps
    );
}

/// With its package a controller goes too; one that is there, or that nobody may see, says nothing.
#[test]
fn a_package_that_is_gone_is_a_sign() {
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
    let told = on(vec![definition.clone()]).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Orphaned, "{told:#?}");
    assert!(
        told.waits[0]
            .says
            .contains("belongs to ProviderRevision p-1, which does not exist")
    );
    let told = on(vec![definition.clone(), revision]).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    let told = on(vec![definition])
        .hiding("providerrevisions")
        .explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
}

/// Whoever suspends an object of Flux wants what it applied to stay: to resume it would delete that.
#[test]
fn what_is_suspended_is_not_to_be_resumed() {
    let flux = |spec: Value| {
        object(
            "kustomize.toolkit.fluxcd.io",
            "kustomizations",
            "Kustomization",
            json!({"metadata": {"name": "apps", "namespace": "flux-system", "finalizers": ["finalizers.fluxcd.io"],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": spec}),
        )
    };
    let speaks = |told: &Diagnosis| {
        told.outlook
            .iter()
            .any(|outlook| outlook.then.contains("lets go without deleting"))
    };
    let told = World::default().explain(&flux(json!({"suspend": true})));
    assert!(speaks(&told), "{told:#?}");
    assert!(
        told.do_not.iter().any(|text| text.contains("resume it")),
        "{told:#?}"
    );
    let resumes = |step: &crate::diagnose::Step| {
        step.command
            .as_deref()
            .is_some_and(|text| text.contains("\"suspend\":false"))
    };
    assert!(!told.steps.iter().any(resumes), "{told:#?}");
    assert!(!speaks(
        &World::default().explain(&flux(json!({"suspend": false})))
    ));
}

#[test]
fn somebody_outside_the_cluster_may_be_the_holder() {
    let mut stale = lease("2026-01-01T10:00:00Z");
    stale.value["metadata"] = json!({"name": "8f2a.widgets.test", "namespace": "ops"});
    let told = World::of([stale.clone()]).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Orphaned, "two signs: {told:#?}");
    let user = json!([{"kind": "User", "name": "hub-agent"}]);
    let mut all = vec![stale];
    all.extend(granted("hub", &json!(["widgets", "widgets/status"]), &user));
    let told = World::of(all).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
}
