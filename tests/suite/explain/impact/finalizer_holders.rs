//! Objects that go with another object, and the controllers that must remove their finalizers.

use serde_json::json;

use super::{WORLD, operator};
use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{release, told, told_to},
    },
    harness::Cluster,
    stuck::custom_type,
};

#[test]
fn a_controller_that_is_deleted_before_its_objects_leaves_them_stuck() {
    let cluster = &*WORLD;
    custom_type(cluster, "kafka.strimzi.io", "kafkatopics", "KafkaTopic");
    let topic = |name: &str, place: &str| {
        cluster.apply(
            &json!({"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaTopic", "metadata": {"name": name,
                "namespace": place, "labels": {"strimzi.io/cluster": "prod"}, "finalizers": ["strimzi.io/topic-operator"]}})
            .to_string(),
        );
    };
    let labels = json!({"app.kubernetes.io/name": "entity-operator", "strimzi.io/cluster": "prod"});
    operator("kafka", "prod-entity-operator", &labels);
    topic("payments", "kafka");
    let ns = cluster.namespace("topics");
    topic("elsewhere", ns.name());

    let story = told(cluster, "ns/kafka", "");
    story
        .fates("stuck", "which runs in kafka itself and goes first: payments")
        .fates("stuck", "1 kafkatopics.kafka.strimzi.io with strimzi.io/topic-operator. Nobody else was found who removes that: elsewhere")
        .is_careful();
    withstands_less(cluster, "ns/kafka", "", for_all_types(cluster) + 20);

    // The other namespace has only objects of another controller, which runs.
    let target = format!("ns/{}", ns.name());
    let story = told(cluster, &target, "");
    story.fates("released", "It runs");
    assert!(story.effects_with("stuck").is_empty(), "{story}");
    let words = [
        "scale",
        "deployment",
        "prod-entity-operator",
        "--namespace=kafka",
        "--replicas=0",
    ];
    cluster.kubectl(words).success();
    let story = told(cluster, &target, "");
    story.fates("stuck", "It was switched off");
    release(cluster, "kafkatopics.kafka.strimzi.io/elsewhere", ns.name());
    release(cluster, "kafkatopics.kafka.strimzi.io/payments", "kafka");
}

/// The search for controllers of finalizers is limited, and the explanation names the others.
#[test]
fn a_definition_with_more_finalizers_than_are_searched() {
    // Requests are counted, and other tests add objects that lead to more of them.
    let cluster = &Cluster::start();
    custom_type(cluster, "many.example.test", "parcels", "Parcel");
    let ns = cluster.namespace("parcels");
    let parcels = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            ns.apply(&format!(
                "{{apiVersion: many.example.test/v1, kind: Parcel, metadata: {{name: parcel-{number:02}, finalizers: \
                 [many.example.test/stamp-{number:02}]}}}}"
            ));
        }
    };
    let target = "crd/parcels.many.example.test";
    let asked = |name: &str| {
        let user = cluster.user(name).may("get,list", "*").create();
        let story = told_to(cluster, &user, target, "");
        (cluster.asked(name).len(), story)
    };
    parcels(0..1);
    let (one, _) = asked("asks-of-one-parcel");
    parcels(1..16);
    let (sixteen, story) = asked("asks-of-16-parcels");
    story.never_says("No more than");
    assert_eq!(story.effects_with("unknown").len(), 16, "{story}");
    // Only requests that serve all finalizers are sent.
    assert_eq!(one, sixteen);
    parcels(16..18);
    let (_, story) = asked("asks-of-18-parcels");
    story.fates(
        "unknown",
        "whether these would be removed is not known: many.example.test/stamp-16, many.example.test/stamp-17. No more than 16 \
         finalizers are looked into; kubectl finalizers scan --by holder looks into all: parcel-16 parcel-17",
    );
    assert_eq!(story.effects_with("unknown").len(), 17, "{story}");
    for number in 0..18 {
        release(
            cluster,
            &format!("parcels.many.example.test/parcel-{number:02}"),
            ns.name(),
        );
    }
}
