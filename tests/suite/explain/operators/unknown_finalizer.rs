//! A company's own operator outside the catalogue: found by its rights, its Lease and its managed fields.

use serde_json::json;

use crate::{
    explain::{
        holder::{Operator, WORLD, going, lease},
        less_is_weaker::withstands_less,
        told::{Told, goes, release, told},
    },
    harness::Namespace,
    stuck::custom_type,
};

const GROUP: &str = "apps.acme-corp.example";

/// Creates a type, its operator with the usual rights, and an object in deletion.
fn world<'a>(namespace: &'a str, plural: &'a str, kind: &str, ns: &Namespace<'_>) -> (Operator<'a>, String) {
    custom_type(&WORLD, GROUP, plural, kind);
    let resources = json!([plural, format!("{plural}/status"), format!("{plural}/finalizers")]);
    let operator = Operator {
        cluster: &WORLD,
        namespace,
        name: namespace,
        labels: json!({"control-plane": namespace}),
        group: GROUP,
        resources,
        verbs: json!(["get", "list", "watch", "update", "patch"]),
    };
    let finalizer = format!("{plural}.{GROUP}/finalizer");
    going(
        plural,
        &json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind,
            "metadata": {"name": "one", "namespace": ns.name(), "finalizers": [finalizer]}}),
        10,
    );
    (operator, finalizer)
}

#[test]
fn an_operator_outside_the_catalogue_is_found_and_started_again() {
    let ns = WORLD.namespace("own");
    let (operator, finalizer) = world("gizmo-operator", "gizmos", "Gizmo", &ns);
    let target = format!("gizmos.{GROUP}/one");
    let look = || -> Told { told(&WORLD, &target, ns.name()) };
    operator.install();
    operator.runs();
    // An account that deploys such objects may also update them, and runs. It is not their controller.
    Operator {
        cluster: &WORLD,
        namespace: "pipeline",
        name: "pipeline",
        labels: json!({"app": "pipeline"}),
        resources: json!(["gizmos"]),
        verbs: json!(["create", "patch"]),
        ..operator
    }
    .install();
    let story = look();
    assert_eq!(story.verdict(&finalizer), "waiting", "{story}");
    story
        .says("This runs, and is probably it: Deployment gizmo-operator/gizmo-operator: 1 of 1 ready")
        .never_says("pipeline")
        .never_says("It is gone")
        .never_advises("finalizers remove");

    let place = "--namespace=gizmo-operator";
    WORLD
        .kubectl(["scale", "deployment", "gizmo-operator", "--replicas=0", place])
        .success();
    operator.has_ready(0);
    let story = look();
    assert_eq!(story.verdict(&finalizer), "waiting", "{story}");
    story
        .has_root("Deployment gizmo-operator: is scaled to 0 replicas")
        .says("Scaled down replica set")
        .says("This was switched off, and is probably it")
        .never_says("runs. ")
        .is_careful();
    withstands_less(&WORLD, &target, ns.name(), 31);
    story.follow(&WORLD, "--replicas=1");
    operator.runs();
    look().says("This runs, and is probably it");
    release(&WORLD, &target, ns.name());
    goes(&WORLD, &target, ns.name());
}

#[test]
fn an_expired_lease_and_missing_rights_are_two_signs() {
    let ns = WORLD.namespace("left");
    let (_, finalizer) = world("gadget-operator", "gadgets", "Gadget", &ns);
    let target = format!("gadgets.{GROUP}/one");
    let story = told(&WORLD, &target, ns.name());
    assert_eq!(story.verdict(&finalizer), "unknown", "{story}");
    story
        .says("no ServiceAccount may change")
        .says("suggestive only")
        .never_advises("finalizers remove");

    lease(
        ns.name(),
        &format!("8f2a3c.gadgets.{GROUP}"),
        "gadget-operator",
        3600,
    );
    let story = told(&WORLD, &target, ns.name());
    assert_eq!(story.verdict(&finalizer), "orphaned", "{story}");
    story.says("It is gone").says("DATA LOSS").is_careful();
    withstands_less(&WORLD, &target, ns.name(), 24);

    // A renewed Lease belongs to a running controller.
    lease(
        ns.name(),
        &format!("8f2a3c.gadgets.{GROUP}"),
        "gadget-operator",
        1,
    );
    let story = told(&WORLD, &target, ns.name());
    assert_eq!(story.verdict(&finalizer), "waiting", "{story}");
    lease(
        ns.name(),
        &format!("8f2a3c.gadgets.{GROUP}"),
        "gadget-operator",
        3600,
    );
    told(&WORLD, &target, ns.name()).follow(&WORLD, "finalizers remove");
    goes(&WORLD, &target, ns.name());
}

#[test]
fn the_program_that_put_the_finalizer_on_a_secret_is_found_by_its_name() {
    let ns = WORLD.namespace("issued");
    let finalizer = "tags.acme-corp.example/issued";
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ca", "namespace": ns.name(),
        "finalizers": [finalizer]}});
    let file = WORLD.directory().join("issued-secret.json");
    std::fs::write(&file, secret.to_string()).unwrap();
    let file = format!("--filename={}", file.display());
    WORLD
        .kubectl(["apply", "--server-side", "--field-manager=tag-issuer", &file])
        .success();
    WORLD.delete("secret/ca", ns.name());
    WORLD.deleted_earlier(&format!("secrets/{}/ca", ns.name()), 2400);
    let look = || told(&WORLD, "secret/ca", ns.name());
    look().never_says("This runs, and is probably it");

    let operator = Operator {
        cluster: &WORLD,
        namespace: "tags",
        name: "tag-issuer",
        labels: json!({"app": "tags"}),
        group: GROUP,
        resources: json!(["tags"]),
        verbs: json!(["update", "patch"]),
    };
    operator.install();
    operator.runs();
    let story = look();
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    story
        .says("This runs, and is probably it: Deployment tags/tag-issuer: 1 of 1 ready")
        .says("may neither update nor patch secrets")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(&WORLD, "secret/ca", ns.name(), 21);

    let with_rights = Operator {
        group: "",
        resources: json!(["secrets"]),
        ..operator
    };
    with_rights.install();
    let story = look();
    assert_eq!(story.verdict(finalizer), "stalled", "{story}");
    release(&WORLD, "secret/ca", ns.name());
    goes(&WORLD, "secret/ca", ns.name());
}
