//! Objects that Argo CD or Helm deployed.

use serde_json::json;

use crate::{
    diagnose::testing::{
        fixtures::going,
        told::{command_lines, outlook, waits_for},
        world::{World, object},
    },
    snapshot::facts::Object,
};

fn application(server: &str, finalizer: &str) -> Object {
    object(
        "argoproj.io",
        "applications",
        "Application",
        json!({"metadata": going("shop", "argocd", &[finalizer]),
            "spec": {"destination": {"server": server}},
            "status": {"resources": [{"group": "db.test", "kind": "Database", "namespace": "shop", "name": "orders"}]}}),
    )
}

fn database(in_deletion: bool) -> Object {
    let mut metadata = going("orders", "shop", &["db.test/clean"]);
    if !in_deletion {
        metadata = json!({"name": "orders", "namespace": "shop"});
    }
    object("db.test", "databases", "Database", json!({"metadata": metadata}))
}

fn with(database: Object) -> World {
    World::of([database]).serving("db.test", "databases", "Database")
}

#[test]
fn an_application_waits_for_its_objects_in_this_cluster_that_are_being_deleted() {
    let (here, finalizer) = (
        "https://kubernetes.default.svc",
        "resources-finalizer.argocd.argoproj.io",
    );
    let told = with(database(true)).explain(&application(here, finalizer));
    assert_eq!(
        waits_for(&told)[0],
        (
            "orders".to_owned(),
            "was deployed by it, is being deleted, and is still there".to_owned()
        )
    );
    assert_eq!(
        command_lines(&told)[0],
        "kubectl finalizers explain databases.db.test/orders -n shop"
    );
    let background = format!("{finalizer}/background");
    assert_eq!(
        waits_for(&with(database(true)).explain(&application(here, &background))).len(),
        1
    );

    // An object that is not being deleted blocks nothing, and an object in another cluster cannot be read.
    let names = |told| waits_for(&told).into_iter().any(|(name, _)| name == "orders");
    assert!(!names(
        with(database(false)).explain(&application(here, finalizer))
    ));
    assert!(!names(
        with(database(true)).explain(&application("https://10.0.0.1", finalizer))
    ));
    assert!(!names(
        with(database(true)).explain(&application(here, "other.test/finalizer"))
    ));
}

fn record(version: u32, status: &str) -> Object {
    object(
        "",
        "secrets",
        "Secret",
        json!({"metadata": {"name": format!("sh.helm.release.v1.shop.v{version}"), "namespace": "shop",
            "labels": {"owner": "helm", "name": "shop", "version": version.to_string(), "status": status}}}),
    )
}

#[test]
fn the_steps_finish_a_helm_release_after_its_object() {
    let mut object = database(true);
    object.value["metadata"]["annotations"] =
        json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    // The versions are compared as numbers: 10 is later than 9.
    let told = World::of([record(9, "superseded"), record(10, "uninstalling")]).explain(&object);
    assert!(outlook(&told).contains("Helm release shop in shop, which it belongs to, is uninstalling"));
    assert_eq!(
        command_lines(&told).last().map(String::as_str),
        Some("helm uninstall shop -n shop")
    );

    let told = World::of([]).explain(&object);
    assert!(outlook(&told).contains("has no record any more"), "{told:#?}");
    assert!(
        !command_lines(&told)
            .iter()
            .any(|command| command.starts_with("helm"))
    );
    let told = World::of([record(1, "deployed")])
        .hiding("secrets")
        .explain(&object);
    assert!(
        outlook(&told).contains("is in a state that is not known"),
        "{told:#?}"
    );
    assert!(
        !command_lines(&told)
            .iter()
            .any(|command| command.starts_with("helm"))
    );

    // One of the two annotations names no release.
    object.value["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "shop"});
    let told = World::of([record(1, "deployed")]).explain(&object);
    assert!(!outlook(&told).contains("Helm"), "{told:#?}");
}
