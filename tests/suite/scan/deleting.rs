//! Every object in deletion is found, with what holds it and for how long.

use std::{thread, time::Duration};

use serde_json::json;

use super::{held, json, names, namespace_for_pods, terminating};
use crate::{
    harness::{Cluster, is_since, wait},
    stuck::custom_type,
};

#[test]
fn an_object_with_a_finalizer_is_stuck_since_its_deletion_request() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("held");
    held(&ns, "kept", "example.com/hold");
    thread::sleep(Duration::from_secs(2));
    let report = json(cluster.plugin(["scan", "-n", ns.name(), "-o", "json"]));
    let kept = terminating(&report, "configmaps/kept");
    assert_eq!(
        kept["finalizers"],
        json!([{"list": "metadata", "name": "example.com/hold"}])
    );
    assert_eq!(
        kept["reason"],
        "waits until example.com/hold is removed; not in the catalogue"
    );
    assert_eq!(kept["deletion"]["inGracePeriod"], false);
    let seconds = kept["deletion"]["forSeconds"].as_i64().unwrap();
    assert!((2..60).contains(&seconds), "{kept:#}");
    let real = ns.get(["configmap", "kept"]).unwrap();
    assert_eq!(kept["uid"], real["metadata"]["uid"]);
    assert_eq!(
        kept["deletion"]["deletionTimestamp"],
        real["metadata"]["deletionTimestamp"]
    );
    assert_eq!(report["totals"]["stuck"], 1);
    assert_eq!(report["complete"], true);
}

/// A Node, and a Pod on it that no kubelet stops.
fn pod_on_a_node(cluster: &Cluster, ns: &crate::harness::Namespace, grace: u32) {
    let node = cluster.node();
    ns.apply(&format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  nodeName: {node}
  terminationGracePeriodSeconds: {grace}
  containers: [{{name: web, image: example.com/web}}]
"
    ));
    ns.patch_status(["pod", "web"], &json!({"phase": "Running"}));
    ns.kubectl(["delete", "pod", "web", "--wait=false"]).success();
}

#[test]
fn a_pod_in_its_grace_period_is_slow_and_not_stuck() {
    let cluster = Cluster::shared();
    let ns = namespace_for_pods(cluster, "graceful");
    pod_on_a_node(cluster, &ns, 3600);
    let out = cluster.plugin(["scan", "-n", ns.name(), "--exit-code"]).run();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .contains("Nothing is stuck.\n\n   SLOW      1 object in the grace period, not stuck."),
        "{out}"
    );
    assert!(out.stdout.contains("slow, not stuck"), "{out}");

    let report = json(cluster.plugin(["scan", "-n", ns.name(), "-o", "json"]));
    let deletion = &terminating(&report, "pods/web")["deletion"];
    assert_eq!(deletion["inGracePeriod"], true);
    assert_eq!(deletion["gracePeriodSeconds"], 3600);
    assert!(deletion["forSeconds"].as_i64().unwrap() < 60, "{deletion:#}");
    assert_eq!(report["totals"]["stuck"], 0);
}

#[test]
fn a_pod_past_its_grace_period_is_stuck_without_any_finalizer() {
    let cluster = Cluster::shared();
    let ns = namespace_for_pods(cluster, "dead-node");
    pod_on_a_node(cluster, &ns, 1);
    thread::sleep(Duration::from_secs(3));
    let out = cluster.plugin(["scan", "-n", ns.name(), "--exit-code"]).run();
    assert_eq!(out.code, 4, "{out}");
    assert!(out.stdout.contains("1. NOT READY node/"), "{out}");
    assert!(
        out.stdout.contains(&format!("     pod/web -n {}  ", ns.name())),
        "{out}"
    );
    let report = json(cluster.plugin(["scan", "-n", ns.name(), "-o", "json"]));
    let pod = terminating(&report, "pods/web");
    assert_eq!(pod["finalizers"], json!([]));
    assert_eq!(report["totals"]["stuck"], 1);
}

#[test]
fn a_namespace_says_which_finalizer_list_holds_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("two-lists");
    held(&ns, "inside", "example.com/hold");
    let name = ns.name();
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, finalizers: [example.com/keep]}}}}"
    ));
    cluster
        .kubectl(["delete", "namespace", name, "--wait=false"])
        .success();

    let report = json(cluster.plugin(["scan", "-n", name, "-o", "json"]));
    let namespace = terminating(&report, &format!("namespaces/{name}"));
    assert_eq!(
        namespace["finalizers"],
        json!([{"list": "metadata", "name": "example.com/keep"}, {"list": "spec", "name": "kubernetes"}])
    );
    assert_eq!(
        namespace["left"]["configmaps"], 2,
        "with kube-root-ca.crt: {namespace:#}"
    );
    let reason = namespace["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("waits for what is being deleted in it: 1 configmaps"),
        "{reason}"
    );
    let wide = cluster.plugin(["scan", "-n", name, "-o", "wide"]).run().success();
    assert!(wide.contains("example.com/keep, spec: kubernetes"), "{wide}");

    // Once the namespace is empty, only the other list is left.
    ns.kubectl([
        "patch",
        "configmap",
        "inside",
        "--type=merge",
        "--patch={\"metadata\":{\"finalizers\":null}}",
    ])
    .success();
    wait("its content is gone", Duration::from_secs(90), || {
        let namespace = cluster
            .get(["namespace", name])
            .expect("the namespace has its own finalizer");
        namespace["spec"]["finalizers"].is_null()
    });
    let report = json(cluster.plugin(["scan", "-n", name, "-o", "json"]));
    let namespace = terminating(&report, &format!("namespaces/{name}"));
    assert_eq!(
        namespace["finalizers"],
        json!([{"list": "metadata", "name": "example.com/keep"}])
    );
    assert_eq!(
        namespace["reason"],
        "waits until example.com/keep is removed; not in the catalogue"
    );
}

#[test]
fn pods_are_found_although_the_conditions_report_no_content() {
    let cluster = Cluster::shared();
    let ns = namespace_for_pods(cluster, "lying");
    ns.apply(
        "
apiVersion: v1
kind: Pod
metadata: {name: stubborn, finalizers: [example.com/hold]}
spec: {containers: [{name: a, image: example.com/a}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: after-the-pods}}
",
    );
    let name = ns.name();
    cluster
        .kubectl(["delete", "namespace", name, "--wait=false"])
        .success();
    // Since 1.33 pods are deleted first, and the conditions count what is left before them.
    let (said, others, reason) = if is_since(33) {
        (
            "All content successfully removed",
            json!(2),
            "waits for what is being deleted in it: 1 pods;",
        )
    } else {
        (
            "Some resources are remaining: pods. has 1 resource instances",
            json!(null),
            "waits for what is being deleted in it: 1 pods",
        )
    };
    wait(
        "the conditions of the namespace tell of its content",
        Duration::from_secs(60),
        || {
            let namespace = cluster.get(["namespace", name]).expect("the pod is held");
            let conditions = namespace["status"]["conditions"].as_array();
            conditions.is_some_and(|conditions| {
                conditions.iter().any(|condition| {
                    condition["type"] == "NamespaceContentRemaining" && condition["message"] == said
                })
            })
        },
    );

    let report = json(cluster.plugin(["scan", "-n", name, "-o", "json"]));
    let namespace = terminating(&report, &format!("namespaces/{name}"));
    assert_eq!(namespace["left"]["pods"], 1);
    let left = &namespace["left"]["configmaps"];
    assert_eq!(
        left, &others,
        "since 1.33 nothing but pods is asked to go: {namespace:#}"
    );
    let told = namespace["reason"].as_str().unwrap();
    assert!(told.starts_with(reason), "{told}");
    let pod = terminating(&report, "pods/stubborn");
    assert_eq!(
        pod["reason"],
        "waits until example.com/hold is removed; not in the catalogue"
    );
    // A scan of one namespace does not list its content. The diagnosis does, unless other tests have left too
    // many namespaces.
    let report = json(cluster.plugin(["scan", "namespaces", "-o", "json"]));
    let namespace = terminating(&report, &format!("namespaces/{name}"));
    let said = namespace["reason"].as_str().unwrap();
    let looked = format!("waits for pod/stubborn -n {name}: being deleted, held by example.com/hold");
    // Before 1.33 its conditions tell of the pod, and need no look.
    let not_looked = if is_since(33) {
        format!("what is left in it was not asked for; kubectl finalizers scan -n {name} shows it")
    } else {
        "NamespaceContentRemaining: Some resources are remaining: pods. has 1 resource instances".to_owned()
    };
    assert!(
        said == looked || (said == not_looked && (report["notLookedAt"] != 0 || !is_since(33))),
        "{said}"
    );
    // The same in a scan of the whole cluster.
    let report = json(cluster.plugin(["scan", "pods,configmaps,namespaces", "-o", "json"]));
    assert_eq!(
        terminating(&report, &format!("namespaces/{name}"))["left"]["pods"],
        1
    );
}

#[test]
fn a_type_in_deletion_is_still_read_with_the_object_that_holds_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("going-type");
    let group = format!("{}.example.com", cluster.unique("going"));
    custom_type(cluster, &group, "things", "Thing");
    ns.apply(&format!(
        "{{apiVersion: {group}/v1, kind: Thing, metadata: {{name: last, finalizers: [example.com/hold]}}}}"
    ));
    let (ty, crd) = (
        format!("things.{group}"),
        format!("customresourcedefinitions.apiextensions.k8s.io/things.{group}"),
    );
    cluster.kubectl(["delete", "crd", &ty, "--wait=false"]).success();
    wait("the object is in deletion", Duration::from_secs(60), || {
        let thing = ns
            .get([ty.as_str(), "last"])
            .expect("the object has its finalizer");
        thing["metadata"]["deletionTimestamp"].is_string()
    });

    let report = json(cluster.plugin(["scan", "crd", &ty, "-o", "json"]));
    let kept = terminating(&report, &crd);
    assert_eq!(
        kept["finalizers"],
        json!([{"list": "metadata", "name": "customresourcecleanup.apiextensions.k8s.io"}])
    );
    assert_eq!(
        terminating(&report, &format!("{ty}/last"))["namespace"],
        ns.name()
    );
}

#[test]
fn events_count_once_although_two_groups_serve_them() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("events");
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Event, metadata: {{name: once, finalizers: [example.com/seen]}},
          involvedObject: {{kind: Namespace, name: {0}, namespace: {0}}}, reason: Test, type: Normal}}",
        ns.name()
    ));
    let report = json(cluster.plugin(["scan", "-n", ns.name(), "--all", "-o", "json"]));
    let events: Vec<_> = names(&report, "objects")
        .into_iter()
        .filter(|name| name.contains("/once"))
        .collect();
    assert_eq!(events, ["events/once"]);
    // Either name selects the same, also in exclusions.
    for word in ["events", "ev", "events.events.k8s.io", "events.v1.events.k8s.io"] {
        let report = json(cluster.plugin(["scan", word, "-n", ns.name(), "--all", "-o", "json"]));
        assert_eq!(names(&report, "objects"), ["events/once"], "{word}");
        assert_eq!(report["notes"], json!([]), "{word}");
        let report =
            json(cluster.plugin(["scan", "--exclude", word, "-n", ns.name(), "--all", "-o", "json"]));
        assert!(
            !names(&report, "objects").contains(&"events/once".to_owned()),
            "{word}"
        );
    }
}

#[test]
fn computed_objects_do_not_count() {
    let cluster = Cluster::shared();
    let listed = cluster
        .kubectl(["get", "componentstatuses", "--output=name"])
        .success();
    assert!(!listed.is_empty(), "the server does compute some");
    let report = json(cluster.plugin(["scan", "componentstatuses", "-o", "json"]));
    assert_eq!(
        report["totals"],
        json!({"types": 1, "objects": 0, "stuck": 0, "leftBehind": 0})
    );
}
