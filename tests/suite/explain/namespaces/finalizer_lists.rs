//! Namespaces that an entry of one of their two finalizer lists holds.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, delete, finalize_by_force, goes, release, told},
    },
    harness::{Cluster, wait},
};

#[test]
fn an_entry_of_spec_finalizers_without_a_controller_is_named() {
    let cluster = Cluster::shared();
    for (entry, verdict) in [
        ("foregroundDeletion", "orphaned"),
        ("company.example.test/audit", "unknown"),
    ] {
        let name = cluster.unique("custom");
        cluster.apply(&format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, annotations: {{note: \"it's \\\\ \\\"ours\\\"\"}}}}, spec: {{finalizers: [kubernetes, {entry}]}}}}"
        ));
        delete(cluster, &format!("ns/{name}"), "");
        wait("only that entry is left", SOON, || {
            cluster.get(["namespace", &name]).unwrap()["spec"]["finalizers"] == serde_json::json!([entry])
        });
        // What is unknown is not removed in the first minutes.
        cluster.deleted_earlier(&format!("namespaces/{name}"), 600);
        let story = told(cluster, &format!("ns/{name}"), "");
        assert_eq!(story.verdict(entry), verdict);
        story
            .says("spec.finalizers")
            .says("empty the whole list")
            .is_careful();
        withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster));
        story.follow(cluster, "finalizers finalize");
        goes(cluster, &format!("ns/{name}"), "");
    }
}

#[test]
fn the_entry_is_not_removed_while_content_remains() {
    let cluster = Cluster::shared();
    let name = cluster.unique("stranded");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}, spec: {{finalizers: [example.test/a]}}}}"
    ));
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c, namespace: {name}, finalizers: [example.test/keep]}}}}"
    ));
    delete(cluster, &format!("ns/{name}"), "");
    finalize_by_force(cluster, &name, r#"["example.test/a"]"#);
    let story = told(cluster, &format!("ns/{name}"), "");
    story
        .says("would be left behind: ")
        .says("ORPHANED OBJECTS")
        .never_advises("finalizers finalize")
        .is_careful();
    withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster));
    finalize_by_force(cluster, &name, r#"["kubernetes"]"#);
    release(cluster, "configmap/c", &name);
    goes(cluster, &format!("ns/{name}"), "");
}

#[test]
fn both_finalizer_lists_are_shown() {
    let cluster = Cluster::shared();
    let name = cluster.unique("rancher");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, finalizers: [controller.cattle.io/namespace-auth, example.test/other]}}}}"
    ));
    delete(cluster, &format!("ns/{name}"), "");
    wait("the spec.finalizers of the namespace are empty", SOON, || {
        cluster.get(["namespace", &name]).unwrap()["spec"]
            .get("finalizers")
            .is_none()
    });
    cluster.deleted_earlier(&format!("namespaces/{name}"), 600);
    let story = told(cluster, &format!("ns/{name}"), "");
    story
        .says("metadata.finalizers")
        .says("controller.cattle.io/namespace-auth, example.test/other")
        .says("which /finalize of spec.finalizers does not touch")
        .never_advises("finalizers finalize")
        .is_careful();
    // A few more requests search for Rancher.
    withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster) + 6);
    story.follow(cluster, "--finalizer controller.cattle.io/namespace-auth");
    let left = cluster.get(["namespace", &name]).unwrap();
    assert_eq!(
        left["metadata"]["finalizers"],
        serde_json::json!(["example.test/other"])
    );
    told(cluster, &format!("ns/{name}"), "").follow(cluster, "finalizers remove");
    goes(cluster, &format!("ns/{name}"), "");
}
