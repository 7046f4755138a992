//! Types with objects, and a type without.

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told, told_to},
    },
    harness::Cluster,
    stuck::custom_type,
};

#[test]
fn a_definition_is_deleted_with_all_its_objects() {
    let cluster = &*WORLD;
    custom_type(cluster, "before.example.test", "boats", "Boat");
    let target = "crd/boats.before.example.test";
    let story = told(cluster, target, "");
    story.fates("harmless", "nothing else is lost");

    let (one, other) = (cluster.namespace("harbour"), cluster.namespace("sea"));
    let boat = |name: &str, more: &str| {
        format!("{{apiVersion: before.example.test/v1, kind: Boat, metadata: {{name: {name}{more}}}}}")
    };
    one.apply(&boat("moored", ""));
    other.apply(&boat(
        "afloat",
        ", finalizers: [boats.before.example.test/anchor]",
    ));
    let story = told(cluster, target, "");
    let places = format!("all objects of this type, in {}, {}: 2", one.name(), other.name());
    story
        .fates("destroyed", &places)
        .fates(
            "unknown",
            "1 boats.before.example.test with boats.before.example.test/anchor",
        )
        .never_says("It is gone")
        .is_careful();
    assert!(story.effects_with("stuck").is_empty(), "{story}");
    withstands_less(cluster, target, "", 12);

    story.follow(cluster, "-backup.yaml");
    let backup = cluster.directory().join("boats.before.example.test-backup.yaml");
    let backup = std::fs::read_to_string(backup).unwrap();
    assert!(
        backup.contains("name: moored") && backup.contains("name: afloat"),
        "{backup}"
    );
    release(cluster, "boats.before.example.test/afloat", other.name());
    story.follow(cluster, "delete boats.before.example.test --all");
    story.follow(cluster, "delete crd/boats.before.example.test");
    goes(cluster, target, "");
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
