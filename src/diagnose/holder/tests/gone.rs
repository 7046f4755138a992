//! Tests that a controller is gone only after everything that may be it was looked for.

use serde_json::{Value, json};

use super::*;
use crate::{
    diagnose::testing::{fixtures::bound, told::said},
    snapshot::{
        Why,
        facts::{Answer, Query},
    },
};

const RBAC: &str = "rbac.authorization.k8s.io";

/// Something that runs as an account.
fn runner(kind: &str, namespace: &str, name: &str, labels: &Value, account: &str, image: &str) -> Object {
    let spec = json!({"serviceAccountName": account, "containers": [{"name": "manager", "image": image}]});
    let metadata = json!({"name": name, "namespace": namespace, "labels": labels, "uid": format!("{kind}-{namespace}-{name}")});
    match kind {
        "Pod" => object(
            "",
            "pods",
            kind,
            json!({"metadata": metadata, "spec": spec, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
        ),
        "CronJob" => object(
            "batch",
            "cronjobs",
            kind,
            json!({"metadata": metadata, "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}}),
        ),
        _ => object(
            "apps",
            &format!("{}s", kind.to_lowercase()),
            kind,
            json!({"metadata": metadata, "spec": {"replicas": 1, "template": {"metadata": {"labels": labels}, "spec": spec}},
                "status": {"readyReplicas": 1, "desiredNumberScheduled": 1, "numberReady": 1}}),
        ),
    }
}

fn account_of(namespace: &str, name: &str) -> Value {
    json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
}

/// A custom object in deletion.
fn custom(group: &str, plural: &str, kind: &str, finalizer: &str) -> Object {
    object(
        group,
        plural,
        kind,
        json!({"metadata": {"name": "o", "namespace": "n", "finalizers": [finalizer],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}}),
    )
}

/// A program, and its account with the rights of a controller on a type.
fn installed_as(runner: Object, group: &str, resources: &Value) -> Vec<Object> {
    let account = runner.text("/spec/template/spec/serviceAccountName").to_owned();
    let subject = account_of(runner.namespace(), &account);
    let mut all = vec![self::account(runner.namespace(), &account)];
    all.push(runner);
    all.extend(bound("manager", &json!([group]), resources, &subject));
    all
}

fn argocd(namespace: &str, name: &str, labels: &Value) -> Object {
    runner(
        "StatefulSet",
        namespace,
        name,
        labels,
        name,
        "quay.io/argoproj/argocd:v3.1.0",
    )
}

/// The Deployment of cert-manager, without a Pod that is ready.
fn not_ready_since(time: &str) -> Object {
    let mut found = deployment("cert-manager", &labels(), 1, 0);
    found.value["status"]["conditions"] =
        json!([{"type": "Available", "status": "False", "lastTransitionTime": time}]);
    found
}

/// A restart, a new version and a failing probe look like this for a while.
#[test]
fn a_workload_that_is_briefly_not_ready_may_be_starting() {
    let unable = |found: Object| {
        let diagnosis = World::of([definition(), found]).explain(&challenge());
        assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
        diagnosis.waits[0].unable.is_some()
    };
    assert!(!unable(not_ready_since("2026-01-01T11:58:00Z")));
    assert!(!unable(deployment("cert-manager", &labels(), 1, 0)));
    assert!(unable(not_ready_since("2026-01-01T11:50:00Z")));
}

/// A finalizer keeps the Deployment, and its Pods run on.
#[test]
fn a_controller_that_is_itself_being_deleted_runs_until_its_pods_are_gone() {
    let going = |ready: u32| {
        let mut found = deployment("cert-manager", &labels(), 1, ready);
        found.value["metadata"]["deletionTimestamp"] = "2026-01-01T09:00:00Z".into();
        found.value["metadata"]["finalizers"] = json!(["example.test/keep"]);
        let mut all = vec![definition(), found];
        all.extend(rights("cert-manager", "cert-manager"));
        let diagnosis = World::of(all).explain(&challenge());
        (verdict(&diagnosis), diagnosis.waits[0].unable.is_some())
    };
    assert_eq!(going(1), (Verdict::Waiting, false));
    assert_eq!(going(0), (Verdict::Failing, true));
}

/// Clusters are scaled down for the night. A program that may be the controller comes back in the morning.
#[test]
fn a_scaled_down_workload_of_another_name_may_be_the_controller() {
    let verdict_beside = |image: &str| {
        let mut program = runner("Deployment", "ops", "issuer", &json!({}), "issuer", image);
        program.value["spec"]["replicas"] = 0.into();
        program.value["status"]["readyReplicas"] = 0.into();
        let mut all = vec![definition(), program];
        let subject = account_of("ops", "issuer");
        all.extend(bound("everything", &json!(["*"]), &json!(["*"]), &subject));
        let diagnosis = World::of(all).explain(&challenge());
        (verdict(&diagnosis), said(&diagnosis))
    };
    let (found, said) = verdict_beside("quay.io/jetstack/cert-manager-controller:v1.18.0");
    assert_eq!(found, Verdict::Unknown, "{said}");
    assert!(said.contains("is switched off and may change"), "{said}");
    let (found, said) = verdict_beside("quay.io/argoproj/argocd:v3.1.0");
    assert_eq!(found, Verdict::Orphaned, "{said}");
}

/// A Deployment that an older installation left behind cannot run. The controller may run under another name.
#[test]
fn a_crashing_workload_is_the_controller_only_without_other_candidates() {
    let unable = |more: Vec<Object>| {
        let mut all = vec![definition(), not_ready_since("2026-01-01T08:00:00Z")];
        all.extend(more);
        let diagnosis = World::of(all).explain(&challenge());
        assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
        diagnosis.waits[0].unable
    };
    assert_eq!(unable(Vec::new()), Some(crate::diagnose::Unable::CannotRun));
    let renamed = runner(
        "Deployment",
        "platform",
        "issuer",
        &json!({}),
        "issuer",
        "registry/x:1",
    );
    let types = json!(["challenges"]);
    assert_eq!(
        unable(installed_as(renamed, "acme.cert-manager.io", &types)),
        None
    );
}

/// An account with all rights, and with a grant on one other object of the type.
#[test]
fn a_second_grant_hides_no_account() {
    let program = runner(
        "Deployment",
        "platform",
        "worker",
        &json!({}),
        "worker",
        "registry/x:1",
    );
    let subject = account_of("platform", "worker");
    let mut all = vec![definition(), program];
    all.extend(bound("everything", &json!(["*"]), &json!(["*"]), &subject));
    let mut one = bound(
        "one",
        &json!(["acme.cert-manager.io"]),
        &json!(["challenges"]),
        &subject,
    );
    one[0].value["rules"][0]["resourceNames"] = json!(["another"]);
    all.extend(one);
    let diagnosis = World::of(all).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

/// Pods that run beside a Deployment of their name that has no replicas, as a Rollout with a workloadRef makes them.
#[test]
fn pods_beside_a_deployment_without_replicas_are_looked_into() {
    let spec =
        json!({"serviceAccountName": "worker", "containers": [{"name": "c", "image": "registry/x:1"}]});
    let mut idle = runner(
        "Deployment",
        "platform",
        "worker",
        &json!({}),
        "worker",
        "registry/x:1",
    );
    idle.value["spec"]["replicas"] = 0.into();
    idle.value["spec"]["template"]["spec"] = spec.clone();
    let pod = object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "worker-7c9f-abcde", "namespace": "platform", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "worker-7c9f", "uid": "u", "controller": true}]},
            "spec": spec, "status": {"phase": "Running"}}),
    );
    let subject = account_of("platform", "worker");
    let mut all = vec![definition(), idle, pod];
    all.extend(bound("everything", &json!(["*"]), &json!(["*"]), &subject));
    let diagnosis = World::of(all).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(
        said(&diagnosis).contains("worker-7c9f-abcde"),
        "{}",
        said(&diagnosis)
    );
}

/// Argo CD may change every object, and is recognised by its image.
#[test]
fn an_uninstalled_controller_is_gone_beside_another_product_with_all_rights() {
    let all = |program: Object| {
        let subject = account_of(
            program.namespace(),
            program.text("/spec/template/spec/serviceAccountName"),
        );
        let mut all = vec![definition(), program];
        all.extend(bound("everything", &json!(["*"]), &json!(["*"]), &subject));
        World::of(all)
    };
    let diagnosis = all(argocd("argocd", "deployer", &json!({}))).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    // A program that nobody knows may be the controller.
    let unknown = runner(
        "Deployment",
        "ops",
        "helper",
        &json!({}),
        "helper",
        "registry.test/team/helper:1",
    );
    let diagnosis = all(unknown).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(
        said(&diagnosis).contains("Deployment ops/helper: runs and may change"),
        "{}",
        said(&diagnosis)
    );
    assert!(!advises_removal(&diagnosis));
    // Nor does another image help a program that is named like the product.
    let named = argocd("argocd", "cert-manager-helper", &json!({}));
    assert_eq!(verdict(&all(named).explain(&challenge())), Verdict::Unknown);
}

/// Its image says that it is another product. It writes under its name to another object of the type, so it may be the
/// controller all the same.
#[test]
fn a_program_that_writes_to_other_objects_of_the_type_is_no_bystander() {
    let verdict_beside = |writer: &str| {
        let subject = account_of("argocd", "lighthouse");
        let program = argocd("argocd", "lighthouse", &json!({}));
        let mut other = challenge();
        other.value["metadata"] = json!({"name": "other", "namespace": "web", "managedFields": [
            {"manager": writer, "time": "2026-01-01T10:00:00Z", "fieldsV1": {"f:status": {}}},
        ]});
        let mut all = vec![definition(), program, other];
        all.extend(bound("everything", &json!(["*"]), &json!(["*"]), &subject));
        verdict(&World::of(all).explain(&challenge()))
    };
    assert_eq!(verdict_beside("lighthouse"), Verdict::Unknown);
    assert_eq!(verdict_beside("somebody"), Verdict::Orphaned);
}

#[test]
fn kubernetes_own_controllers_are_never_the_controller() {
    let own = "generic-garbage-collector";
    let mut all = vec![definition()];
    let role = format!("system:controller:{own}");
    all.extend(bound(
        &role,
        &json!(["*"]),
        &json!(["*"]),
        &account_of("kube-system", own),
    ));
    all.push(runner(
        "Pod",
        "kube-system",
        "p",
        &json!({}),
        own,
        "registry.k8s.io/x",
    ));
    assert_eq!(
        verdict(&World::of(all.clone()).explain(&challenge())),
        Verdict::Orphaned
    );
    // An account that borrows such a role is not Kubernetes' own.
    all.extend([
        runner("Pod", "ops", "p", &json!({}), "borrower", "registry.test/x"),
        object(
            RBAC,
            "clusterrolebindings",
            "ClusterRoleBinding",
            json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": role},
                "subjects": [account_of("ops", "borrower")]}),
        ),
    ]);
    assert_eq!(verdict(&World::of(all).explain(&challenge())), Verdict::Unknown);
}

/// The fifth account that may change the object is looked into like the first.
#[test]
fn every_account_with_the_rights_is_looked_into() {
    let mut all = vec![];
    for at in 1..=12 {
        let (namespace, name) = (format!("ns-{at:02}"), format!("account-{at:02}"));
        all.extend(bound(
            &name,
            &json!(["widgets.test"]),
            &json!(["widgets", "widgets/status"]),
            &account_of(&namespace, &name),
        ));
    }
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    definition.value["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service":
        {"namespace": "ops", "name": "webhook"}}}});
    all.push(definition);
    assert_eq!(
        verdict(&World::of(all.clone()).explain(&widget())),
        Verdict::Orphaned
    );
    all.push(runner(
        "Deployment",
        "ns-12",
        "w",
        &json!({}),
        "account-12",
        "registry.test/w",
    ));
    let diagnosis = World::of(all).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(
        said(&diagnosis).contains("Deployment ns-12/w"),
        "{}",
        said(&diagnosis)
    );
}

#[test]
fn a_role_for_people_points_to_no_controller() {
    let user = json!({"kind": "User", "name": "jane"});
    let with = |labels: Value| {
        let [mut role, binding] = bound(
            "editors",
            &json!(["acme.cert-manager.io"]),
            &json!(["challenges"]),
            &user,
        );
        role.value["metadata"]["labels"] = labels;
        verdict(&World::of([definition(), role, binding]).explain(&challenge()))
    };
    assert_eq!(
        with(json!({"rbac.authorization.k8s.io/aggregate-to-edit": "true"})),
        Verdict::Orphaned
    );
    // A user with a role of its own may be a controller outside the cluster.
    assert_eq!(with(json!({})), Verdict::Unknown);
}

#[test]
fn names_alone_are_one_sign() {
    // On a type that many controllers change, the rights decide nothing.
    let mut service = custom("", "services", "Service", "service.k8s.aws/resources");
    service.value["spec"] = json!({"type": "LoadBalancer"});
    let diagnosis = World::of([definition_of("elbv2.k8s.aws")]).explain(&service);
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    // The account stayed, so the Deployment may be deleted only to create it again.
    let diagnosis = World::of([definition(), account("cert-manager", "cert-manager")]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

#[test]
fn remains_of_an_older_installation_are_a_sign_but_no_proof() {
    let mut service = custom("", "services", "Service", "service.k8s.aws/resources");
    service.value["spec"] = json!({"type": "LoadBalancer"});
    let stale = || {
        let mut stale = lease("2026-01-01T10:00:00Z");
        stale.value["metadata"] =
            json!({"name": "aws-load-balancer-controller-leader", "namespace": "kube-system"});
        stale
    };
    assert_eq!(
        verdict(&World::of([stale()]).explain(&service)),
        Verdict::Orphaned
    );
    // A Lease of an older installation is no proof: the product runs under another name.
    let renamed = runner(
        "Deployment",
        "infra",
        "alb",
        &json!({}),
        "alb",
        "public.ecr.aws/eks/aws-load-balancer-controller:v2",
    );
    let mut all = vec![stale(), renamed];
    all.extend(bound(
        "alb",
        &json!([""]),
        &json!(["services"]),
        &account_of("infra", "alb"),
    ));
    let diagnosis = World::of(all).explain(&service);
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

/// The definition says where the product was installed.
#[test]
fn a_missing_namespace_of_the_installation_is_a_second_sign() {
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    let with = |namespace: Option<Object>| {
        World::of([definition.clone()]).object("", "namespaces", "", "cert-manager", namespace)
    };
    assert_eq!(verdict(&with(None).explain(&widget())), Verdict::Orphaned);
    let mut namespace = object(
        "",
        "namespaces",
        "Namespace",
        json!({"metadata": {"name": "cert-manager"}}),
    );
    assert_eq!(
        verdict(&with(Some(namespace.clone())).explain(&widget())),
        Verdict::Unknown
    );
    namespace.value["metadata"]["deletionTimestamp"] = "2026-01-01T09:00:00Z".into();
    assert_eq!(
        verdict(&with(Some(namespace)).explain(&widget())),
        Verdict::Orphaned
    );
}

/// The operator of Argo CD names everything after its `ArgoCD` object.
#[test]
fn argo_cd_of_its_operator_under_another_name_is_not_gone() {
    let name = "payments-application-controller";
    let labels = json!({"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "argocd",
        "app.kubernetes.io/component": "application-controller"});
    let application = custom(
        "argoproj.io",
        "applications",
        "Application",
        "resources-finalizer.argocd.argoproj.io",
    );
    for labels in [labels, json!({"app": name})] {
        let program = argocd("payments", name, &labels);
        let all = installed_as(
            program,
            "argoproj.io",
            &json!(["applications", "applications/status"]),
        );
        let diagnosis = World::of(all).explain(&application);
        assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    }
}

/// EKS Auto Mode and AKS run Karpenter out of sight.
#[test]
fn a_controller_that_the_platform_hides_is_not_gone() {
    let node = |labels: Value, version: &str| {
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n", "labels": labels}, "status": {"nodeInfo": {"kubeletVersion": version}}}),
        )
    };
    let mut claim = custom(
        "karpenter.sh",
        "nodeclaims",
        "NodeClaim",
        "karpenter.sh/termination",
    );
    claim.value["metadata"]["creationTimestamp"] = "2026-01-01T08:00:00Z".into();
    for (labels, version) in [
        (json!({"eks.amazonaws.com/compute-type": "auto"}), "v1.33.1"),
        (json!({}), "v1.33.1-eks-1a2b3c4"),
        (json!({"kubernetes.azure.com/cluster": "c"}), "v1.33.1"),
    ] {
        let world = World::of([node(labels, version)]);
        let diagnosis = world.explain(&claim);
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
        assert!(said(&diagnosis).contains("hides it"), "{}", said(&diagnosis));
        assert!(
            diagnosis.gaps.iter().any(|gap| gap.why.word() == "OutOfSight"),
            "{:?}",
            diagnosis.gaps
        );
        // A Lease that it left behind is a sign there, too.
        let mut stale = lease("2026-01-01T10:00:00Z");
        stale.value["metadata"] = json!({"name": "karpenter-leader-election", "namespace": "kube-system"});
        let world = world.with(stale);
        assert_eq!(verdict(&world.explain(&claim)), Verdict::Orphaned);
        // What left it behind had ended before this machine was made, or never had machines of the platform.
        let mut newer = claim.clone();
        newer.value["metadata"]["creationTimestamp"] = "2026-01-01T10:00:01Z".into();
        assert_eq!(verdict(&world.explain(&newer)), Verdict::Unknown);
    }
    let mut stale = lease("2026-01-01T10:00:00Z");
    stale.value["metadata"] = json!({"name": "karpenter-leader-election", "namespace": "kube-system"});
    let auto = World::of([
        node(json!({"eks.amazonaws.com/compute-type": "auto"}), "v1.33.1"),
        stale,
    ]);
    let mut own = claim.clone();
    own.value["spec"] =
        json!({"nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}});
    assert_eq!(verdict(&auto.explain(&own)), Verdict::Unknown);
    // By what the cloud calls the machine of a node. A cloud alone is no platform: anybody can run Kubernetes on it.
    for (id, expected) in [
        ("aws:///eu-west-1a/0f3b/fargate-ip-10-0-1-2", Verdict::Unknown),
        ("eks-hybrid:///eu-west-1/prod/mi-0123", Verdict::Unknown),
        (
            "azure:///subscriptions/0f/resourceGroups/MC_rg_prod_westeurope/providers/Microsoft.Compute/virtualMachines/n",
            Verdict::Unknown,
        ),
        ("aws:///eu-west-1a/i-0123456789abcdef0", Verdict::Orphaned),
        (
            "azure:///subscriptions/0f/resourceGroups/own/providers/n",
            Verdict::Orphaned,
        ),
        ("eks-hybrid", Verdict::Orphaned),
    ] {
        let mut node = node(json!({}), "v1.33.1");
        node.value["spec"]["providerID"] = id.into();
        let diagnosis = World::of([node]).explain(&claim);
        assert_eq!(verdict(&diagnosis), expected, "{id}: {diagnosis:#?}");
    }
    // By its types, without any node.
    let served = World::default().serving("eks.amazonaws.com", "nodeclasses", "NodeClass");
    assert_eq!(verdict(&served.explain(&claim)), Verdict::Unknown);
    // By the version of its API server, beside a node that somebody else built; unread, it could be any.
    let version = |version: Result<&str, Why>| {
        World::of([node(json!({}), "v1.33.1")])
            .answer(
                Query::Version,
                version.map(|version| Answer::Version(version.into())),
            )
            .explain(&claim)
    };
    assert_eq!(verdict(&version(Ok("v1.33.1"))), Verdict::Orphaned);
    // k3s and RKE2 show all of their controllers.
    assert_eq!(verdict(&version(Ok("v1.33.1+k3s1"))), Verdict::Orphaned);
    let of_eks = version(Ok("v1.33.1-eks-1a2b3c4"));
    assert_eq!(verdict(&of_eks), Verdict::Unknown);
    assert!(said(&of_eks).contains("EKS hides it"), "{}", said(&of_eks));
    assert_eq!(verdict(&version(Err(Why::NotInDump))), Verdict::Unknown);
    // On another platform it is gone, as far as the nodes can be read.
    let own = || {
        World::of([node(
            json!({"node.kubernetes.io/instance-type": "m5.large"}),
            "v1.33.1",
        )])
    };
    assert_eq!(verdict(&own().explain(&claim)), Verdict::Orphaned);
    assert_eq!(verdict(&own().hiding("nodes").explain(&claim)), Verdict::Unknown);
}

/// Percona's fork of the operator uses the same finalizer.
#[test]
fn the_fork_of_percona_is_not_gone() {
    let cluster = custom(
        "upstream.pgv2.percona.com",
        "postgresclusters",
        "PostgresCluster",
        "postgres-operator.crunchydata.com/finalizer",
    );
    let program = runner(
        "Deployment",
        "db",
        "prod-pg",
        &json!({"app": "prod-pg"}),
        "prod-pg",
        "percona/percona-postgresql-operator:2.6.0",
    );
    let all = installed_as(
        program,
        "upstream.pgv2.percona.com",
        &json!(["postgresclusters", "postgresclusters/status"]),
    );
    let diagnosis = World::of(all).explain(&cluster);
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
}

/// Releases of Helm charts under other names.
#[test]
fn a_renamed_helm_release_is_not_gone() {
    for (group, plural, kind, finalizer) in [
        (
            "monitoring.coreos.com",
            "prometheuses",
            "Prometheus",
            "monitoring.coreos.com/status-cleanup",
        ),
        (
            "db.movetokube.com",
            "postgres",
            "Postgres",
            "finalizer.db.movetokube.com",
        ),
    ] {
        let target = custom(group, plural, kind, finalizer);
        let program = runner(
            "Deployment",
            "infra",
            "release-x",
            &json!({}),
            "release-x",
            "registry.test/mirror/it:1",
        );
        let all = installed_as(program, group, &json!([plural, format!("{plural}/status")]));
        let diagnosis = World::of(all).explain(&target);
        // Its rights speak against its being gone, and for nothing else.
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    }
}

/// A stranger with a general label is not the controller, and its life and rights tell nothing.
#[test]
fn a_stranger_with_a_general_label_is_not_the_controller() {
    for (group, plural, kind, finalizer, label) in [
        (
            "kueue.x-k8s.io",
            "clusterqueues",
            "ClusterQueue",
            "kueue.x-k8s.io/resource-in-use",
            json!({"control-plane": "controller-manager"}),
        ),
        (
            "kyverno.io",
            "clusterpolicies",
            "ClusterPolicy",
            "kyverno.io/webhooks",
            json!({"app.kubernetes.io/component": "admission-controller"}),
        ),
        (
            "serving.knative.dev",
            "routes",
            "Route",
            "routes.serving.knative.dev",
            json!({"app": "controller"}),
        ),
    ] {
        let stranger = runner(
            "Deployment",
            "memcached",
            "memcached-operator",
            &label,
            "m",
            "registry.test/memcached",
        );
        let diagnosis = World::of([stranger]).explain(&custom(group, plural, kind, finalizer));
        assert!(
            !said(&diagnosis).contains("memcached"),
            "{finalizer}: {}",
            said(&diagnosis)
        );
        assert_ne!(
            verdict(&diagnosis),
            Verdict::Failing,
            "{finalizer}: {diagnosis:#?}"
        );
    }
}

/// Many operators are called `operator`. The image tells which, in any namespace.
#[test]
fn a_controller_of_a_general_name_is_known_by_its_image() {
    let connector = custom(
        "tailscale.com",
        "connectors",
        "Connector",
        "tailscale.com/finalizer",
    );
    for (image, expected) in [
        ("docker.io/tailscale/k8s-operator:v1.90.0", Verdict::Waiting),
        ("registry.test/acme/operator:v1", Verdict::Unknown),
    ] {
        let runs = runner(
            "Deployment",
            "vpn",
            "operator",
            &json!({"app": "operator"}),
            "operator",
            image,
        );
        let all = installed_as(runs, "tailscale.com", &json!(["connectors", "connectors/status"]));
        let diagnosis = World::of(all).explain(&connector);
        assert_eq!(verdict(&diagnosis), expected, "{image}: {diagnosis:#?}");
    }
}

/// Operators of two products have the same name and the same label. Their images differ.
#[test]
fn an_operator_of_another_product_with_the_same_label_is_not_the_controller() {
    let cluster = custom(
        "mysql.presslabs.org",
        "mysqlclusters",
        "MysqlCluster",
        "mysql.presslabs.org/registered-in-orchestrator",
    );
    for (image, is_its) in [
        ("quay.io/presslabs/mysql-operator:v0.6.3", true),
        ("mirror.test/hub/bitpoke/mysql-operator@sha256:ab", true),
        ("registry.test/team/mysql-operator:v1", false),
    ] {
        let runs = runner(
            "StatefulSet",
            "db",
            "mysql-operator",
            &json!({"app.kubernetes.io/name": "mysql-operator"}),
            "m",
            image,
        );
        let group = if is_its { "mysql.presslabs.org" } else { "x.test" };
        let diagnosis = World::of(installed_as(runs, group, &json!(["*"]))).explain(&cluster);
        let expected = if is_its {
            Verdict::Waiting
        } else {
            Verdict::Unknown
        };
        assert_eq!(verdict(&diagnosis), expected, "{image}: {diagnosis:#?}");
    }
}

/// The Lease that a controller renews under another name or in another namespace is a sign of life.
#[test]
fn a_renewed_lease_of_the_product_keeps_its_controller_from_being_gone() {
    let mut renewed = lease("2026-01-01T11:59:58Z");
    renewed.value["metadata"] = json!({"name": "leader", "namespace": "infra"});
    renewed.value["spec"]["holderIdentity"] = json!("certmanager-7d9f_1");
    let diagnosis = World::of([definition(), renewed]).explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(
        said(&diagnosis).contains("Lease infra/leader"),
        "{}",
        said(&diagnosis)
    );
}

/// The definition of some type of this group.
fn definition_of(group: &str) -> Object {
    let value = json!({"metadata": {"name": format!("items.{group}")}, "spec": {"group": group}});
    let group = "apiextensions.k8s.io";
    object(
        group,
        "customresourcedefinitions",
        "CustomResourceDefinition",
        value,
    )
}

#[test]
fn a_cluster_without_the_types_of_a_product_shows_that_its_controller_is_gone() {
    let held = || {
        object(
            "apps",
            "deployments",
            "Deployment",
            json!({"metadata": {"name": "api", "namespace": "pay", "finalizers": ["onepassword.com/finalizer.secret"],
                "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}, "spec": {"replicas": 1}}),
        )
    };
    let definition_of = |group: &str| {
        let value = json!({"metadata": {"name": format!("items.{group}")}, "spec": {"group": group}});
        let group = "apiextensions.k8s.io";
        object(
            group,
            "customresourcedefinitions",
            "CustomResourceDefinition",
            value,
        )
    };
    let verdict_in = |world: World| verdict(&world.with(held()).explain(&held()));
    let without = || World::of([definition_of("onepassword.example")]);
    assert_eq!(verdict_in(without()), Verdict::Orphaned);
    // Its types are served, or nobody knows: then its names alone are missing, and that is one sign.
    let with = World::of([definition_of("onepassword.com")]);
    assert_eq!(verdict_in(with), Verdict::Unknown);
    let served = World::default().serving("onepassword.com", "onepassworditems", "OnePasswordItem");
    assert_eq!(verdict_in(served), Verdict::Unknown);
    let hidden = without().hiding("customresourcedefinitions");
    assert_eq!(verdict_in(hidden), Verdict::Unknown);
    // The same where something runs that may be it.
    let account = |name: &str| json!({"metadata": {"name": name, "namespace": "pay"}});
    let named = object(
        "",
        "serviceaccounts",
        "ServiceAccount",
        account("onepassword-connect-operator"),
    );
    assert_eq!(verdict_in(without().with(named)), Verdict::Unknown);
}
