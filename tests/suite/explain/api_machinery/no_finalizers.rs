//! Objects in deletion that nothing holds.

use serde_json::Value;

use crate::{
    explain::told::{delete, goes, told},
    harness::Cluster,
    stuck::custom_type,
};

const GROUP: &str = "husks.example.test";

#[test]
fn an_object_that_nothing_holds_is_deleted_once_more() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("unheld");
    custom_type(cluster, GROUP, "husks", "Husk");
    ns.apply(&format!(
        "{{apiVersion: {GROUP}/v1, kind: Husk, metadata: {{name: last, finalizers: [example.test/keep]}}}}"
    ));
    let target = format!("husks.{GROUP}/last");
    delete(cluster, &target, ns.name());
    told(cluster, &target, ns.name()).never_says("no finalizer and no grace period");

    // The update that removes the last finalizer also deletes the object. So it looks where that failed.
    let key = format!("{GROUP}/husks/{}/last", ns.name());
    let stored = cluster.stored(&key).expect("it is stored");
    let mut stored: Value = serde_json::from_slice(&stored).expect("custom resources are stored as JSON");
    let metadata = stored["metadata"].as_object_mut().expect("it has metadata");
    metadata.remove("finalizers").expect("it has a finalizer");
    cluster.store(&key, stored.to_string().as_bytes());

    let story = told(cluster, &target, ns.name());
    assert_eq!(story.verdict(""), "stalled", "{story}");
    assert_eq!(story.page(""), "api_machinery/no_finalizers", "{story}");
    story
        .says("no finalizer and no grace period")
        .never_advises("finalizers remove")
        .is_careful();
    assert_eq!(story.first_label(), "safe", "{story}");
    story.follow(cluster, "kubectl delete");
    goes(cluster, &target, ns.name());
}
