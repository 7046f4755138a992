//! The archetype: a Challenge of cert-manager, with and without cert-manager; and everything that almost looks so.

use serde_json::{Value, json};

use super::State;
use crate::{
    diagnose::{
        Diagnosis, Safety, Verdict, holder,
        testing::{Cluster, object},
        view::View,
    },
    knowledge::{Entry, Knowledge, Runs, WorkloadKind},
    object::{Finalizer, List},
    snapshot::facts::{Facts, Object},
};

const FINALIZER: &str = "finalizer.acme.cert-manager.io";
const LABELS: &str = "app.kubernetes.io/name";

fn challenge() -> Object {
    object(
        "acme.cert-manager.io",
        "challenges",
        "Challenge",
        json!({
            "metadata": {"name": "api-cert", "namespace": "pay", "finalizers": [FINALIZER],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0},
            "spec": {"dnsName": "api.example.com"},
        }),
    )
}

fn definition() -> Object {
    object(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        json!({"metadata": {"name": "challenges.acme.cert-manager.io", "annotations": {
            "meta.helm.sh/release-name": "cert-manager", "meta.helm.sh/release-namespace": "cert-manager"}},
            "spec": {"group": "acme.cert-manager.io"}}),
    )
}

fn labels() -> Value {
    json!({LABELS: "cert-manager", "app.kubernetes.io/component": "controller"})
}

fn deployment(namespace: &str, labels: &Value, replicas: u32, ready: u32) -> Object {
    object(
        "apps",
        "deployments",
        "Deployment",
        json!({
            "metadata": {"name": "cert-manager", "namespace": namespace, "labels": labels, "uid": format!("d-{namespace}")},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": "cert-manager"}}},
            "status": {"readyReplicas": ready},
        }),
    )
}

fn account(namespace: &str, name: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": namespace}});
    object("", "serviceaccounts", "ServiceAccount", value)
}

/// What lets an account change challenges.
fn rights(namespace: &str, name: &str) -> [Object; 2] {
    let group = "rbac.authorization.k8s.io";
    [
        object(
            group,
            "clusterroles",
            "ClusterRole",
            json!({"metadata": {"name": "challenges"}, "rules": [{"apiGroups": ["acme.cert-manager.io"],
                "resources": ["challenges"], "verbs": ["get", "update"]}]}),
        ),
        object(
            group,
            "clusterrolebindings",
            "ClusterRoleBinding",
            json!({"metadata": {"name": "challenges"}, "roleRef": {"kind": "ClusterRole", "name": "challenges"},
                "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}]}),
        ),
    ]
}

fn lease(renewed: &str) -> Object {
    object(
        "coordination.k8s.io",
        "leases",
        "Lease",
        json!({"metadata": {"name": "cert-manager-controller", "namespace": "kube-system"},
            "spec": {"renewTime": renewed, "leaseDurationSeconds": 60}}),
    )
}

/// cert-manager as it should be.
fn installed() -> Cluster {
    let mut all = vec![
        definition(),
        deployment("cert-manager", &labels(), 1, 1),
        account("cert-manager", "cert-manager"),
        lease("2026-01-01T11:59:55Z"),
    ];
    all.extend(rights("cert-manager", "cert-manager"));
    Cluster::of(all)
}

fn verdict(told: &Diagnosis) -> Verdict {
    told.waits[0].verdict
}

/// Whether a step would take the finalizer out.
fn takes_out(told: &Diagnosis) -> bool {
    told.steps.iter().any(|step| {
        step.command
            .as_deref()
            .is_some_and(|command| command.contains("finalizers remove"))
    })
}

#[test]
fn uninstalled_is_orphaned_and_says_what_it_costs() {
    let told = Cluster::of([definition()]).explain(&challenge());
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
        let told = Cluster::of([definition()]).hiding(plural).explain(&challenge());
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

#[test]
fn a_chart_may_have_given_it_another_name() {
    let mut renamed = deployment("infra", &labels(), 1, 1);
    renamed.value["metadata"]["name"] = "certs".into();
    let mut all = vec![definition(), renamed];
    all.extend(rights("infra", "cert-manager"));
    let told = Cluster::of(all).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
}

#[test]
fn a_deployment_of_the_same_name_elsewhere_is_neither_it_nor_its_absence() {
    let other = deployment("shop", &json!({"app": "shop"}), 1, 1);
    let told = Cluster::of([definition(), other]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    assert!(!takes_out(&told));
}

#[test]
fn scaled_to_zero_is_the_root_cause() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl-scale", "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let told =
        Cluster::of([definition(), off, account("cert-manager", "cert-manager")]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    let root = &told.waits[0].on[0];
    assert_eq!(root.says, "is scaled to 0 replicas, by kubectl-scale 4h ago");
    assert_eq!(
        told.steps[0].command.as_deref(),
        Some("kubectl -n cert-manager scale deployments.apps cert-manager --replicas=1")
    );
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
        let told = Cluster::of(all).explain(&challenge());
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
        Cluster::of([definition(), deployment("cert-manager", &labels(), 1, 0), pod]).explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Failing, "{told:#?}");
    assert_eq!(
        told.waits[0].on[0].says,
        "0 of 1 ready: ImagePullBackOff: no such image"
    );
}

#[test]
fn one_that_may_not_do_its_work_is_failing() {
    let without = Cluster::of([
        definition(),
        deployment("cert-manager", &labels(), 1, 1),
        account("cert-manager", "cert-manager"),
    ]);
    let told = without.explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Failing, "{told:#?}");
    assert!(
        told.waits[0].on[0]
            .says
            .contains("may neither update nor patch challenges.acme.cert-manager.io")
    );
    // Rights that cannot be read are no missing rights.
    let hidden =
        Cluster::of([definition(), deployment("cert-manager", &labels(), 1, 1)]).hiding("clusterroles");
    assert_eq!(verdict(&hidden.explain(&challenge())), Verdict::Waiting);
}

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
    let told = Cluster::of([another()]).explain(&bucket);
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    let text = format!("{told:?}");
    assert!(
        text.contains("is for others: it may not change buckets.s3.aws.upbound.io"),
        "{text}"
    );
    assert!(!text.contains("may neither"), "{text}");
    // Nor does it while nobody knows what it may.
    let told = Cluster::of([another()]).hiding("clusterroles").explain(&bucket);
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
    let told = Cluster::of([definition()]).explain(&written);
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    // A person's hand is no controller, and neither is a time before the deletion.
    for (manager, time) in [
        ("kubectl-edit", "2026-01-01T11:59:00Z"),
        ("controller", "2026-01-01T08:00:00Z"),
    ] {
        written.value["metadata"]["managedFields"][0]["manager"] = manager.into();
        written.value["metadata"]["managedFields"][0]["time"] = time.into();
        let told = Cluster::of([definition()]).explain(&written);
        assert_eq!(verdict(&told), Verdict::Orphaned, "{manager} {time}");
    }
}

#[test]
fn a_stale_lease_alone_proves_nothing_more() {
    let told = Cluster::of([definition(), lease("2026-01-01T11:58:00Z")])
        .hiding("serviceaccounts")
        .explain(&challenge());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    // One that was never renewed in time is not there: an hour is enough to be a second sign.
    let told = Cluster::of([definition(), lease("2026-01-01T10:00:00Z")]).explain(&challenge());
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
        Cluster::of(all).explain(&widget())
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
    let told = Cluster::of([
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
    assert_eq!(verdict(&Cluster::default().explain(&claim)), Verdict::Unknown);
    // Whoever put the finalizer on is another matter.
    claim.value["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
        json!({"f:finalizers": {"v:\"widgets.test/clean\"": {}}});
    assert_eq!(verdict(&Cluster::default().explain(&claim)), Verdict::Waiting);
}

#[test]
fn what_was_written_before_it_was_switched_off_says_nothing() {
    let mut off = deployment("cert-manager", &labels(), 0, 0);
    off.value["metadata"]["managedFields"] = json!([{"manager": "kubectl", "time": "2026-01-01T11:57:00Z",
        "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let mut written = challenge();
    let cluster = Cluster::of([definition(), off]);
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

/// A role on widgets and the subjects that have it.
fn granted(role: &str, resources: &Value, subjects: &Value) -> [Object; 2] {
    let [mut granted, mut bound] = rights("", "");
    granted.value["metadata"]["name"] = role.into();
    granted.value["rules"] =
        json!([{"apiGroups": ["widgets.test"], "resources": resources, "verbs": ["update"]}]);
    bound.value["metadata"]["name"] = role.into();
    bound.value["roleRef"]["name"] = role.into();
    bound.value["subjects"] = subjects.clone();
    [granted, bound]
}

#[test]
fn a_pipeline_that_may_edit_is_not_taken_for_the_controller() {
    let account = |name: &str| json!([{"kind": "ServiceAccount", "namespace": "ops", "name": name}]);
    let mut pipeline = deployment("ops", &json!({"app": "ci"}), 1, 1);
    pipeline.value["metadata"]["name"] = "ci".into();
    pipeline.value["spec"]["template"]["spec"]["serviceAccountName"] = "ci".into();
    let mut all = vec![pipeline];
    all.extend(granted("widget-editor", &json!(["widgets"]), &account("ci")));
    let told = Cluster::of(all.clone()).explain(&widget());
    assert!(
        told.waits[0].says.contains("ops/ci"),
        "nobody else may: {told:#?}"
    );
    all.extend(granted(
        "widget-manager",
        &json!(["widgets", "widgets/finalizers"]),
        &account("manager"),
    ));
    let told = Cluster::of(all).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    assert!(!told.waits[0].says.contains("ops/ci"), "{told:#?}");
}

#[test]
fn rights_are_counted_as_the_api_server_counts_them() {
    let account = json!([{"kind": "ServiceAccount", "namespace": "cert-manager", "name": "cert-manager"}]);
    let base = || {
        vec![
            definition(),
            deployment("cert-manager", &labels(), 1, 1),
            self::account("cert-manager", "cert-manager"),
        ]
    };
    let with = |role: &str, change: &dyn Fn(&mut Value)| {
        let [mut granted, bound] = granted(role, &json!(["challenges"]), &account);
        granted.value["rules"][0]["apiGroups"] = json!(["acme.cert-manager.io"]);
        change(&mut granted.value["rules"][0]);
        let mut all = base();
        all.extend([granted, bound]);
        verdict(&Cluster::of(all).explain(&challenge()))
    };
    assert_eq!(with("r", &|_| {}), Verdict::Waiting);
    assert_eq!(with("system:borrowed", &|_| {}), Verdict::Waiting);
    assert_eq!(
        with("r", &|rule| rule["resourceNames"] = json!(["api-cert"])),
        Verdict::Waiting
    );
    assert_eq!(
        with("r", &|rule| rule["resourceNames"] = json!(["another"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["verbs"] = json!(["get", "list", "watch"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["resources"] = json!(["challenges/status"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["apiGroups"] = json!([""])),
        Verdict::Failing
    );
}

#[test]
fn somebody_outside_the_cluster_may_be_the_holder() {
    let mut stale = lease("2026-01-01T10:00:00Z");
    stale.value["metadata"] = json!({"name": "8f2a.widgets.test", "namespace": "ops"});
    let told = Cluster::of([stale.clone()]).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Orphaned, "two signs: {told:#?}");
    let user = json!([{"kind": "User", "name": "hub-agent"}]);
    let mut all = vec![stale];
    all.extend(granted("hub", &json!(["widgets", "widgets/status"]), &user));
    let told = Cluster::of(all).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
}

fn widget() -> Object {
    object(
        "widgets.test",
        "widgets",
        "Widget",
        json!({"metadata": {"name": "w", "namespace": "n", "finalizers": ["widgets.test/clean"],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": {}}),
    )
}

fn widget_rights(namespace: &str, name: &str) -> [Object; 2] {
    let mut both = rights(namespace, name);
    both[0].value["rules"][0]["apiGroups"] = json!(["widgets.test"]);
    both[0].value["rules"][0]["resources"] = json!(["*"]);
    both
}

#[test]
fn an_undescribed_holder_is_found_by_its_rights() {
    let mut all = vec![deployment("ops", &json!({"app": "w"}), 1, 1)];
    all.extend(widget_rights("ops", "cert-manager"));
    let told = Cluster::of(all).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Waiting, "{told:#?}");
    assert!(
        told.waits[0]
            .says
            .contains("It likely runs. Deployment ops/cert-manager"),
        "{}",
        told.waits[0].says
    );

    // Nothing runs with the rights: one sign, with nobody having them another, and never both.
    let told = Cluster::of(widget_rights("ops", "cert-manager")).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    let told = Cluster::default().explain(&widget());
    assert_eq!(verdict(&told), Verdict::Unknown, "{told:#?}");
    assert!(!takes_out(&told));
}

#[test]
fn an_undescribed_holder_is_gone_by_two_signs() {
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    definition.value["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service":
        {"namespace": "ops", "name": "webhook"}}}});
    let told = Cluster::of([definition]).explain(&widget());
    assert_eq!(verdict(&told), Verdict::Orphaned, "{told:#?}");
    assert!(
        told.steps
            .last()
            .is_some_and(|step| step.text.starts_with("DATA LOSS"))
    );
}

/// A cluster in which everything that the entry names is there and runs.
fn with_all_of(entry: &Entry) -> Vec<Object> {
    let home = entry
        .holder
        .namespaces
        .first()
        .map_or("home", String::as_str)
        .replace('*', "x");
    let plain = |name: &str| name.replace('*', "x");
    let mut all = Vec::new();
    for (at, workload) in entry.holder.workloads.iter().enumerate() {
        let labels: serde_json::Map<_, _> = workload
            .selector
            .iter()
            .flat_map(|selector| selector.split(','))
            .map(|one| one.split_once('=').unwrap_or((one, "any")))
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        let (group, plural, kind) = match workload.kind {
            WorkloadKind::Deployment => ("apps", "deployments", "Deployment"),
            WorkloadKind::StatefulSet => ("apps", "statefulsets", "StatefulSet"),
            WorkloadKind::DaemonSet => ("apps", "daemonsets", "DaemonSet"),
            WorkloadKind::Job => ("batch", "jobs", "Job"),
            WorkloadKind::Pod => ("", "pods", "Pod"),
        };
        let name = workload.name.as_deref().map_or_else(|| format!("w{at}"), plain);
        let namespace = workload.namespace.clone().unwrap_or_else(|| home.clone());
        all.push(object(
            group,
            plural,
            kind,
            json!({"metadata": {"name": name, "namespace": namespace, "labels": labels, "uid": format!("w{at}")},
                "spec": {"replicas": 1, "serviceAccountName": "a",
                    "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": "a"}}},
                "status": {"readyReplicas": 1, "desiredNumberScheduled": 1, "numberReady": 1, "active": 1,
                    "conditions": [{"type": "Ready", "status": "True"}]}}),
        ));
    }
    for lease in &entry.holder.leases {
        let namespace = lease.namespace.clone().unwrap_or_else(|| home.clone());
        all.push(object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": plain(&lease.name), "namespace": namespace},
                "spec": {"renewTime": "2026-01-01T11:59:58Z", "leaseDurationSeconds": 15}}),
        ));
    }
    all.extend(
        entry
            .holder
            .service_accounts
            .iter()
            .map(|name| account(&home, &plain(name))),
    );
    let mut everything = rights(&home, "a");
    everything[0].value["rules"][0]["apiGroups"] = json!(["*"]);
    everything[0].value["rules"][0]["resources"] = json!(["*"]);
    all.extend(everything);
    all
}

/// Whether what the entry names is enough to find the holder by.
fn is_named(entry: &Entry) -> bool {
    let fixed = |name: &str| !name.contains('{');
    let by_lease = entry.holder.leases.iter().any(|lease| fixed(&lease.name));
    let by_workload = entry.holder.workloads.iter().any(|workload| {
        let at_home = !entry.holder.namespaces.is_empty() || workload.namespace.is_some();
        workload.selector.is_some() || workload.name.as_deref().is_some_and(fixed) && at_home
    });
    by_lease || by_workload
}

/// Every entry, on three clusters: its holder is there and runs; nothing is there; nothing can be seen.
#[test]
fn every_entry_is_understood() {
    let knowledge = Knowledge::builtin();
    let mut tried = 0;
    for entry in knowledge.all() {
        let Some(kind) = entry
            .kinds
            .iter()
            .find(|kind| !kind.kind().contains('*') && !kind.group().contains('*'))
        else {
            continue;
        };
        let spec = entry.list == crate::knowledge::List::NamespaceSpec;
        let finalizer = Finalizer {
            list: if spec { List::Spec } else { List::Metadata },
            name: entry.example.clone(),
        };
        let target = object(
            kind.group(),
            "somethings",
            kind.kind(),
            json!({"metadata": {"name": "o", "namespace": "n", "finalizers": [entry.example],
                "deletionTimestamp": "2026-01-01T09:00:00Z"}}),
        );
        let state = |cluster: &Cluster| {
            let view = |facts: &Facts| {
                let view = View::new(facts, &knowledge);
                let found = holder::described(&target, &finalizer, &entry, &view);
                (found, view.wanted())
            };
            cluster.answered(view)
        };
        tried += 1;
        let name = &entry.name;
        let there = state(&Cluster::of(with_all_of(&entry)));
        if is_named(&entry) {
            assert_eq!(there.state(), State::Running, "{name}: {there:#?}");
        } else {
            assert_ne!(there.state(), State::Gone, "{name}: {there:#?}");
        }
        let absent = state(&Cluster::default());
        assert!(
            matches!(absent.state(), State::Gone | State::Unknown | State::Elsewhere),
            "{name}: {absent:#?}"
        );
        if entry.holder.runs != Runs::InCluster && entry.holder.runs != Runs::Nobody {
            assert_ne!(absent.state(), State::Gone, "{name}");
        }
        let hidden = state(&Cluster::of(with_all_of(&entry)).hiding_everything());
        assert!(
            matches!(hidden.state(), State::Unknown | State::Elsewhere),
            "{name}: {hidden:#?}"
        );
    }
    assert!(tried > 400, "only {tried} entries have a kind to try them on");
}
