//! A definition without the version that its objects are stored in, and a definition that serves no version. A
//! type that cannot be listed stops the deletion of every namespace, so this test has a cluster of its own.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, condition, delete, goes, release, told},
    },
    harness::{Cluster, is_since, wait},
    stuck::custom_type,
};

const GROUP: &str = "versions.example.test";
const KEY: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Changes a definition with JSON patches.
#[track_caller]
pub fn patch(cluster: &Cluster, definition: &str, operations: &str) {
    let operations = format!("--patch={operations}");
    cluster
        .kubectl(["patch", definition, "--type=json", &operations])
        .success();
}

/// Edits the list of stored versions of `gears`, as upgrades do that drop a version before all objects are rewritten.
pub fn loses_its_version(cluster: &Cluster, group: &str) {
    let definition = &format!("crd/gears.{group}");
    let newer = r#"[{"op":"add","path":"/spec/versions/-","value":{"name":"v2","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},
        {"op":"replace","path":"/spec/versions/0/storage","value":false}]"#;
    patch(cluster, definition, newer);
    let stored = r#"--patch={"status":{"storedVersions":["v2"]}}"#;
    cluster
        .kubectl([
            "patch",
            definition,
            "--subresource=status",
            "--type=merge",
            stored,
        ])
        .success();
    patch(
        cluster,
        definition,
        r#"[{"op":"remove","path":"/spec/versions/0"}]"#,
    );
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_missing_stored_version_and_a_definition_that_serves_none() {
    let cluster = &Cluster::start();
    custom_type(cluster, GROUP, "gears", "Gear");
    custom_type(cluster, GROUP, "cogs", "Cog");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: old}}}}
---
{{apiVersion: {GROUP}/v1, kind: Gear, metadata: {{name: g, namespace: old}}}}
---
{{apiVersion: {GROUP}/v1, kind: Cog, metadata: {{name: c, namespace: old, finalizers: [{GROUP}/clean]}}}}"
    ));
    let cogs = &format!("crd/cogs.{GROUP}");
    let served = |to: bool| format!(r#"[{{"op":"replace","path":"/spec/versions/0/served","value":{to}}}]"#);
    delete(cluster, cogs, "");
    // While a version is served, the definition waits for its object, and nothing else is said.
    told(cluster, cogs, "")
        .has_root("Cog c")
        .never_says("serves none of its versions");
    patch(cluster, cogs, &served(false));
    wait("the type is not served any more", SOON, || {
        told(cluster, cogs, "").holds("serves none of its versions")
    });
    let story = told(cluster, cogs, "");
    assert_eq!(story.verdict(KEY), "waiting", "{story}");
    story
        .has_root(&format!("CustomResourceDefinition cogs.{GROUP}: serves none"))
        .never_advises(KEY)
        .is_careful();
    withstands_less(cluster, cogs, "", 15);
    story.follow(cluster, "/served");
    let next = story.follow(cluster, "explain crd/");
    assert!(next.contains("customresourcecleanup"), "{next}");
    wait("the object can be listed again", SOON, || {
        told(cluster, cogs, "")
            .roots()
            .iter()
            .any(|root| root.contains("Cog c"))
    });
    let object = format!("cogs.{GROUP}/c");
    delete(cluster, &object, "old");
    release(cluster, &object, "old");
    goes(cluster, cogs, "");

    let gears = &format!("crd/gears.{GROUP}");
    loses_its_version(cluster, GROUP);
    let path = format!("/apis/{GROUP}/v2/gears");
    wait("its objects can no longer be listed", SOON, || {
        let listed = cluster.kubectl(["get", "--raw", &path]);
        // Before 1.33 the server cannot fill its cache, and says only that.
        let said = if is_since(33) {
            "invalid group/version"
        } else {
            "storage is (re)initializing"
        };
        listed.stderr.contains(said)
    });
    // For an object that cannot be read, the explanation says where to go on.
    let target = format!("gears.{GROUP}/g");
    let unread = cluster.plugin(["explain", &target, "--namespace=old"]).run();
    let hint = format!("kubectl finalizers explain crd/gears.{GROUP}");
    assert!(unread.code == 1 && unread.stderr.contains(&hint), "{unread}");
    delete(cluster, "ns/old", "");
    condition(cluster, "old", "NamespaceDeletionContentFailure", "True");
    let story = told(cluster, "ns/old", "");
    assert_eq!(story.verdict("kubernetes"), "failing", "{story}");
    story
        .has_root(&format!(
            "CustomResourceDefinition gears.{GROUP}: objects are stored in its version v1"
        ))
        .says("request to convert CR from an invalid group/version")
        .never_says("most often one object")
        .never_advises(KEY)
        .never_advises("finalize")
        .is_careful();
    withstands_less(cluster, "ns/old", "", for_all_types(cluster));
    delete(cluster, gears, "");
    wait("the server has tried the deletion", SOON, || {
        let definition = cluster.get([&**gears]).unwrap();
        definition["status"]["conditions"]
            .to_string()
            .contains("InstanceDeletionFailed")
    });
    let story = told(cluster, gears, "");
    assert_eq!(story.verdict(KEY), "failing", "{story}");
    story
        .has_root("objects are stored in its version v1, which it no longer has")
        .never_advises(KEY)
        .is_careful();
    withstands_less(cluster, gears, "", 15);
    story.follow(cluster, "/spec/versions/-");
    goes(cluster, gears, "");
    goes(cluster, "ns/old", "");
}
