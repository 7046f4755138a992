//! A garbage collector that cannot list every type: before 1.31 it does not start, later it goes on with the
//! other types.

use crate::{
    explain::{
        api_machinery::conversion_webhook::type_without_its_conversion_webhook,
        less_is_weaker::{for_all_types, withstands_less},
        told::{goes, told},
    },
    harness::{Cluster, Options},
};

const FOREGROUND: &str = "foregroundDeletion";

fn owner_is_deleted(cluster: &Cluster) {
    cluster.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: old}}");
    cluster
        .kubectl([
            "delete",
            "configmap/owner",
            "--namespace=old",
            "--cascade=foreground",
            "--wait=false",
        ])
        .success();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn an_old_garbage_collector_stops_at_a_type_that_cannot_be_listed() {
    let cluster = &Cluster::with(&Options {
        // The controller waits for that type forever.
        controller_manager_args: &["--controllers=*,-garbage-collector-controller"],
        ..Options::default()
    });
    type_without_its_conversion_webhook(cluster);
    owner_is_deleted(cluster);
    // After such a short time no controller is late.
    told(cluster, "configmap/owner", "old").never_says("Service converter");
    cluster.deleted_earlier("configmaps/old/owner", 62);
    let story = told(cluster, "configmap/owner", "old");
    assert_eq!(story.verdict(FOREGROUND), "failing", "{story}");
    story
        .has_root("Service converter: does not exist")
        .says("conversion webhook")
        .never_advises("finalizers remove")
        .never_advises("--cascade")
        .is_careful();
    withstands_less(cluster, "configmap/owner", "old", 3 * for_all_types(cluster));
    // The type can be listed again. Now only the garbage collector holds the owner.
    story.follow(cluster, "strategy");
    let story = told(cluster, "configmap/owner", "old");
    assert_eq!(story.verdict(FOREGROUND), "stalled", "{story}");
    story
        .never_says("Service converter")
        .follow(cluster, "--cascade=background");
    goes(cluster, "configmap/owner", "old");
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_newer_garbage_collector_continues_without_that_type() {
    let cluster = &Cluster::start();
    type_without_its_conversion_webhook(cluster);
    owner_is_deleted(cluster);
    goes(cluster, "configmap/owner", "old");
}
