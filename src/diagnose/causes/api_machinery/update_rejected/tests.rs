use serde_json::{Value, json};

use super::*;
use crate::diagnose::testing::{
    told::{commands, said, verdict},
    world::{World, bare as object},
};

const ADMISSION: &str = "admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations";
const HOLD: &str = "x.test/hold";

fn widget() -> Object {
    object(
        "x.test",
        "widgets",
        "Widget",
        json!({"metadata": {"name": "w", "namespace": "a", "uid": "u", "resourceVersion": "1", "finalizers": [HOLD],
            "deletionTimestamp": "2026-01-01T11:00:00Z"}}),
    )
}

fn configuration(name: &str, webhooks: &Value) -> Object {
    object(
        ADMISSION,
        VALIDATING,
        "ValidatingWebhookConfiguration",
        json!({"metadata": {"name": name}, "webhooks": webhooks}),
    )
}

fn webhook(more: &Value) -> Value {
    let mut webhook = json!({
        "name": "v.x.test",
        "clientConfig": {"service": {"namespace": "sys", "name": "hook"}},
        "rules": [{"apiGroups": ["x.test"], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["UPDATE"]}],
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        webhook[field] = value.clone();
    }
    webhook
}

/// Everything that is looked at is there and empty, but for these configurations.
fn world(configurations: Vec<Object>) -> World {
    World::closed()
        .object(
            "",
            "namespaces",
            "",
            "a",
            Some(object(
                "",
                "namespaces",
                "Namespace",
                json!({"metadata": {"name": "a"}}),
            )),
        )
        .object(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "",
            "widgets.x.test",
            None,
        )
        .list(ADMISSION, VALIDATING, "", configurations)
        .list(ADMISSION, "mutatingwebhookconfigurations", "", Vec::new())
        .list(ADMISSION, "validatingadmissionpolicies", "", Vec::new())
}

fn service(spec: &Value) -> Object {
    object(
        "",
        "services",
        "Service",
        json!({"metadata": {"name": "hook", "namespace": "sys"}, "spec": spec}),
    )
}

#[test]
fn a_service_that_could_not_be_looked_at_is_not_dead() {
    let told = world(vec![configuration("c", &json!([webhook(&json!({}))]))]).explain(&widget());
    assert_eq!(verdict(&told, HOLD), Some(Verdict::Unknown));
    assert!(!told.gaps.is_empty());
    assert!(!said(&told).contains("v.x.test"), "{}", said(&told));
    assert!(
        told.outlook
            .iter()
            .any(|outlook| outlook.then.contains("v.x.test"))
    );
}

#[test]
fn whether_somebody_answers_is_judged_as_the_api_server_does() {
    let slice = |ports: Value, conditions: Value| {
        object(
            "discovery.k8s.io",
            "endpointslices",
            "EndpointSlice",
            json!({"metadata": {"name": "hook-1", "namespace": "sys", "labels": {"kubernetes.io/service-name": "hook"}},
                "ports": ports, "endpoints": [{"addresses": ["10.0.0.1"], "conditions": conditions}]}),
        )
    };
    let port = json!([{"name": "https", "port": 9443}]);
    let ready = json!({"ready": true});
    let of = |slices: Vec<Object>, spec: &Value| {
        let told = world(vec![configuration("c", &json!([webhook(&json!({}))]))])
            .object("", "services", "sys", "hook", Some(service(spec)))
            .list("discovery.k8s.io", "endpointslices", "sys", slices)
            .explain(&widget());
        verdict(&told, HOLD).expect("a verdict")
    };
    let spec = || json!({"ports": [{"name": "https", "port": 443}]});
    assert_eq!(
        of(vec![slice(port.clone(), ready.clone())], &spec()),
        Verdict::Unknown
    );
    assert_eq!(
        of(vec![slice(port.clone(), json!({}))], &spec()),
        Verdict::Unknown
    );
    let ending = json!({"ready": false, "serving": true, "terminating": true});
    assert_eq!(of(vec![slice(port.clone(), ending)], &spec()), Verdict::Unknown);
    let outside = json!({"type": "ExternalName", "externalName": "x.test"});
    assert_eq!(of(Vec::new(), &outside), Verdict::Unknown);

    assert_eq!(
        of(vec![slice(port.clone(), json!({"ready": false}))], &spec()),
        Verdict::Rejected
    );
    assert_eq!(
        of(vec![slice(json!([{"port": 1}]), ready.clone())], &spec()),
        Verdict::Rejected
    );
    assert_eq!(of(Vec::new(), &spec()), Verdict::Rejected);
    let other_port = json!({"ports": [{"name": "https", "port": 8443}]});
    assert_eq!(of(vec![slice(port, ready)], &other_port), Verdict::Rejected);
}

#[test]
fn what_only_its_labels_could_tell_is_left_open_where_a_scan_has_not_read_them() {
    let selecting = json!({"objectSelector": {"matchLabels": {"app": "w"}}});
    let mut seen = widget();
    seen.value["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("resourceVersion");
    let of = |object: &Object| {
        let world = world(vec![configuration("c", &json!([webhook(&selecting)]))]);
        world.object("", "services", "sys", "hook", None).explain(object)
    };
    assert_eq!(verdict(&of(&seen), HOLD), Some(Verdict::Unknown));
    assert!(
        of(&seen)
            .outlook
            .iter()
            .any(|outlook| outlook.then.contains("v.x.test"))
    );
    // Read whole, it has no labels.
    assert!(of(&widget()).outlook.is_empty());
}

#[test]
fn working_protection_needs_no_look_at_webhooks() {
    let claim = object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": {"name": "c", "namespace": "a", "uid": "u", "resourceVersion": "1",
            "finalizers": ["kubernetes.io/pvc-protection"], "deletionTimestamp": "2026-01-01T11:00:00Z"}}),
    );
    let everything = json!({"rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]});
    let of = |pods: Vec<Object>| {
        let world = world(vec![configuration("c", &json!([webhook(&everything)]))])
            .list("", "pods", "a", pods)
            .object("", "services", "sys", "hook", None);
        verdict(&world.explain(&claim), "kubernetes.io/pvc-protection")
    };
    let pod = object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "p", "namespace": "a"}, "spec": {"nodeName": "n",
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]}}),
    );
    assert_eq!(of(vec![pod]), Some(Verdict::InUse));
    // Nothing uses it, and whoever would let it go is refused.
    assert_eq!(of(Vec::new()), Some(Verdict::Rejected));
}

#[test]
fn thousands_of_webhooks_are_told_in_few_lines() {
    let many = |n: usize| {
        let service = json!({"clientConfig": {"service": {"namespace": "sys", "name": format!("hook-{n}")}},
            "matchConditions": [{"expression": "(".repeat(1000)}, {"expression": "!".repeat(1000)}, {"expression": 7}],
            "objectSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}});
        configuration(&format!("c{n}"), &json!([webhook(&service), 7, {}]))
    };
    let told = world((0..3000).map(many).collect()).explain(&widget());
    assert_eq!(verdict(&told, HOLD), Some(Verdict::Unknown));
    let line = &told.outlook.last().expect("a line").then;
    assert!(line.contains("and 2996 more") && line.len() < 400, "{line}");
    assert!(!commands(&told).contains("delete"));
}

/// A policy that wants a ServiceAccount beside the object, through a binding that says what is so without it.
fn with_a_parameter(action: &str, failure: &str) -> World {
    let policy = json!({"metadata": {"name": "p"}, "spec": {"failurePolicy": failure,
        "paramKind": {"apiVersion": "v1", "kind": "ServiceAccount"},
        "matchConditions": [{"name": "never", "expression": "false"}],
        "matchConstraints": {"resourceRules": [{"apiGroups": ["x.test"], "apiVersions": ["v1"], "resources": ["widgets"],
            "operations": ["UPDATE"]}]},
        "validations": [{"expression": "true"}]}});
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"],
        "paramRef": {"name": "account", "parameterNotFoundAction": action}}});
    let (policies, bindings) = ("validatingadmissionpolicies", "validatingadmissionpolicybindings");
    let policy = object(ADMISSION, policies, "ValidatingAdmissionPolicy", policy);
    let binding = object(ADMISSION, bindings, "ValidatingAdmissionPolicyBinding", binding);
    world(Vec::new())
        .serving("", "serviceaccounts", "ServiceAccount")
        .list(ADMISSION, policies, "", vec![policy])
        .list(ADMISSION, bindings, "", vec![binding])
}

#[test]
fn a_parameter_that_went_first_refuses_before_any_condition_is_looked_at() {
    let of = |world: World| verdict(&world.explain(&widget()), HOLD).expect("a verdict");
    let without = |world: World| world.object("", "serviceaccounts", "a", "account", None);
    let with = |world: World| {
        let account = json!({"metadata": {"name": "account", "namespace": "a"}});
        let account = object("", "serviceaccounts", "ServiceAccount", account);
        world.object("", "serviceaccounts", "a", "account", Some(account))
    };
    assert_eq!(of(without(with_a_parameter("Deny", "Fail"))), Verdict::Rejected);
    for passes in [
        without(with_a_parameter("Allow", "Fail")),
        without(with_a_parameter("Deny", "Ignore")),
        with(with_a_parameter("Deny", "Fail")),
        // Nobody could look.
        with_a_parameter("Deny", "Fail"),
    ] {
        assert_eq!(of(passes), Verdict::Unknown);
    }
}
