//! An API group that does not answer stops the deletion of every namespace.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{condition, delete, goes, release, told, told_to},
    },
    harness::Cluster,
    stuck::dead_api_group,
};

#[test]
fn an_unavailable_api_group_stops_every_namespace() {
    let cluster = &Cluster::start();
    dead_api_group(cluster);
    for name in ["one", "two"] {
        cluster.kubectl(["create", "namespace", name]).success();
        delete(cluster, &format!("ns/{name}"), "");
        condition(cluster, name, "NamespaceDeletionDiscoveryFailure", "True");
    }
    let story = told(cluster, "ns/one", "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("APIService v1beta1.metrics.k8s.io: API group metrics.k8s.io/v1beta1 does not answer")
        .says("ServiceNotFound")
        .says("Discovery failed for some groups, 1 failing")
        .never_advises("/finalize")
        .is_careful();
    assert_eq!(story.roots().len(), 1, "{story}");
    withstands_less(cluster, "ns/one", "", for_all_types(cluster));

    // Only the namespace can be read. What discovery reports is still true.
    let reader = cluster.user("poor").may("get", "namespaces").create();
    let story = told_to(cluster, &reader, "ns/one", "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("APIService v1beta1.metrics.k8s.io")
        .never_says("; nothing is left in it");

    // The namespace has finalizers in both lists, content, and the unavailable group. Each cause is named once.
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: both, finalizers: [controller.cattle.io/namespace-auth]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: both, finalizers: [example.test/keep]}}",
    );
    delete(cluster, "ns/both", "");
    condition(cluster, "both", "NamespaceFinalizersRemaining", "True");
    let story = told(cluster, "ns/both", "");
    // No name of Rancher exists here. That is one sign, and many controllers may change namespaces.
    assert_eq!(story.verdict("controller.cattle.io/namespace-auth"), "unknown");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    for cause in ["APIService v1beta1.metrics.k8s.io: ", "ConfigMap c: "] {
        let named = story
            .roots()
            .iter()
            .filter(|root| root.starts_with(cause))
            .count();
        assert_eq!(named, 1, "{cause}\n{story}");
    }
    story.is_careful().never_advises("finalizers finalize");

    told(cluster, "ns/two", "").follow(cluster, "kubectl delete apiservice/v1beta1.metrics.k8s.io");
    release(cluster, "configmap/c", "both");
    release(cluster, "ns/both", "");
    goes(cluster, "ns/both", "");
    goes(cluster, "ns/one", "");
    goes(cluster, "ns/two", "");
}
