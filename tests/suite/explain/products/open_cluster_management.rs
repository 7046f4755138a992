//! Open Cluster Management: a managed cluster that is detached while its agent does not respond, add-ons, and
//! objects that stay on the managed cluster.

use serde_json::json;

use crate::explain::{
    custom_resources::{apply, define, define_in, going, running},
    holder::WORLD,
    less_is_weaker::withstands_less,
    told::{delete, goes, release, told},
};

/// The agent that applies a hub's work in its own cluster.
fn work_agent() {
    running(
        "open-cluster-management-agent",
        "klusterlet-work-agent",
        json!({"app": "klusterlet-manifestwork-agent"}),
        "work.open-cluster-management.io",
    );
}

#[test]
fn a_managed_cluster_waits_for_work_that_only_its_agent_can_end() {
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
    // The works of a managed cluster are in the namespace of its name.
    let target = going(
        "managedclusters",
        &json!({"apiVersion": format!("{group}/v1"), "kind": "ManagedCluster", "metadata": {"name": place, "finalizers": [finalizer]},
            "spec": {"hubAcceptsClient": true}}),
        10,
    );
    let story = told(cluster, &target, "");
    story
        .says("was made for it and is being deleted")
        .never_says("app-of-another")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, "", 30);
    story.follow(
        cluster,
        "explain manifestworks.work.open-cluster-management.io/app",
    );

    // Objects that the agent deployed keep running if the finalizer is removed by hand. A hub that manages
    // itself has an agent of the same name, which says nothing about the other.
    work_agent();
    let story = told(cluster, &deployed, place);
    assert_eq!(story.verdict(cleanup), "unknown", "{story}");
    story
        .says("in another cluster")
        .says("data-loss")
        .never_says("It runs")
        .never_says("It is gone")
        .never_advises("finalizers remove")
        .is_careful();
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

/// Add-ons on a hub that was removed, and the agent of a managed cluster without its operator.
#[test]
fn add_ons_and_agents_without_their_controllers_are_named() {
    let cluster = &*WORLD;
    let (addon, operator) = (
        "addon.open-cluster-management.io",
        "operator.open-cluster-management.io",
    );
    define(addon, "v1alpha1", "managedclusteraddons", "ManagedClusterAddOn");
    define_in("Cluster", operator, "v1", "klusterlets", "Klusterlet");
    let ns = cluster.namespace("spoke-addons");
    let place = ns.name();
    for (name, finalizer) in [
        (
            "observability",
            "addon.open-cluster-management.io/hosting-manifests-cleanup",
        ),
        ("search", "addon.open-cluster-management.io/addon-pre-delete"),
    ] {
        let target = going(
            "managedclusteraddons",
            &json!({"apiVersion": format!("{addon}/v1alpha1"), "kind": "ManagedClusterAddOn",
                "metadata": {"name": name, "namespace": place, "finalizers": [finalizer]}}),
            10,
        );
        let story = told(cluster, &target, place);
        // Each add-on has a manager of its own, which nothing names: that none was found proves nothing.
        assert_eq!(story.verdict(finalizer), "unknown", "{story}");
        story
            .says("the manager of the add-on, on the hub")
            .never_advises("finalizers remove")
            .is_careful();
        withstands_less(cluster, &target, place, 30);
        release(cluster, &target, place);
        goes(cluster, &target, place);
    }

    let finalizer = "operator.open-cluster-management.io/klusterlet-cleanup";
    let klusterlet = |name: &str| {
        json!({"apiVersion": format!("{operator}/v1"), "kind": "Klusterlet",
            "metadata": {"name": name, "finalizers": [finalizer]}, "spec": {"clusterName": place}})
    };
    let target = going("klusterlets", &klusterlet("klusterlet"), 10);
    let story = told(cluster, &target, "");
    assert_eq!(story.verdict(finalizer), "orphaned", "{story}");
    story
        .says("ORPHANED OBJECTS")
        .says("Restore the klusterlet operator")
        .is_careful();
    withstands_less(cluster, &target, "", 30);
    // Installed again, the controller does its work.
    running(
        "open-cluster-management",
        "klusterlet",
        json!({"app": "klusterlet"}),
        "operator.open-cluster-management.io",
    );
    let story = told(cluster, &target, "");
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story.says("It runs").never_advises("finalizers remove");
    release(cluster, &target, "");
    goes(cluster, &target, "");
}

/// On the managed cluster: an applied object is stuck, so its AppliedManifestWork is stuck too.
#[test]
fn applied_work_names_the_object_that_is_stuck() {
    let cluster = &*WORLD;
    let work = "work.open-cluster-management.io";
    define_in(
        "Cluster",
        work,
        "v1",
        "appliedmanifestworks",
        "AppliedManifestWork",
    );
    work_agent();
    let ns = cluster.namespace("applied");
    let place = ns.name();
    for (name, hold) in [("stuck", "[example.test/hold]"), ("fine", "[]")] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, finalizers: {hold}}}}}"
        ));
    }
    delete(cluster, "configmap/stuck", place);
    let finalizer = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
    let applied = |name: &str| json!({"group": "", "version": "v1", "resource": "configmaps", "namespace": place, "name": name, "uid": "1"});
    let target = going(
        "appliedmanifestworks",
        &json!({"apiVersion": format!("{work}/v1"), "kind": "AppliedManifestWork",
            "metadata": {"name": format!("hub-{place}"), "finalizers": [finalizer]},
            "spec": {"hubHash": "1", "manifestWorkName": "app"},
            "status": {"appliedResources": [applied("stuck"), applied("fine"), applied("gone")]}}),
        10,
    );
    let story = told(cluster, &target, "");
    assert_eq!(story.verdict(finalizer), "waiting", "{story}");
    story
        .has_root("ConfigMap stuck: was deployed by it, is being deleted, and is still there")
        .never_says("ConfigMap fine")
        .never_advises("remove appliedmanifestworks")
        .is_careful();
    withstands_less(cluster, &target, "", 45);
    story.follow(cluster, "kubectl finalizers explain configmaps/stuck");
    release(cluster, "configmap/stuck", place);
    goes(cluster, "configmap/stuck", place);
    told(cluster, &target, "").never_says("was deployed by it");
    release(cluster, &target, "");
    goes(cluster, &target, "");
}
