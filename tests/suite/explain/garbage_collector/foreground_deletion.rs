//! Owners that wait for their dependents, with a garbage collector that works, is rejected, or does not run.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::STOPPED;
use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less, withstands_real_rights},
        replayed::replayed,
        told::{SOON, delete, goes, is_going, release, told, told_to},
    },
    harness::{Cluster, Namespace, wait},
};

const FOREGROUND: &str = "foregroundDeletion";

fn uid(object: &Value) -> &Value {
    &object["metadata"]["uid"]
}

/// Creates a Secret with this owner and a finalizer.
pub fn owned(ns: &Namespace, name: &str, owner: &Value, blocks: bool) {
    let owner = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": uid(owner), "blockOwnerDeletion": blocks});
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "finalizers": ["example.test/hold"], "ownerReferences": [owner]}});
    ns.apply(&secret.to_string());
}

#[test]
fn an_owner_waits_for_exactly_its_blocking_dependents() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("owned");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}");
    let owner = ns.get(["configmap", "owner"]).unwrap();
    owned(&ns, "blocks", &owner, true);
    owned(&ns, "does-not", &owner, false);
    ns.delete_with("foreground", "configmap/owner");
    wait(
        "the garbage collector deletes the blocking dependents",
        SOON,
        || is_going(&ns, "secret/blocks"),
    );

    let story = told(cluster, "configmap/owner", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "waiting");
    story
        .has_root("Secret blocks: being deleted, held by example.test/hold")
        .never_says("does-not")
        .never_advises("patch")
        .never_advises("--cascade")
        .is_careful();
    assert_eq!(story.roots().len(), 1, "{story}");
    replayed(cluster, "configmap/owner", ns.name());
    withstands_real_rights(cluster, "configmap/owner", ns.name(), for_all_types(cluster));

    // A user who may not list Secrets is not told that none exist.
    let blind = cluster
        .user("no-secrets")
        .may("get,list", "configmaps,pods,events,leases.coordination.k8s.io")
        .create();
    let story = told_to(cluster, &blind, "configmap/owner", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "unknown");
    assert!(story.unread().contains("secrets"), "{story}");

    told(cluster, "configmap/owner", ns.name()).follow(cluster, "explain secrets/blocks");
    release(cluster, "secret/blocks", ns.name());
    goes(cluster, "configmap/owner", ns.name());
    release(cluster, "secret/does-not", ns.name());
}

#[test]
fn a_chain_of_owners_ends_at_its_last_dependent() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("chain");
    ns.apply(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}, finalizers: [example.test/drain]}, spec: {containers: [{name: c, image: i}]}}}}",
    );
    // kubectl prints nothing for an empty list.
    let pods = || ns.get(["pods"]).unwrap_or_default()["items"].clone();
    wait("the pod exists", SOON, || pods()[0].is_object());
    let pod = pods()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    ns.delete_with("foreground", "deployment/web");
    wait("its pod is deleted", SOON, || {
        is_going(&ns, &format!("pod/{pod}"))
    });

    let story = told(cluster, "deployment/web", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "waiting");
    story
        .says("being deleted, held by foregroundDeletion")
        .says("held by example.test/drain")
        .never_advises("patch")
        .is_careful();
    assert!(
        story
            .roots()
            .iter()
            .all(|root| root.starts_with(&format!("Pod {pod}"))),
        "{story}"
    );
    release(cluster, &format!("pod/{pod}"), ns.name());
    goes(cluster, "deployment/web", ns.name());
}

#[test]
fn a_cluster_scoped_owner_has_dependents_in_all_namespaces() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("far");
    let class = cluster.unique("far-class");
    cluster.apply(&format!(
        "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {class}}}, value: 1}}"
    ));
    let owner = cluster.get(["priorityclass", &class]).unwrap();
    owned(&ns, "far", &owner, true);
    let target = format!("priorityclass/{class}");
    cluster
        .kubectl(["delete", &target, "--cascade=foreground", "--wait=false"])
        .success();
    wait(
        "the garbage collector deletes the blocking dependents",
        SOON,
        || is_going(&ns, "secret/far"),
    );
    let story = told(cluster, &target, "");
    assert_eq!(story.verdict(FOREGROUND), "waiting");
    story.has_root("Secret far: being deleted, held by example.test/hold");
    story.follow(cluster, &format!("explain secrets/far -n {}", ns.name()));
    replayed(cluster, &target, "");
    release(cluster, "secret/far", ns.name());
    goes(cluster, &target, "");
}

#[test]
fn a_stopped_garbage_collector_is_named() {
    let cluster = &*STOPPED;
    let ns = cluster.namespace("halted");
    for name in ["waiting", "empty"] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}"
        ));
    }
    owned(
        &ns,
        "asked-by-nobody",
        &ns.get(["configmap", "waiting"]).unwrap(),
        true,
    );
    ns.delete_with("foreground", "configmap/waiting");
    ns.delete_with("foreground", "configmap/empty");

    // After such a short time no controller is late.
    for target in ["configmap/empty", "configmap/waiting"] {
        let story = told(cluster, target, ns.name());
        assert_eq!(story.verdict(FOREGROUND), "waiting");
        story.never_advises("--cascade").never_advises("patch");
    }
    for name in ["waiting", "empty"] {
        cluster.deleted_earlier(&format!("configmaps/{}/{name}", ns.name()), 62);
    }

    let story = told(cluster, "configmap/waiting", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "stalled");
    story
        .has_root("Secret asked-by-nobody: not being deleted yet")
        .says("none of its dependents is being deleted")
        .never_advises("--cascade")
        .is_careful();
    withstands_less(cluster, "configmap/waiting", ns.name(), for_all_types(cluster));

    let story = told(cluster, "configmap/empty", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "stalled");
    story.says("none is left").is_careful();
    replayed(cluster, "configmap/empty", ns.name());
    withstands_less(cluster, "configmap/empty", ns.name(), 3 * for_all_types(cluster));
    story.follow(cluster, "--cascade=background");
    goes(cluster, "configmap/empty", ns.name());

    delete(cluster, "secret/asked-by-nobody", ns.name());
    release(cluster, "secret/asked-by-nobody", ns.name());
}

#[test]
fn what_is_made_again_and_again_ends_with_the_second_deletion_that_is_advised() {
    let cluster = &*STOPPED;
    let ns = cluster.namespace("round");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}");
    let owner = ns.get(["configmap", "owner"]).unwrap();
    ns.delete_with("foreground", "configmap/owner");
    cluster.deleted_earlier(&format!("configmaps/{}/owner", ns.name()), 240);
    for name in ["made", "made-too"] {
        owned(&ns, name, &owner, true);
    }
    let story = told(cluster, "configmap/owner", ns.name());
    assert_eq!(story.verdict(FOREGROUND), "waiting");
    story
        .says("this does not end by itself")
        .says("field manager")
        .is_careful();
    story.follow(cluster, "--cascade=background");
    goes(cluster, "configmap/owner", ns.name());
    for name in ["secret/made", "secret/made-too"] {
        delete(cluster, name, ns.name());
        release(cluster, name, ns.name());
    }
}

#[test]
fn a_second_deletion_in_the_foreground_deletes_first_what_the_object_owns() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("again");
    ns.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, finalizers: [example.test/waits-for-its-own]}}",
    );
    let owner = ns.get(["configmap", "owner"]).unwrap();
    for (name, blocks) in [("blocks", true), ("does-not", false)] {
        owned(&ns, name, &owner, blocks);
        release(cluster, &format!("secret/{name}"), ns.name());
    }
    ns.delete_with("background", "configmap/owner");
    thread::sleep(Duration::from_secs(2));
    assert!(!is_going(&ns, "secret/blocks"), "its owner is not gone");

    ns.delete_with("foreground", "configmap/owner");
    goes(cluster, "secret/blocks", ns.name());
    goes(cluster, "secret/does-not", ns.name());
    let finalizers = || ns.get(["configmap/owner"]).unwrap()["metadata"]["finalizers"].clone();
    wait("the garbage collector lets go", SOON, || {
        finalizers() == json!(["example.test/waits-for-its-own"])
    });
    release(cluster, "configmap/owner", ns.name());
}
