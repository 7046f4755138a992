//! Karpenter and Cluster API: nodes that are not drained, and machines that still exist.

use serde_json::{Value, json};

use crate::{
    explain::{
        custom_resources::{apply, condition, define, define_in, going, running, status},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, release, told},
    },
    harness::{Namespace, wait},
};

const KARPENTER: &str = "karpenter.sh/termination";

fn pod(ns: &Namespace, name: &str, extra: &Value) {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"nodeName": "karpenter-a", "terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "i"}]}});
    for (field, value) in extra.as_object().into_iter().flatten() {
        for (key, value) in value.as_object().into_iter().flatten() {
            pod[field][key] = value.clone();
        }
    }
    ns.apply(&pod.to_string());
    let ready = json!([{"type": "Ready", "status": "True"}]);
    ns.patch_status(["pod", name], &json!({"phase": "Running", "conditions": ready}));
}

#[test]
fn a_node_that_karpenter_cannot_drain_names_its_pods() {
    let cluster = &*WORLD;
    define_in("Cluster", "karpenter.sh", "v1", "nodeclaims", "NodeClaim");
    running(
        "karpenter",
        "karpenter",
        json!({"app.kubernetes.io/name": "karpenter"}),
        "karpenter.sh",
    );
    let ns = cluster.namespace("drained");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "karpenter-a", "finalizers": [KARPENTER]},
        "spec": {"providerID": "aws:///eu-west-1a/i-0123456789abcdef0"}});
    apply(&node);
    pod(&ns, "api", &json!({}));
    pod(
        &ns,
        "train",
        &json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}),
    );
    pod(
        &ns,
        "agent",
        &json!({"spec": {"tolerations": [{"operator": "Exists"}]}}),
    );
    ns.apply(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: api}, spec: {minAvailable: 1, selector: {matchLabels: {app: api}}}}",
    );
    wait("the budget is counted", SOON, || {
        ns.get(["pdb", "api"]).unwrap()["status"]["currentHealthy"] == 1
    });
    delete(cluster, "node/karpenter-a", "");
    let claim = going(
        "nodeclaims",
        &json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "default-x7k2p", "finalizers": [KARPENTER]},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": {"nodeName": "karpenter-a", "providerID": "aws:///eu-west-1a/i-0123456789abcdef0"}}),
        10,
    );

    let story = told(cluster, "node/karpenter-a", "");
    assert_eq!(story.verdict(KARPENTER), "waiting", "{story}");
    story
        .has_root(
            "Pod api: cannot be evicted: PodDisruptionBudget api allows no disruption (1 of 1 healthy, 1 must be)",
        )
        .has_root("Pod train: is marked karpenter.sh/do-not-disrupt: it is never evicted, and waited for")
        .never_says("Pod agent")
        .never_advises("finalizers remove")
        .never_advises("--force")
        .is_careful();
    assert_eq!(story.roots().len(), 2, "{story}");
    withstands_less(cluster, "node/karpenter-a", "", 26);
    let story = told(cluster, &claim, "");
    assert_eq!(story.verdict(KARPENTER), "waiting", "{story}");
    story
        .has_root("Pod api: cannot be evicted")
        .says("its node is still there, and is being drained")
        .never_advises("finalizers remove");
    withstands_less(cluster, &claim, "", 30);
    story.follow(cluster, "kubectl finalizers explain nodes/karpenter-a");

    // The test does what the steps say about the Pods.
    let story = told(cluster, "node/karpenter-a", "");
    story.follow(cluster, "karpenter.sh/do-not-disrupt-");
    story.follow(cluster, "describe poddisruptionbudget/api");
    told(cluster, "node/karpenter-a", "").has_root("Pod train: is not evicted yet");
    for name in ["api", "train"] {
        delete(cluster, &format!("pod/{name}"), ns.name());
        goes(cluster, &format!("pod/{name}"), ns.name());
    }
    told(cluster, "node/karpenter-a", "").says("no pod is left that it waits for");
    release(cluster, "node/karpenter-a", "");
    goes(cluster, "node/karpenter-a", "");
    told(cluster, &claim, "").says("its node karpenter-a is gone");
    release(cluster, &claim, "");
    goes(cluster, &claim, "");
}

/// A Cluster with a Machine and its infrastructure, all in deletion, and a Machine of another Cluster.
fn cluster_with_machines(place: &str) -> [String; 3] {
    let labels = json!({"cluster.x-k8s.io/cluster-name": "prod"});
    let infra = "infrastructure.cluster.x-k8s.io/v1beta1";
    let machine = going(
        "machines",
        &json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
            "metadata": {"name": "prod-md-0", "namespace": place, "labels": labels, "finalizers": ["machine.cluster.x-k8s.io"]},
            "spec": {"clusterName": "prod", "infrastructureRef": {"apiVersion": infra, "kind": "AWSMachine", "name": "prod-md-0", "namespace": place}}}),
        10,
    );
    let aws = going(
        "awsmachines",
        &json!({"apiVersion": infra, "kind": "AWSMachine",
            "metadata": {"name": "prod-md-0", "namespace": place, "labels": labels, "finalizers": ["awsmachine.infrastructure.cluster.x-k8s.io"]}}),
        10,
    );
    apply(
        &json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
        "metadata": {"name": "other-md-0", "namespace": place, "labels": {"cluster.x-k8s.io/cluster-name": "other"}},
        "spec": {"clusterName": "other"}}),
    );
    let target = going(
        "clusters",
        &json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
            "metadata": {"name": "prod", "namespace": place, "finalizers": ["cluster.cluster.x-k8s.io"]}}),
        10,
    );
    [machine, aws, target]
}

#[test]
fn a_cluster_waits_for_its_machines() {
    let cluster = &*WORLD;
    let core = "cluster.x-k8s.io";
    define(core, "v1beta1", "clusters", "Cluster");
    define(core, "v1beta1", "machines", "Machine");
    define(
        "infrastructure.cluster.x-k8s.io",
        "v1beta1",
        "awsmachines",
        "AWSMachine",
    );
    running(
        "capi-system",
        "capi-controller-manager",
        json!({"cluster.x-k8s.io/provider": "cluster-api"}),
        core,
    );
    let ns = cluster.namespace("fleet");
    let place = ns.name();
    let [machine, aws, target] = cluster_with_machines(place);
    // The chain leads to the machine at the provider, and to its controller.
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict("cluster.cluster.x-k8s.io"), "waiting", "{story}");
    story
        .says("was made for it and is being deleted")
        .says("is named in its spec.infrastructureRef and is being deleted")
        .has_root("AWSMachine prod-md-0: is named in its spec.infrastructureRef")
        .never_says("other-md-0")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 60);
    story.follow(cluster, "explain machines.cluster.x-k8s.io/prod-md-0");

    // A paused Cluster pauses all its objects; another Cluster does not.
    apply(
        &json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "other", "namespace": place},
            "spec": {"paused": true}}),
    );
    told(cluster, &machine, place).never_says("left alone");
    let pause = r#"{"spec":{"paused":true}}"#;
    ns.kubectl(["patch", &target, "--type=merge", "--patch", pause])
        .success();
    let story = told(cluster, &machine, place);
    assert_eq!(story.verdict("machine.cluster.x-k8s.io"), "waiting", "{story}");
    story
        .has_root("Cluster prod: is marked to be left alone (spec.paused: true)")
        .says("DELETES WHAT IT STANDS FOR")
        .is_careful();
    withstands_less(cluster, &machine, place, 45);
    story.follow(cluster, "\"paused\":false");
    told(cluster, &machine, place).never_says("left alone");
    // One of several controllers owns it.
    ns.kubectl(["label", &machine, "cluster.x-k8s.io/watch-filter=east"])
        .success();
    let story = told(cluster, &machine, place);
    story
        .has_root("Machine prod-md-0: is left to one of several controllers")
        .says("grep -nF east")
        .never_advises("watch-filter-")
        .is_careful();
    ns.kubectl(["label", &machine, "cluster.x-k8s.io/watch-filter-"])
        .success();

    // A condition says that its credentials are gone.
    let said = "failed to retrieve kubeconfig secret: secrets \"prod-kubeconfig\" not found";
    status(
        &machine,
        place,
        &json!({"conditions": [condition("Ready", "False", "DeletionFailed", said)]}),
    );
    let story = told(cluster, &machine, place);
    // The condition is not the controller's own, because a person wrote it here. So it is quoted, and decides nothing.
    assert_eq!(story.verdict("machine.cluster.x-k8s.io"), "waiting", "{story}");
    story
        .has_root("Secret prod-kubeconfig: does not exist, and its controller complains of that")
        .has_root("AWSMachine prod-md-0")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &machine, place, 45);
    ns.kubectl(["create", "secret", "generic", "prod-kubeconfig"])
        .success();
    let story = told(cluster, &machine, place);
    story.never_says("does not exist");
    story.follow(
        cluster,
        "explain awsmachines.infrastructure.cluster.x-k8s.io/prod-md-0",
    );
    delete_in_order(place, [&machine, &aws, &target]);
}

/// The infrastructure object goes first; its controller is gone. The core controller runs and does the rest.
fn delete_in_order(place: &str, [machine, aws, target]: [&String; 3]) {
    let cluster = &*WORLD;
    let story = told(cluster, aws, place);
    assert_eq!(
        story.verdict("awsmachine.infrastructure.cluster.x-k8s.io"),
        "orphaned",
        "{story}"
    );
    story.says("LEAKED INFRASTRUCTURE").is_careful();
    story.follow(cluster, "finalizers remove");
    goes(cluster, aws, place);
    let roots = told(cluster, machine, place).roots();
    assert!(
        roots.iter().all(|root| !root.contains("AWSMachine")),
        "{roots:#?}"
    );
    release(cluster, machine, place);
    goes(cluster, machine, place);
    told(cluster, target, place).never_says("was made for it");
    release(cluster, target, place);
    goes(cluster, target, place);
}
