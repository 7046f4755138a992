//! Open Cluster Management: a managed cluster that is detached while nobody answers there.

use serde_json::json;

use super::{apply, define, define_in, going, running};
use crate::explain::{
    holder::WORLD,
    taken_away::withstands_less,
    told::{delete, goes, release, told},
};

#[test]
fn a_managed_cluster_with_work_that_only_the_other_side_can_end() {
    let cluster = &*WORLD;
    let (group, work) = (
        "cluster.open-cluster-management.io",
        "work.open-cluster-management.io",
    );
    define_in("Cluster", group, "v1", "managedclusters", "ManagedCluster");
    define(work, "v1", "manifestworks", "ManifestWork");
    running(
        "multicluster-engine",
        "managedcluster-import-controller-v2",
        json!({"name": "managedcluster-import-controller-v2"}),
        "cluster.open-cluster-management.io",
    );
    let (ns, other) = (cluster.namespace("spoke"), cluster.namespace("spoke"));
    let place = ns.name();
    let cleanup = "cluster.open-cluster-management.io/manifest-work-cleanup";
    let piece = |name: &str, place: &str| json!({"apiVersion": format!("{work}/v1"), "kind": "ManifestWork", "metadata": {"name": name, "namespace": place, "finalizers": [cleanup]}});
    let deployed = going("manifestworks", &piece("app", place), 10);
    apply(&piece("app-of-another", other.name()));
    let finalizer = "managedcluster-import-controller.open-cluster-management.io/manifestwork-cleanup";
    // Its works are in the namespace that is called like it.
    let target = going(
        "managedclusters",
        &json!({"apiVersion": format!("{group}/v1"), "kind": "ManagedCluster", "metadata": {"name": place, "finalizers": [finalizer]},
            "spec": {"hubAcceptsClient": true}}),
        10,
    );
    let story = told(cluster, &target, "");
    story
        .says("was made for it, is being deleted")
        .never_says("app-of-another")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, "", 30);
    story.follow(
        cluster,
        "explain manifestworks.work.open-cluster-management.io app",
    );

    // What the agent over there has deployed keeps running if this is cut.
    let story = told(cluster, &deployed, place);
    assert!(
        ["unknown", "orphaned"].contains(&story.verdict(cleanup)),
        "{story}"
    );
    story.says("orphaned objects").never_says("It runs").is_careful();
    withstands_less(cluster, &deployed, place, 30);
    release(cluster, &deployed, place);
    goes(cluster, &deployed, place);
    told(cluster, &target, "").never_says("was made for it");
    release(cluster, &target, "");
    goes(cluster, &target, "");
    let name = "manifestworks.work.open-cluster-management.io/app-of-another";
    delete(cluster, name, other.name());
    release(cluster, name, other.name());
}
