//! Objects of products whose state needs more than the catalogue can describe.

use serde_json::json;

use super::{ANYWHERE, Scenario, Target, defined, deleted, namespace, object, scenario, target, with};
use crate::{
    explain::{
        custom_resources::{add_status, condition, running_in},
        told::{SOON, refusal},
    },
    harness::{Cluster, Namespace, wait},
};

pub(super) const ALL: &[Scenario] = &[
    scenario("drained", node_that_cannot_be_drained)
        .steps(1, 1)
        .may_be_late()
        .tells(&["products/karpenter_drain"]),
    scenario("machine", machine_without_its_infrastructure).steps(1, 1),
    scenario("ceph", cluster_with_a_pool).steps(3, 1),
    scenario("longhorn", object_behind_its_own_webhook).steps(4, 1),
    scenario("unconfirmed", uninstall_that_nobody_confirmed)
        .steps(2, 2)
        .tells(&["products/longhorn_uninstall"]),
    scenario("release", object_of_a_helm_release)
        .steps(1, 0)
        .adds(&[("products/helm_release", "which it belongs to, is uninstalling")]),
    scenario("chart", chart_with_a_failed_job).steps(2, 2),
    scenario("unmanaged", version_without_its_manager).steps(1, 1),
    scenario("subscribed", object_of_a_deleted_version)
        .steps(2, 2)
        .tells(&["products/olm_subscription"]),
    scenario("project", project_in_use),
    scenario("projectless", application_without_its_project)
        .steps(5, 4)
        .fills(&[("TIME", "2026-01-31T12:00:00Z")]),
    scenario("parent", application_with_a_child_that_stays)
        .steps(5, 4)
        .fills(&[("TIME", "2026-01-31T12:00:00Z")])
        .tells(&["products/deployed_resources"]),
    scenario("flux", release_without_its_account).steps(3, 2),
    scenario("applied", work_with_an_object_that_stays),
    scenario("ingress", ingress_of_a_shared_load_balancer)
        .steps(1, 0)
        .may_be_late()
        .adds(&[("products/aws_ingress_group", "share its load balancer")]),
    scenario("database", database_without_a_primary).steps(1, 1),
];

const ARGO: &str = "resources-finalizer.argocd.argoproj.io";
const LONGHORN: &str = "longhorn.io/v1beta2";
const OLM: &str = "operators.coreos.com/v1alpha1";

/// The types, and the operators that run.
pub(super) fn prepare(cluster: &Cluster) {
    let infrastructure = "infrastructure.cluster.x-k8s.io";
    defined(
        cluster,
        "Namespaced",
        &[
            ["cluster.x-k8s.io", "v1beta1", "clusters", "Cluster"],
            ["cluster.x-k8s.io", "v1beta1", "machines", "Machine"],
            [infrastructure, "v1beta1", "awsmachines", "AWSMachine"],
            ["ceph.rook.io", "v1", "cephclusters", "CephCluster"],
            ["ceph.rook.io", "v1", "cephblockpools", "CephBlockPool"],
            ["longhorn.io", "v1beta2", "engineimages", "EngineImage"],
            ["longhorn.io", "v1beta2", "replicas", "Replica"],
            ["longhorn.io", "v1beta2", "settings", "Setting"],
            [
                "core.matrixorigin.example",
                "v1alpha1",
                "matrixoneclusters",
                "MatrixOneCluster",
            ],
            ["helm.cattle.io", "v1", "helmcharts", "HelmChart"],
            [
                "operators.coreos.com",
                "v1alpha1",
                "clusterserviceversions",
                "ClusterServiceVersion",
            ],
            [
                "operators.coreos.com",
                "v1alpha1",
                "subscriptions",
                "Subscription",
            ],
            [
                "operators.coreos.com",
                "v1alpha1",
                "catalogsources",
                "CatalogSource",
            ],
            [
                "compliance.openshift.io",
                "v1alpha1",
                "compliancesuites",
                "ComplianceSuite",
            ],
            ["argoproj.io", "v1alpha1", "applications", "Application"],
            ["argoproj.io", "v1alpha1", "appprojects", "AppProject"],
            ["helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease"],
            ["postgresql.cnpg.io", "v1", "databases", "Database"],
        ],
    );
    let work = "work.open-cluster-management.io";
    defined(
        cluster,
        "Cluster",
        &[[work, "v1", "appliedmanifestworks", "AppliedManifestWork"]],
    );
    let name = |name: &str| json!({"app.kubernetes.io/name": name});
    let app = |name: &str| json!({"app": name});
    running_in(
        cluster,
        "karpenter",
        "karpenter",
        name("karpenter"),
        "karpenter.sh",
    );
    running_in(
        cluster,
        "rook-ceph",
        "rook-ceph-operator",
        app("rook-ceph-operator"),
        "ceph.rook.io",
    );
    let controller = "argocd-application-controller";
    running_in(cluster, "argocd", controller, name(controller), "argoproj.io");
    running_in(
        cluster,
        "flux-system",
        "helm-controller",
        app("helm-controller"),
        "helm.toolkit.fluxcd.io",
    );
    let agent = app("klusterlet-manifestwork-agent");
    running_in(
        cluster,
        "open-cluster-management-agent",
        "klusterlet-work-agent",
        agent,
        work,
    );
    let controller = "aws-load-balancer-controller";
    running_in(cluster, "aws-lbc", controller, name(controller), "elbv2.k8s.aws");
    running_in(
        cluster,
        "cnpg-system",
        "cnpg-controller-manager",
        name("cloudnative-pg"),
        "postgresql.cnpg.io",
    );
}

/// One of its Pods has a budget, one is never evicted, and one is of no matter.
fn node_that_cannot_be_drained(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let mut node = object(["v1", "Node", name], "", &["karpenter.sh/termination"]);
    node["spec"] = json!({"providerID": format!("aws:///eu-west-1a/{name}")});
    cluster.apply(&node.to_string());
    for (pod, more) in [
        ("api", "labels: {app: api}"),
        ("train", "annotations: {karpenter.sh/do-not-disrupt: 'true'}"),
    ] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {pod}, {more}}}, spec: {{nodeName: {name}, \
             terminationGracePeriodSeconds: 0, containers: [{{name: c, image: i}}]}}}}"
        ));
        let ready = json!([{"type": "Ready", "status": "True"}]);
        ns.patch_status(["pod", pod], &json!({"phase": "Running", "conditions": ready}));
    }
    ns.apply(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: api}, spec: {minAvailable: 1, selector: {matchLabels: {app: api}}}}",
    );
    wait("the budget is counted", SOON, || {
        ns.get(["pdb", "api"]).unwrap()["status"]["currentHealthy"] == 1
    });
    target(cluster, &format!("node/{name}"), "")
}

/// The controller of the infrastructure was never installed here.
fn machine_without_its_infrastructure(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let machine = "awsmachine.infrastructure.cluster.x-k8s.io";
    let api = "infrastructure.cluster.x-k8s.io/v1beta1";
    let mut machine = object([api, "AWSMachine", "prod-md-0"], name, &[machine]);
    machine["metadata"]["labels"] = json!({"cluster.x-k8s.io/cluster-name": "prod"});
    deleted(cluster, "awsmachines", &machine)
}

fn cluster_with_a_pool(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let pool = object(
        ["ceph.rook.io/v1", "CephBlockPool", "replicapool"],
        name,
        &["cephblockpool.ceph.rook.io"],
    );
    cluster.apply(&pool.to_string());
    let ceph = object(
        ["ceph.rook.io/v1", "CephCluster", "rook"],
        name,
        &["cephcluster.ceph.rook.io"],
    );
    let target = deleted(cluster, "cephclusters", &ceph);
    let said =
        "CephCluster will not be deleted until all dependents are removed: CephBlockPool: [replicapool]";
    let blocked = condition("DeletionIsBlocked", "True", "ObjectHasDependents", said);
    add_status(
        cluster,
        "rook",
        &target[0],
        name,
        &json!({"conditions": [blocked]}),
    );
    target
}

fn object_behind_its_own_webhook(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let image = object([LONGHORN, "EngineImage", "ei-51cc7b9c"], name, &["longhorn.io"]);
    let target = deleted(cluster, "engineimages", &image);
    crate::explain::products::longhorn_uninstall::webhook(cluster, name, name);
    wait("the server calls the webhook", SOON, || {
        refusal(cluster, &target[0], name).is_some()
    });
    target
}

fn uninstall_that_nobody_confirmed(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let setting = object([LONGHORN, "Setting", "deleting-confirmation-flag"], name, &[]);
    cluster.apply(&with(setting, [("value", json!("false"))]).to_string());
    let replica = object([LONGHORN, "Replica", "pvc-1-r-5f2"], name, &["longhorn.io"]);
    deleted(cluster, "replicas", &replica)
}

fn object_of_a_helm_release(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply(
        "{apiVersion: v1, kind: Secret, type: helm.sh/release.v1, metadata: {name: sh.helm.release.v1.mo.v10, labels: {owner: helm, \
         name: mo, status: uninstalling, version: '10'}}}",
    );
    let finalizer = "matrixoneclusters.core.matrixorigin.example/finalizer";
    let mut held = object(
        ["core.matrixorigin.example/v1alpha1", "MatrixOneCluster", "mo"],
        name,
        &[finalizer],
    );
    held["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    held["metadata"]["annotations"] =
        json!({"meta.helm.sh/release-name": "mo", "meta.helm.sh/release-namespace": name});
    deleted(cluster, "matrixoneclusters", &held)
}

fn chart_with_a_failed_job(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let chart = object(
        ["helm.cattle.io/v1", "HelmChart", "traefik"],
        name,
        &["wrangler.cattle.io/on-helm-chart-remove"],
    );
    let target = deleted(
        cluster,
        "helmcharts",
        &with(chart, [("spec", json!({"chart": "traefik"}))]),
    );
    ns.apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: helm-delete-traefik, labels: {helmcharts.helm.cattle.io/chart: traefik}}, \
         spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: helm, image: klipper-helm}]}}}}",
    );
    let pod = || {
        let pods = ns.get(["pods"]).unwrap_or_default();
        pods["items"][0]["metadata"]["name"].as_str().map(str::to_owned)
    };
    wait("the Job has its Pod", SOON, || pod().is_some());
    ns.patch_status(["pod", &pod().unwrap()], &json!({"phase": "Failed"}));
    wait("the Job fails", SOON, || {
        let job = ns.get(["job", "helm-delete-traefik"]).unwrap();
        job["status"]["conditions"]
            .to_string()
            .contains("BackoffLimitExceeded")
    });
    target
}

/// OLM itself is gone.
fn version_without_its_manager(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let held = object(
        [OLM, "ClusterServiceVersion", "pixie-operator.v0.1.4"],
        name,
        &["operators.coreos.com/csv-cleanup"],
    );
    deleted(cluster, "clusterserviceversions", &held)
}

/// A Subscription says that the deleted version of an operator is installed, and its catalog does not answer.
fn object_of_a_deleted_version(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let label =
        json!({"metadata": {"labels": {format!("operators.coreos.com/compliance-operator.{name}"): ""}}});
    cluster.patch_by("olm", ["crd", "compliancesuites.compliance.openshift.io"], &label);
    let spec = json!({"name": "compliance-operator", "channel": "stable", "source": "redhat-operators", "sourceNamespace": name});
    let status = json!({"state": "AtLatestKnown", "installedCSV": "compliance-operator.v1.4.0"});
    let subscription = object([OLM, "Subscription", "compliance"], name, &[]);
    cluster.apply(&with(subscription, [("spec", spec), ("status", status)]).to_string());
    let status = json!({"connectionState": {"lastObservedState": "TRANSIENT_FAILURE"}});
    let source = object([OLM, "CatalogSource", "redhat-operators"], name, &[]);
    cluster.apply(
        &with(
            source,
            [("spec", json!({"sourceType": "grpc"})), ("status", status)],
        )
        .to_string(),
    );
    let finalizer = "suite.finalizers.compliance.openshift.io";
    let suite = object(
        ["compliance.openshift.io/v1alpha1", "ComplianceSuite", "cis"],
        name,
        &[finalizer],
    );
    deleted(cluster, "compliancesuites", &suite)
}

fn application(name: &str, namespace: &str, project: &str) -> serde_json::Value {
    let application = object(["argoproj.io/v1alpha1", "Application", name], namespace, &[ARGO]);
    let spec = json!({"project": project, "source": {"repoURL": "https://git.example/apps.git", "path": name},
        "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}});
    with(application, [("spec", spec)])
}

fn project_in_use(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    cluster.apply(&application("web", name, "shop").to_string());
    let project = object(["argoproj.io/v1alpha1", "AppProject", "shop"], name, &[ARGO]);
    deleted(cluster, "appprojects", &project)
}

fn application_without_its_project(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let target = deleted(cluster, "applications", &application("web", name, "gone"));
    let said = "error getting app project: appproject.argoproj.io \"gone\" not found";
    let failed = condition("DeletionError", "True", "", said);
    let controller = "argocd-application-controller";
    add_status(
        cluster,
        controller,
        &target[0],
        name,
        &json!({"conditions": [failed]}),
    );
    target
}

/// A held Service, which somebody deployed, in deletion.
fn held_service(ns: &Namespace) {
    ns.apply(
        "{apiVersion: v1, kind: Service, metadata: {name: front, finalizers: [example.test/hold]}, spec: {clusterIP: None, ports: [{port: 80}]}}",
    );
    ns.delete("service/front");
}

fn application_with_a_child_that_stays(cluster: &Cluster, name: &str) -> Target {
    held_service(&namespace(cluster, name));
    let target = deleted(cluster, "applications", &application("web", name, "platform"));
    let child = json!({"kind": "Service", "version": "v1", "namespace": name, "name": "front"});
    add_status(
        cluster,
        "kubectl-patch",
        &target[0],
        name,
        &json!({"resources": [child]}),
    );
    target
}

fn release_without_its_account(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let release = object(
        ["helm.toolkit.fluxcd.io/v2", "HelmRelease", "podinfo"],
        name,
        &["finalizers.fluxcd.io"],
    );
    let spec = json!({"interval": "10m", "serviceAccountName": "deployer",
        "chart": {"spec": {"chart": "podinfo", "sourceRef": {"kind": "HelmRepository", "name": "podinfo"}}}});
    let target = deleted(cluster, "helmreleases", &with(release, [("spec", spec)]));
    let said = "failed to delete release: serviceaccounts \"deployer\" not found";
    let failed = condition("Ready", "False", "UninstallFailed", said);
    add_status(
        cluster,
        "helm-controller",
        &target[0],
        name,
        &json!({"conditions": [failed]}),
    );
    target
}

fn work_with_an_object_that_stays(cluster: &Cluster, name: &str) -> Target {
    held_service(&namespace(cluster, name));
    let finalizer = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
    let work = object(
        ["work.open-cluster-management.io/v1", "AppliedManifestWork", name],
        "",
        &[finalizer],
    );
    let applied = json!({"group": "", "version": "v1", "resource": "services", "namespace": name, "name": "front", "uid": "1"});
    let spec = json!({"hubHash": "1", "manifestWorkName": "app"});
    let status = json!({"appliedResources": [applied]});
    let [target, _] = deleted(
        cluster,
        "appliedmanifestworks",
        &with(work, [("spec", spec), ("status", status)]),
    );
    [target, ANYWHERE.to_owned()]
}

fn ingress_of_a_shared_load_balancer(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    for one in ["shop", "blog"] {
        let finalizer = format!("group.ingress.k8s.aws/{name}");
        let mut ingress = object(["networking.k8s.io/v1", "Ingress", one], name, &[&finalizer]);
        ingress["metadata"]["annotations"] = json!({"alb.ingress.kubernetes.io/group.name": name});
        let backend = json!({"service": {"name": one, "port": {"number": 80}}});
        ingress["spec"] = json!({"ingressClassName": "alb", "defaultBackend": backend});
        ns.apply(&ingress.to_string());
    }
    target(cluster, "ingress/shop", name)
}

fn database_without_a_primary(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let database = object(
        ["postgresql.cnpg.io/v1", "Database", "orders"],
        name,
        &["cnpg.io/deleteDatabase"],
    );
    let spec = json!({"cluster": {"name": "orders"}, "name": "orders", "owner": "app"});
    deleted(cluster, "databases", &with(database, [("spec", spec)]))
}
