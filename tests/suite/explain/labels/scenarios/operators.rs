//! Objects of operators: unknown ones, and products whose catalogue entries say enough.

use serde_json::json;

use super::{ANYWHERE, Scenario, Target, defined, deleted, namespace, object, scenario, target, with};
use crate::{
    explain::{
        custom_resources::{add_status, condition, running_in},
        operators::{
            finalizer_re_added::applied_again,
            renamed_finalizer::{locked, written_by_two_releases},
        },
        told::{SOON, refusal},
    },
    harness::{Cluster, wait},
};

pub(super) const ALL: &[Scenario] = &[
    scenario("topic", object_without_its_operator)
        .steps(2, 2)
        .tells(&["operators/known_finalizer"]),
    scenario("front", load_balancer),
    scenario("bucket", object_whose_credentials_are_gone)
        .tells(&["operators/missing_reference"])
        .adds(&[(
            "operators/external_resource",
            "what it stands for outside the cluster",
        )]),
    scenario("readded", object_that_is_applied_again).adds(&[("operators/finalizer_re_added", "on again")]),
    scenario("guarded", object_whose_finalizer_is_put_back),
    scenario("renamed", object_with_an_older_name)
        .steps(2, 2)
        .tells(&["operators/renamed_finalizer"]),
    scenario("finishedrun", run_that_a_policy_locks).steps(1, 1),
    scenario("configured", configuration_in_use).tells(&["operators/waits_for"]),
    scenario("paused", object_that_is_paused).steps(3, 3),
    scenario("crashing", object_of_a_crashing_operator),
    scenario("off", object_of_an_operator_that_is_off).steps(2, 1),
    scenario("idle", object_that_a_running_operator_leaves_alone)
        .steps(1, 1)
        .tells(&["operators/surroundings"]),
    scenario("guest", guest_on_a_silent_node)
        .steps(1, 0)
        .adds(&[("operators/never_by_hand", "still runs")]),
];

const RABBIT: &str = "rabbitmq-cluster-operator";

/// The types, and the operators that run, crash or are off.
pub(super) fn prepare(cluster: &Cluster) {
    defined(
        cluster,
        "Namespaced",
        &[
            ["kafka.strimzi.io", "v1", "kafkatopics", "KafkaTopic"],
            ["clouds.example.test", "v1", "buckets", "Bucket"],
            [
                "datasciencecluster.opendatahub.io",
                "v1",
                "datascienceclusters",
                "DataScienceCluster",
            ],
            ["policies.example-vendor.io", "v1", "guards", "Guard"],
            ["tekton.dev", "v1", "taskruns", "TaskRun"],
            ["tekton.dev", "v1", "pipelineruns", "PipelineRun"],
            ["keda.sh", "v1alpha1", "scaledobjects", "ScaledObject"],
            ["rabbitmq.com", "v1beta1", "rabbitmqclusters", "RabbitmqCluster"],
            ["idle.example-vendor.io", "v1", "moulds", "Mould"],
            [
                "kubevirt.io",
                "v1",
                "virtualmachineinstances",
                "VirtualMachineInstance",
            ],
        ],
    );
    defined(
        cluster,
        "Cluster",
        &[
            ["s3.aws.upbound.io", "v1", "buckets", "Bucket"],
            ["gcp.upbound.io", "v1beta1", "providerconfigs", "ProviderConfig"],
            [
                "gcp.upbound.io",
                "v1beta1",
                "providerconfigusages",
                "ProviderConfigUsage",
            ],
        ],
    );
    let app = |name: &str| json!({"app": name});
    running_in(
        cluster,
        "tekton-chains",
        "tekton-chains-controller",
        app("tekton-chains-controller"),
        "tekton.dev",
    );
    let provider = json!({"pkg.crossplane.io/provider": "provider-family-gcp"});
    running_in(
        cluster,
        "upbound-system",
        "provider-family-gcp-9f8e7d",
        provider,
        "gcp.upbound.io",
    );
    let provider = json!({"pkg.crossplane.io/provider": "provider-aws-s3"});
    running_in(
        cluster,
        "crossplane-system",
        "provider-aws-s3-1a2b3c",
        provider,
        "s3.aws.upbound.io",
    );
    running_in(
        cluster,
        "idle-system",
        "idle-operator",
        app("idle-operator"),
        "idle.example-vendor.io",
    );
    let keda = running_in(cluster, "keda", "keda-operator", app("keda-operator"), "keda.sh");
    let back_off =
        json!({"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=manager"});
    let container = json!({"name": "manager", "image": "i", "imageID": "", "ready": false, "restartCount": 12,
        "state": {"waiting": back_off}});
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [container]});
    keda.pod_is(&status);
    keda.has_ready(0);
    let labels =
        json!({"app.kubernetes.io/name": RABBIT, "app.kubernetes.io/component": "rabbitmq-operator"});
    let rabbit = running_in(cluster, "rabbitmq-system", RABBIT, labels, "rabbitmq.com");
    let none = json!({"spec": {"replicas": 0}});
    cluster.patch_by(
        "kubectl-patch",
        ["deployment", RABBIT, "--namespace=rabbitmq-system"],
        &none,
    );
    rabbit.has_ready(0);
}

/// Its operator was never installed here.
fn object_without_its_operator(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let mut topic = object(
        ["kafka.strimzi.io/v1", "KafkaTopic", "payments"],
        name,
        &["strimzi.io/topic-operator"],
    );
    topic["metadata"]["labels"] = json!({"strimzi.io/cluster": "prod"});
    deleted(cluster, "kafkatopics", &topic)
}

fn load_balancer(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply(
        "{apiVersion: v1, kind: Service, metadata: {name: front, finalizers: [service.kubernetes.io/load-balancer-cleanup]}, spec: \
         {type: LoadBalancer, clusterIP: 10.96.9.9, selector: {a: b}, ports: [{port: 80}]}}",
    );
    target(cluster, "service/front", name)
}

fn object_whose_credentials_are_gone(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let mut bucket = object(
        ["clouds.example.test/v1", "Bucket", "invoices"],
        name,
        &["clouds.example.test/clean"],
    );
    bucket["metadata"]["annotations"] = json!({"crossplane.io/external-name": "acme-invoices"});
    let spec = json!({"forProvider": {}, "deletionPolicy": "Delete",
        "auth": {"credentialsSecretRef": {"name": "aws-credentials", "key": "creds"}}});
    let target = deleted(cluster, "buckets", &with(bucket, [("spec", spec)]));
    let said =
        "cannot delete external resource: cannot get credentials: secrets \"aws-credentials\" not found";
    let failed = condition("Synced", "False", "ReconcileError", said);
    add_status(
        cluster,
        "cloud-operator",
        &target[0],
        name,
        &json!({"conditions": [failed]}),
    );
    target
}

/// It is not in deletion yet.
fn object_that_is_applied_again(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    [applied_again(cluster, &ns), name.to_owned()]
}

fn object_whose_finalizer_is_put_back(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let (held, back) = (
        "guards.example-vendor.io/other",
        "guards.example-vendor.io/cleanup",
    );
    let target = deleted(
        cluster,
        "guards",
        &object(["policies.example-vendor.io/v1", "Guard", "g"], name, &[held]),
    );
    let said = format!(
        "Guard.policies.example-vendor.io \"g\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the \
         object is being deleted, found new finalizers []string{{\"{back}\"}}"
    );
    let failed = condition("Ready", "False", "ReconcileError", &said);
    add_status(
        cluster,
        "kubectl-patch",
        &target[0],
        name,
        &json!({"conditions": [failed]}),
    );
    target
}

fn object_with_an_older_name(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let run = written_by_two_releases(cluster, name, "build", &["chains.tekton.dev"]);
    cluster.delete(&run, name);
    cluster.deleted_earlier(&format!("tekton.dev/taskruns/{name}/build"), 600);
    [run, name.to_owned()]
}

fn run_that_a_policy_locks(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let run = object(
        ["tekton.dev/v1", "PipelineRun", "nightly"],
        name,
        &["chains.tekton.dev/pipelinerun"],
    );
    let done = json!({"completionTime": "2026-01-01T00:00:00Z"});
    let target = deleted(cluster, "pipelineruns", &with(run, [("status", done)]));
    locked(cluster, name, name);
    wait("the policy rejects the update", SOON, || {
        refusal(cluster, &target[0], name).is_some()
    });
    target
}

fn configuration_in_use(cluster: &Cluster, name: &str) -> Target {
    let usage = object(
        [
            "gcp.upbound.io/v1beta1",
            "ProviderConfigUsage",
            &format!("usage-{name}"),
        ],
        "",
        &[],
    );
    let mut usage = with(
        usage,
        [
            ("providerConfigRef", json!({"name": name})),
            (
                "resourceRef",
                json!({"apiVersion": "sql.gcp.upbound.io/v1beta1", "kind": "DatabaseInstance", "name": "orders"}),
            ),
        ],
    );
    usage["metadata"]["labels"] = json!({"crossplane.io/provider-config": name});
    cluster.apply(&usage.to_string());
    let config = object(
        ["gcp.upbound.io/v1beta1", "ProviderConfig", name],
        "",
        &["in-use.crossplane.io"],
    );
    let [target, _] = deleted(
        cluster,
        "providerconfigs",
        &with(config, [("status", json!({"users": 1}))]),
    );
    [target, ANYWHERE.to_owned()]
}

fn object_that_is_paused(cluster: &Cluster, name: &str) -> Target {
    let finalizer = "finalizer.managedresource.crossplane.io";
    let mut bucket = object(["s3.aws.upbound.io/v1", "Bucket", name], "", &[finalizer]);
    bucket["metadata"]["annotations"] =
        json!({"crossplane.io/paused": "true", "crossplane.io/external-name": "logs-4711"});
    let [target, _] = deleted(cluster, "buckets", &bucket);
    [target, ANYWHERE.to_owned()]
}

fn object_of_a_crashing_operator(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let held = object(
        ["keda.sh/v1alpha1", "ScaledObject", "worker"],
        name,
        &["finalizer.keda.sh"],
    );
    deleted(cluster, "scaledobjects", &held)
}

fn object_of_an_operator_that_is_off(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let finalizer = "deletion.finalizers.rabbitmqclusters.rabbitmq.com";
    let held = object(
        ["rabbitmq.com/v1beta1", "RabbitmqCluster", "orders"],
        name,
        &[finalizer],
    );
    deleted(cluster, "rabbitmqclusters", &held)
}

/// The operator itself put its finalizer on.
fn object_that_a_running_operator_leaves_alone(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let mould = object(["idle.example-vendor.io/v1", "Mould", "m"], name, &[]);
    cluster.apply(&with(mould, [("spec", json!({"size": 1}))]).to_string());
    let held = json!({"metadata": {"finalizers": ["idle.example-vendor.io/clean"]}});
    let target = "moulds.idle.example-vendor.io/m";
    cluster.patch_by("idle-operator", [target, "--namespace", name], &held);
    cluster.delete(target, name);
    cluster.deleted_earlier(&format!("idle.example-vendor.io/moulds/{name}/m"), 7200);
    [target.to_owned(), name.to_owned()]
}

fn guest_on_a_silent_node(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    super::node(cluster, name, "Unknown");
    let finalizer = "kubevirt.io/foregroundDeleteVirtualMachine";
    let guest = object(
        ["kubevirt.io/v1", "VirtualMachineInstance", "guest"],
        name,
        &[finalizer],
    );
    let status = json!({"nodeName": name, "phase": "Running"});
    deleted(
        cluster,
        "virtualmachineinstances",
        &with(guest, [("status", status)]),
    )
}
