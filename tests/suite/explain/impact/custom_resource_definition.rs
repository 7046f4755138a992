//! Types with objects, and a type without.

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{goes, release, told},
    },
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
