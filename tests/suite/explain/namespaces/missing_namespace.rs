//! Objects in a namespace that no longer exists.

use super::content_remaining::{widget, widgets};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{condition, delete, finalize_by_force, goes, release, told, told_to},
    },
    harness::Cluster,
};

#[test]
fn an_object_in_a_namespace_that_was_finalized_by_force() {
    let cluster = Cluster::shared();
    let name = cluster.unique("survivor");
    let widgets = widgets(cluster);
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}"
    ));
    cluster.apply(&widget(&name, "w"));
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, &name, "NamespaceFinalizersRemaining", "True");
    finalize_by_force(cluster, &name, "[]");
    goes(cluster, &format!("ns/{name}"), "");

    let target = format!("{widgets}/w");
    let story = told(cluster, &target, &name);
    story
        .has_root(&format!("Namespace {name}: does not exist"))
        .says("delete keys in etcd by hand")
        .never_advises("etcdctl")
        .is_careful();
    // Six requests search for a controller of the unknown finalizer.
    withstands_less(cluster, &target, &name, 15);

    // A user who may not read the namespace is not told that it is gone.
    let reader = cluster.user("no-namespaces").may("get,list", &widgets).create();
    let story = told_to(cluster, &reader, &target, &name);
    story.never_says("does not exist: it was finalized by force");
    assert!(story.unread().contains("namespaces"), "{story}");

    let story = told(cluster, &target, &name);
    replayed(cluster, &target, &name);
    story.follow(cluster, "kubectl create namespace");
    told(cluster, &target, &name).never_says("was finalized by force");
    release(cluster, &target, &name);
    goes(cluster, &target, &name);
    story.follow(cluster, "kubectl delete namespace");
    goes(cluster, &format!("ns/{name}"), "");
}
