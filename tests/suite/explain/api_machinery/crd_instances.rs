//! Definitions whose instances are stuck.

use crate::{
    explain::{
        less_is_weaker::withstands_real_rights,
        told::{SOON, delete, goes, release, told, told_to},
    },
    harness::{Cluster, wait},
    stuck::custom_type,
};

#[test]
fn a_definition_waits_for_an_instance_in_another_namespace() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("gadgets");
    custom_type(cluster, "crds.example.test", "gadgets", "Gadget");
    ns.apply(
        "{apiVersion: crds.example.test/v1, kind: Gadget, metadata: {name: held, finalizers: [gadgets.example.test/clean]}}
---
{apiVersion: crds.example.test/v1, kind: Gadget, metadata: {name: free}}",
    );
    let (crd, gadgets) = ("crd/gadgets.crds.example.test", "gadgets.crds.example.test");
    delete(cluster, crd, "");
    wait("the other instance is deleted", SOON, || {
        ns.get([gadgets, "free"]).is_none()
    });

    let story = told(cluster, crd, "");
    assert_eq!(
        story.verdict("customresourcecleanup.apiextensions.k8s.io"),
        "waiting"
    );
    story
        .has_root("Gadget held: being deleted, held by gadgets.example.test/clean")
        .says("InstanceDeletion")
        .says("come back")
        .never_advises("patch")
        .is_careful();
    story.follow(cluster, "-backup.yaml");
    let backup = std::fs::read_to_string(cluster.directory().join(format!("{gadgets}-backup.yaml"))).unwrap();
    assert!(backup.contains("name: held"), "{backup}");
    story.follow(cluster, &format!("explain {gadgets}/held"));
    // Five requests search for a controller of the unknown finalizer, three for admission that would reject its
    // removal.
    withstands_real_rights(cluster, crd, "", 16);

    let blind = cluster
        .user("no-gadgets")
        .may("get,list", "customresourcedefinitions.apiextensions.k8s.io")
        .create();
    let story = told_to(cluster, &blind, crd, "");
    assert_eq!(
        story.verdict("customresourcecleanup.apiextensions.k8s.io"),
        "unknown"
    );
    assert!(story.unread().contains(gadgets), "{story}");

    release(cluster, &format!("{gadgets}/held"), ns.name());
    goes(cluster, crd, "");
}
