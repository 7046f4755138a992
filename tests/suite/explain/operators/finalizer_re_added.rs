//! A finalizer that a controller or a manifest adds again, before and after the deletion.

use serde_json::json;

use crate::{
    explain::{
        custom_resources::{condition, define, going, status},
        holder::WORLD,
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{delete, goes, release, told},
    },
    harness::{Cluster, Namespace},
};

const GROUP: &str = "datasciencecluster.opendatahub.io";
const FINALIZER: &str = "datasciencecluster.opendatahub.io/finalizer";

/// An object whose finalizer was removed, and is back since its manifest was applied again.
pub fn applied_again(cluster: &Cluster, ns: &Namespace) -> String {
    let manifest = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "DataScienceCluster",
        "metadata": {"name": "default", "namespace": ns.name(), "finalizers": [FINALIZER]}});
    let file = cluster.directory().join(format!("comes-back-{}.json", ns.name()));
    std::fs::write(&file, manifest.to_string()).unwrap();
    // The application controller does this whenever the object differs from Git.
    let sync = || {
        cluster
            .kubectl([
                "apply",
                "--server-side",
                "--force-conflicts",
                "--field-manager=argocd-controller",
                &format!("--filename={}", file.display()),
            ])
            .success();
    };
    let target = format!("datascienceclusters.{GROUP}/default");
    let finalizers = || ns.get([&*target]).unwrap()["metadata"]["finalizers"].clone();
    sync();
    release(cluster, &target, ns.name());
    assert!(finalizers().is_null());
    sync();
    assert_eq!(finalizers()[0], FINALIZER, "it came back");
    target
}

#[test]
fn a_manifest_that_is_applied_repeatedly_is_named() {
    let cluster = &*WORLD;
    define(GROUP, "v1", "datascienceclusters", "DataScienceCluster");
    let ns = cluster.namespace("odh");
    let place = ns.name();
    let target = applied_again(cluster, &ns);

    let story = told(cluster, &target, place);
    story
        .says("argocd-controller puts datasciencecluster.opendatahub.io/finalizer on again")
        .says("Delete the object first")
        .never_advises("finalizers remove")
        .is_careful();
    replayed(cluster, &target, place);
    withstands_less(cluster, &target, place, 26);

    // With the application deleted first, the finalizer does not come back.
    delete(cluster, &target, place);
    told(cluster, &target, place).never_says("puts datasciencecluster");
    let patch = r#"[{"op":"remove","path":"/metadata/finalizers/0"}]"#;
    ns.kubectl(["patch", &target, "--type=json", "--patch", patch])
        .success();
    goes(cluster, &target, place);
}

#[test]
fn a_controller_that_adds_the_finalizer_during_deletion_is_named() {
    let cluster = &*WORLD;
    let group = "policies.example-vendor.io";
    define(group, "v1", "guards", "Guard");
    let ns = cluster.namespace("guards");
    let place = ns.name();
    let target = going(
        "guards",
        &json!({"apiVersion": format!("{group}/v1"), "kind": "Guard",
            "metadata": {"name": "g", "namespace": place, "finalizers": ["guards.example-vendor.io/other"]}}),
        10,
    );
    let back = "guards.example-vendor.io/cleanup";
    // These are the server's own words.
    let patch = json!({"metadata": {"finalizers": ["guards.example-vendor.io/other", back]}}).to_string();
    let refused = ns.kubectl(["patch", &target, "--type=merge", "--patch", &patch]);
    let said = refused.stderr.trim();
    assert!(
        said.contains("no new finalizers can be added if the object is being deleted"),
        "{refused}"
    );
    status(
        &target,
        place,
        &json!({"conditions": [condition("Ready", "False", "ReconcileError", said)]}),
    );
    let story = told(cluster, &target, place);
    story
        .says(&format!("somebody tries to put {back} back"))
        .says("it is off, and is not what holds the object")
        .says(&format!("patch against whoever puts {back} back"))
        .never_advises(back)
        .is_careful();
    withstands_less(cluster, &target, place, 26);
    let patch = r#"[{"op":"remove","path":"/metadata/finalizers/0"}]"#;
    ns.kubectl(["patch", &target, "--type=json", "--patch", patch])
        .success();
    goes(cluster, &target, place);
}
