//! KubeVirt, removed in the wrong order: two causes at once. One of them stops every namespace of the cluster.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{condition, delete, goes, told},
    },
    harness::Cluster,
    stuck::custom_type,
};

#[test]
fn an_unavailable_api_and_a_missing_operator_are_both_named() {
    let cluster = &Cluster::start();
    let finalizer = "foregroundDeleteKubeVirt";
    custom_type(cluster, "kubevirt.io", "kubevirts", "KubeVirt");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: kubevirt}}}}
---
{{apiVersion: kubevirt.io/v1, kind: KubeVirt, metadata: {{name: kubevirt, namespace: kubevirt, finalizers: [{finalizer}]}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: v1alpha3.subresources.kubevirt.io}}
spec: {{group: subresources.kubevirt.io, version: v1alpha3, groupPriorityMinimum: 1000, versionPriority: 15, service: {{name: virt-api, namespace: kubevirt}}}}"
    ));
    delete(cluster, "ns/kubevirt", "");
    condition(cluster, "kubevirt", "NamespaceDeletionDiscoveryFailure", "True");
    condition(cluster, "kubevirt", "NamespaceFinalizersRemaining", "True");
    let story = told(cluster, "ns/kubevirt", "");
    assert_eq!(story.verdict("kubernetes"), "waiting", "{story}");
    story
        .has_root("APIService v1alpha3.subresources.kubevirt.io")
        .says("KubeVirt")
        .never_advises("/finalize")
        .is_careful();
    let named = |text: &str| story.roots().iter().any(|root| root.contains(text));
    assert!(named("KubeVirt kubevirt"), "{story}");
    withstands_less(cluster, "ns/kubevirt", "", 2 * for_all_types(cluster));

    let object = told(cluster, "kubevirts.kubevirt.io/kubevirt", "kubevirt");
    assert_eq!(object.verdict(finalizer), "orphaned", "{object}");
    object.says("ORPHANED OBJECTS").never_says("It runs").is_careful();

    // First fix the API that stops all namespaces, then remove this finalizer.
    story.follow(cluster, "delete apiservice/v1alpha3.subresources.kubevirt.io");
    told(cluster, "kubevirts.kubevirt.io/kubevirt", "kubevirt").follow(cluster, "finalizers remove");
    goes(cluster, "kubevirts.kubevirt.io/kubevirt", "kubevirt");
    goes(cluster, "ns/kubevirt", "");
}
