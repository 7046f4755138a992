//! An explanation says if its catalogue entry lacks what a person needs, and names what only the object itself names.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis,
        causes::operators::known_finalizer::fits_reports,
        testing::{
            fixtures::{controller, going},
            told::commands,
            world::{World, object},
        },
    },
    knowledge::{GroupKind, Knowledge, List},
};

fn says_so(finalizer: &str, (group, resource, kind): (&str, &str, &str)) -> bool {
    let stuck = object(
        group,
        resource,
        kind,
        json!({"metadata": going("x", "ns", &[finalizer]), "spec": {}}),
    );
    let diagnosis = World::of([]).explain(&stuck);
    let mut values = diagnosis.evidence.iter().map(|evidence| &*evidence.value);
    values.any(|value| value == "Little is known about this finalizer.")
}

#[test]
fn only_a_thin_entry_says_that_little_is_known() {
    // Its wait was not read in the sources.
    let operator = ("operator.ibm.com", "operandrequests", "OperandRequest");
    assert!(says_so("finalizer.request.ibm.com", operator));
    let challenge = ("acme.cert-manager.io", "challenges", "Challenge");
    assert!(!says_so("finalizer.acme.cert-manager.io", challenge));
    assert!(!says_so("example.com/nobody-knows-this", challenge));
}

/// That an operator named a finalizer after a type of its group is all that a last resort knows.
#[test]
fn a_match_by_domain_alone_does_not_say_what_the_finalizer_protects() {
    let widget = object(
        "shop.example.com",
        "widgets",
        "Widget",
        json!({"metadata": going("x", "ns", &["widgets.shop.example.com/finalizer"]), "spec": {}}),
    );
    let diagnosis = World::of([])
        .serving("shop.example.com", "widgets", "Widget")
        .explain(&widget);
    assert_eq!(diagnosis.waits[0].known, None);
    assert!(
        diagnosis
            .do_not
            .iter()
            .any(|text| text.contains("What is lost is not known")),
        "{:?}",
        diagnosis.do_not
    );
}

#[test]
fn a_command_for_a_type_that_the_server_does_not_have_is_not_advised() {
    let volume = object(
        "longhorn.io",
        "volumes",
        "Volume",
        json!({"metadata": going("x", "longhorn-system", &["longhorn.io"]), "spec": {}}),
    );
    let world = || World::of([]).serving("longhorn.io", "volumes", "Volume");
    let without = commands(&world().explain(&volume));
    assert!(without.contains("get volumes.longhorn.io") && !without.contains("settings.longhorn.io"));
    let with = world().serving("longhorn.io", "settings", "Setting");
    assert!(commands(&with.explain(&volume)).contains("patch settings.longhorn.io"));
}

#[test]
fn the_controller_that_a_class_names_is_told() {
    let class = |spec| {
        let metadata = going(
            "edge",
            "",
            &["gateway-exists-finalizer.gateway.networking.k8s.io"],
        );
        object(
            "gateway.networking.k8s.io",
            "gatewayclasses",
            "GatewayClass",
            json!({"metadata": metadata, "spec": spec}),
        )
    };
    let says = |spec| World::of([]).explain(&class(spec)).waits[0].says();
    let named = says(json!({"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"}));
    assert!(
        named.contains(
            "removed by gateway.envoyproxy.io/gatewayclass-controller, the controller named in spec.controllerName"
        ),
        "{named}"
    );
    let unnamed = says(json!({}));
    assert!(
        unnamed.contains("removed by the controller named in"),
        "{unnamed}"
    );
}

#[test]
fn the_only_program_that_serves_a_group_is_named() {
    let widget = object(
        "shop.example.com",
        "widgets",
        "Widget",
        json!({"metadata": going("x", "ns", &["shop.example.com/finalizer"]), "spec": {}}),
    );
    let labels = json!({"app": "shop-operator"});
    let diagnosis = World::of(controller("shop", "shop-operator", &labels, "shop.example.com"))
        .serving("shop.example.com", "widgets", "Widget")
        .explain(&widget);
    let says = diagnosis.waits[0].says();
    assert!(says.starts_with("removed by shop-operator, "), "{says}");
}

fn kustomization(spec: &Value) -> Diagnosis {
    let group = "kustomize.toolkit.fluxcd.io";
    let metadata = going("apps", "ns", &["finalizers.fluxcd.io"]);
    let value = json!({"metadata": metadata, "spec": spec});
    let labels = json!({"app": "kustomize-controller"});
    let mut controller = controller("flux-system", "kustomize-controller", &labels, group);
    controller[0].value["spec"]["template"]["spec"]["containers"] =
        json!([{"name": "manager", "image": "ghcr.io/fluxcd/kustomize-controller:v1.2.0@sha256:1f"}]);
    let world = World::of(controller).serving(group, "kustomizations", "Kustomization");
    world.explain(&object(group, "kustomizations", "Kustomization", value))
}

#[test]
fn a_step_for_a_field_is_left_out_where_the_object_lacks_it() {
    let account = "get serviceaccounts,rolebindings";
    for (spec, is_told) in [
        (json!({"serviceAccountName": "tenant"}), true),
        (json!({"serviceAccountName": ""}), false),
        (json!({}), false),
    ] {
        let commands = commands(&kustomization(&spec));
        assert_eq!(commands.contains(account), is_told, "{spec}: {commands}");
    }
}

#[test]
fn a_step_for_one_sort_of_error_is_left_out_where_the_error_is_of_another() {
    let kind = GroupKind {
        group: "infrastructure.cluster.x-k8s.io",
        kind: "AWSCluster",
    };
    let entry = Knowledge::builtin()
        .lookup(
            "awscluster.infrastructure.cluster.x-k8s.io",
            List::Metadata,
            Some(kind),
        )
        .expect("an entry");
    for (message, for_credentials, for_use) in [
        (
            "DependencyViolation: The vpc 'vpc-1' has dependencies",
            false,
            true,
        ),
        ("UnauthorizedOperation: status code: 403", true, false),
        ("", true, true),
    ] {
        let reports: Vec<_> = Some(message.to_owned())
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect();
        let has = |words: &str| {
            let mut steps = entry.fix.iter().filter(|step| fits_reports(step, &reports));
            steps.any(|step| step.text.contains(words))
        };
        assert_eq!(has("speaks of credentials"), for_credentials, "{message}");
        assert_eq!(has("something uses the network"), for_use, "{message}");
    }
}

#[test]
fn the_version_of_the_controller_is_that_of_its_image() {
    let controller = kustomization(&json!({})).waits[0].said.controller.clone();
    let version = controller.and_then(|controller| controller.version);
    assert_eq!(version.as_deref(), Some("v1.2.0"));
}
