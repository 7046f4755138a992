//! Admission, definitions, stored objects and the controller manager.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Scenario, Stage, Target, namespace, object, scenario, target};
use crate::{
    explain::{
        api_machinery::{
            conversion_webhook::type_that_nobody_converts,
            stored_version::{loses_its_version, patch},
            update_rejected::{fields, policy, tighten, webhook, widget},
        },
        told::{SOON, condition, is_going, refusal},
    },
    harness::{Cluster, wait},
    stuck::custom_type,
};

pub(super) const ALL: &[Scenario] = &[
    scenario("gadget", type_with_instances).tells(&["api_machinery/crd_instances"]),
    scenario("hooked", object_behind_a_webhook)
        .steps(1, 1)
        .tells(&["api_machinery/update_rejected"]),
    scenario("ruled", object_behind_a_policy).steps(1, 1),
    scenario("form", object_that_fails_its_schema).steps(1, 0),
    scenario("unheld", object_that_nothing_holds)
        .steps(1, 1)
        .tells(&["api_machinery/no_finalizers"]),
];

/// Its step needs a feature gate, under which a type that cannot be listed is told in another way.
pub(in crate::explain::labels) const DAMAGED_OBJECT: Stage = Stage {
    scenarios: &[&[scenario("damaged", namespace_with_a_damaged_object)
        .steps(1, 1)
        .tells(&["api_machinery/unreadable_object"])
        .since("the unsafe deletion of KEP-3926", 32)]],
    before: |_| {},
};

/// Types that cannot be listed stop the deletion of every namespace.
pub(super) const UNLISTABLE_TYPES: Stage = Stage {
    scenarios: &[&[
        scenario("converted", type_without_its_webhook)
            .steps(1, 1)
            .tells(&["api_machinery/conversion_webhook"]),
        scenario("unserved", type_that_serves_no_version)
            .steps(1, 1)
            .tells(&["api_machinery/stored_version"]),
        scenario("versioned", type_without_its_stored_version).steps(1, 1),
    ]],
    before: |_| {},
};

/// The controller manager is killed, and nobody has heard of it for long.
pub(super) const STOPPED_CONTROLLERS: Stage = Stage {
    scenarios: &[&[
        scenario("halted", claim_that_nobody_looks_at).tells(&["api_machinery/controller_manager"]),
        scenario("nowhere", pod_that_nobody_looks_at),
    ]],
    before: |cluster| {
        cluster.controller_manager().kill();
        let renewed = Timestamp::now() - SignedDuration::from_secs(690);
        cluster.patch_by(
            "kube-controller-manager",
            ["lease", "kube-controller-manager", "--namespace=kube-system"],
            &json!({"spec": {"renewTime": format!("{renewed:.6}")}}),
        );
    },
};

/// A type for objects of no product.
pub(super) fn prepare(cluster: &Cluster) {
    custom_type(cluster, "labels.example.test", "widgets", "Widget");
}

/// One instance is held by a finalizer that nobody knows.
fn type_with_instances(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, "gadgets", "Gadget");
    let held = object(
        [&format!("{group}/v1"), "Gadget", "held"],
        name,
        &["example.test/keep"],
    );
    ns.apply(&held.to_string());
    let target = target(cluster, &format!("crd/gadgets.{group}"), "");
    wait("the instance is being deleted", SOON, || {
        is_going(&ns, &format!("gadgets.{group}/held"))
    });
    target
}

fn object_behind_a_webhook(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let target = widget(cluster, &ns);
    let kind = "ValidatingWebhookConfiguration";
    webhook(cluster, name, kind, name, &fields(name, &json!({})));
    [target, name.to_owned()]
}

fn object_behind_a_policy(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let target = widget(cluster, &ns);
    policy(cluster, name, name, "request.operation != 'UPDATE'", &["Deny"]);
    wait("the policy is in force", SOON, || {
        refusal(cluster, &target, name).is_some()
    });
    [target, name.to_owned()]
}

fn object_that_fails_its_schema(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, "forms", "Form");
    let form = object(
        [&format!("{group}/v1"), "Form", "f"],
        name,
        &["example.test/keep"],
    );
    ns.apply(&form.to_string());
    let target = target(cluster, &format!("forms.{group}/f"), name);
    tighten(cluster, &group, "spec");
    wait("the schema is in force", SOON, || {
        refusal(cluster, &target[0], name).is_some()
    });
    target
}

/// The last step of its deletion failed, so it has no finalizer and stays.
fn object_that_nothing_holds(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: last, finalizers: [example.test/keep]}}");
    let target = target(cluster, "configmap/last", name);
    let key = format!("configmaps/{name}/last");
    let stored = cluster.stored(&key).expect("it is stored");
    let mut stored: Value = serde_json::from_slice(&stored).expect("the server stores JSON here");
    stored["metadata"]["finalizers"] = Value::Null;
    cluster.store(&key, stored.to_string().as_bytes());
    target
}

fn namespace_with_a_damaged_object(cluster: &Cluster, name: &str) -> Target {
    let ns = namespace(cluster, name);
    ns.apply("{apiVersion: v1, kind: PodTemplate, metadata: {name: t}, template: {spec: {containers: [{name: c, image: i}]}}}");
    cluster.store(&format!("podtemplates/{name}/t"), b"rubbish");
    let target = target(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");
    target
}

fn type_without_its_webhook(cluster: &Cluster, name: &str) -> Target {
    let group = format!("{name}.example.test");
    type_that_nobody_converts(cluster, &group, name);
    target(cluster, &format!("crd/widgets.{group}"), "")
}

/// A namespace, and a type with an object in it, which a finalizer holds if it is named.
fn type_with_an_object(cluster: &Cluster, name: &str, [plural, kind]: [&str; 2], held: &[&str]) -> String {
    let ns = namespace(cluster, name);
    let group = format!("{name}.example.test");
    custom_type(cluster, &group, plural, kind);
    ns.apply(&object([&format!("{group}/v1"), kind, "one"], name, held).to_string());
    group
}

fn type_that_serves_no_version(cluster: &Cluster, name: &str) -> Target {
    let group = type_with_an_object(cluster, name, ["cogs", "Cog"], &["example.test/keep"]);
    let definition = format!("crd/cogs.{group}");
    let target = target(cluster, &definition, "");
    let none = r#"[{"op":"replace","path":"/spec/versions/0/served","value":false}]"#;
    patch(cluster, &definition, none);
    let path = format!("/apis/{group}/v1/cogs");
    wait("the type is not served any more", SOON, || !cluster.serves(&path));
    target
}

fn type_without_its_stored_version(cluster: &Cluster, name: &str) -> Target {
    let group = type_with_an_object(cluster, name, ["gears", "Gear"], &[]);
    loses_its_version(cluster, &group);
    let path = format!("/apis/{group}/v2/gears");
    wait("its objects can no longer be listed", SOON, || {
        !cluster.serves(&path)
    });
    target(cluster, &format!("crd/gears.{group}"), "")
}

/// No controller makes a ServiceAccount for a new namespace any more.
fn claim_that_nobody_looks_at(cluster: &Cluster, name: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{accessModes: [ReadWriteOnce], \
         storageClassName: none, resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    target(cluster, &format!("pvc/{name}"), "default")
}

fn pod_that_nobody_looks_at(cluster: &Cluster, name: &str) -> Target {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{nodeName: {name}, terminationGracePeriodSeconds: 1, \
         containers: [{{name: c, image: i}}]}}}}"
    ));
    let pod = format!("pod/{name}");
    cluster.patch_status([&*pod, "--namespace=default"], &json!({"phase": "Running"}));
    target(cluster, &pod, "default")
}
