//! The Pods beside an object whose operator runs and does not complain.

use serde_json::json;

use crate::explain::{
    custom_resources::{define, going, running},
    holder::WORLD,
    told::{delete, goes, release, told},
};

const FINALIZER: &str = "kilns.example-vendor.io/cool-down";

#[test]
fn a_pod_of_the_object_that_does_not_end_is_named() {
    let cluster = &*WORLD;
    let group = "kilns.example-vendor.io";
    define(group, "v1", "kilns", "Kiln");
    define(group, "v1", "yards", "Yard");
    running(
        "kiln-system",
        "kiln-operator",
        json!({"app": "kiln-operator"}),
        group,
    );
    let ns = cluster.namespace("kilns");
    let place = ns.name();
    let target = going(
        "kilns",
        &json!({"apiVersion": format!("{group}/v1"), "kind": "Kiln",
            "metadata": {"name": "east", "namespace": place, "finalizers": [FINALIZER],
                "labels": {format!("{group}/yard-name"): "north"}}, "spec": {"yards": ["south", "west"]}}),
        10,
    );
    let uid = ns.get([&*target]).unwrap()["metadata"]["uid"].clone();
    let owner = json!([{"apiVersion": format!("{group}/v1"), "kind": "Kiln", "name": "east", "uid": uid}]);
    // The other pod does not end either, but nothing shows that it was made for the object.
    for (name, owners) in [("fire", &owner), ("smoke", &json!([]))] {
        ns.apply(
            &json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "finalizers": ["example.test/hold"], "ownerReferences": owners},
                "spec": {"nodeName": cluster.node(), "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "c", "image": "i"}]}})
            .to_string(),
        );
        delete(cluster, &format!("pod/{name}"), place);
    }

    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    assert_eq!(story.page(FINALIZER), "operators/surroundings", "{story}");
    assert_eq!(story.blockers(), ["Pod fire"], "{story}");
    story
        .says("was made for it, is being deleted on")
        .never_advises("finalizers remove")
        .never_advises("finalizers nudge")
        .is_careful();
    story.follow(cluster, "explain pods/fire");

    release(cluster, "pod/fire", place);
    goes(cluster, "pod/fire", place);
    // What its labels and its lists name is told, if it is missing.
    let yard = |name: &str| {
        json!({"apiVersion": format!("{group}/v1"), "kind": "Yard", "metadata": {"name": name}}).to_string()
    };
    ns.apply(&yard("west"));
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
    story
        .never_says("was made for it")
        .says(&format!(
            "Its label {group}/yard-name names yards.{group}/north -n {place}, which does not exist"
        ))
        .says(&format!(
            "Its spec.yards[0] names yards.{group}/south -n {place}, which does not exist"
        ))
        .never_says("west -n");
    for name in ["north", "south"] {
        ns.apply(&yard(name));
    }
    told(cluster, &target, place).never_says("which does not exist");
    release(cluster, "pod/smoke", place);
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
