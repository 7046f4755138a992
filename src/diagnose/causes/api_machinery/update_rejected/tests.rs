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

/// A cluster in which everything can be read. It has these webhook configurations, and no others.
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
fn a_service_that_could_not_be_read_is_not_unreachable() {
    let diagnosis = world(vec![configuration("c", &json!([webhook(&json!({}))]))]).explain(&widget());
    assert_eq!(verdict(&diagnosis, HOLD), Some(Verdict::Unknown));
    assert!(!diagnosis.gaps.is_empty());
    assert!(!said(&diagnosis).contains("v.x.test"), "{}", said(&diagnosis));
    assert!(
        diagnosis
            .outlook
            .iter()
            .any(|outlook| outlook.then.contains("v.x.test"))
    );
}

#[test]
fn judges_endpoints_as_the_api_server_does() {
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
        let diagnosis = world(vec![configuration("c", &json!([webhook(&json!({}))]))])
            .object("", "services", "sys", "hook", Some(service(spec)))
            .list("discovery.k8s.io", "endpointslices", "sys", slices)
            .explain(&widget());
        verdict(&diagnosis, HOLD).expect("the finalizer has a verdict")
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
fn an_object_selector_is_undecided_without_the_labels_of_the_object() {
    let selecting = json!({"objectSelector": {"matchLabels": {"app": "w"}}});
    let mut seen = widget();
    seen.value["metadata"]
        .as_object_mut()
        .expect("the object has metadata")
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
    // The whole object was read, and it has no labels.
    assert!(of(&widget()).outlook.is_empty());
}

#[test]
fn webhooks_do_not_matter_while_a_claim_is_in_use() {
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
    // No Pod uses the claim, and the webhook rejects the update of the controller.
    assert_eq!(of(Vec::new()), Some(Verdict::Rejected));
}

#[test]
fn summarizes_thousands_of_webhooks() {
    let many = |n: usize| {
        let service = json!({"clientConfig": {"service": {"namespace": "sys", "name": format!("hook-{n}")}},
            "matchConditions": [{"expression": "(".repeat(1000)}, {"expression": "!".repeat(1000)}, {"expression": 7}],
            "objectSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}});
        configuration(&format!("c{n}"), &json!([webhook(&service), 7, {}]))
    };
    let few = world((0..12).map(many).collect()).explain(&widget());
    let thousands = world((0..3000).map(many).collect()).explain_large(&widget());
    for (diagnosis, more) in [(few, "and 8 more"), (thousands, "and 2996 more")] {
        assert_eq!(verdict(&diagnosis, HOLD), Some(Verdict::Unknown));
        let line = &diagnosis.outlook.last().expect("the outlook has a line").then;
        assert!(line.contains(more) && line.len() < 400, "{line}");
        assert!(!commands(&diagnosis).contains("delete"));
    }
}

/// What a policy is bound by, and the kind of its parameter.
fn with_policy(kind: &Value, reference: &Value, failure: &str) -> World {
    let policy = json!({"metadata": {"name": "p"}, "spec": {"failurePolicy": failure, "paramKind": kind,
        "matchConstraints": {"resourceRules": [{"apiGroups": ["x.test"], "apiVersions": ["v1"], "resources": ["widgets"],
            "operations": ["UPDATE"]}]},
        "validations": [{"expression": "true"}]}});
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"],
        "paramRef": reference}});
    let (policies, bindings) = ("validatingadmissionpolicies", "validatingadmissionpolicybindings");
    let policy = object(ADMISSION, policies, "ValidatingAdmissionPolicy", policy);
    let binding = object(ADMISSION, bindings, "ValidatingAdmissionPolicyBinding", binding);
    world(Vec::new())
        .serving("", "serviceaccounts", "ServiceAccount")
        .list(ADMISSION, policies, "", vec![policy])
        .list(ADMISSION, bindings, "", vec![binding])
}

#[test]
fn a_parameter_of_a_kind_that_is_not_served_leaves_it_to_the_failure_policy() {
    let kind = json!({"apiVersion": "rules.test/v1", "kind": "Rule"});
    let reference = json!({"name": "r", "parameterNotFoundAction": "Allow"});
    let told = with_policy(&kind, &reference, "Fail").explain(&widget());
    assert_eq!(verdict(&told, HOLD), Some(Verdict::Rejected));
    assert!(
        said(&told).contains("the kind Rule (rules.test/v1), which the API server does not have"),
        "{}",
        said(&told)
    );
    let passes = |world: World| verdict(&world.explain(&widget()), HOLD) != Some(Verdict::Rejected);
    assert!(passes(with_policy(&kind, &reference, "Ignore")));
    // The group may have it, and did not answer.
    assert!(passes(
        with_policy(&kind, &reference, "Fail").with_silent_group("rules.test")
    ));
}

#[test]
fn a_selector_that_finds_no_parameter_is_as_a_missing_one() {
    let kind = json!({"apiVersion": "v1", "kind": "ServiceAccount"});
    let reference = json!({"selector": {"matchLabels": {"team": "a"}}, "parameterNotFoundAction": "Deny"});
    let account = |team: &str| {
        let metadata = json!({"name": "account", "namespace": "a", "labels": {"team": team}});
        object(
            "",
            "serviceaccounts",
            "ServiceAccount",
            json!({"metadata": metadata}),
        )
    };
    let of = |accounts: Vec<Object>| {
        let world = with_policy(&kind, &reference, "Fail").list("", "serviceaccounts", "a", accounts);
        verdict(&world.explain(&widget()), HOLD)
    };
    assert_eq!(of(vec![account("b")]), Some(Verdict::Rejected));
    assert_ne!(of(vec![account("a")]), Some(Verdict::Rejected));
    // The accounts could not be listed.
    let unseen = with_policy(&kind, &reference, "Fail").explain(&widget());
    assert_ne!(verdict(&unseen, HOLD), Some(Verdict::Rejected));
}

/// A policy that needs a ServiceAccount in the namespace of the object. `action` is what its binding does without
/// that account.
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
fn a_missing_parameter_rejects_before_any_match_condition() {
    let of = |world: World| verdict(&world.explain(&widget()), HOLD).expect("the finalizer has a verdict");
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
        // The account could not be read.
        with_a_parameter("Deny", "Fail"),
    ] {
        assert_eq!(of(passes), Verdict::Unknown);
    }
}

/// A world in which the webhook `validation.rules.test` works and is asked about widgets. One rule of its product reports this.
fn world_with_rule(violations: &Value) -> World {
    let slice = object(
        "discovery.k8s.io",
        "endpointslices",
        "EndpointSlice",
        json!({"metadata": {"name": "hook-1", "namespace": "sys", "labels": {"kubernetes.io/service-name": "hook"}},
            "ports": [{"port": 443}], "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]}),
    );
    let hook = webhook(&json!({"name": "validation.rules.test"}));
    let rule = object(
        "constraints.rules.test",
        "allowedsizes",
        "AllowedSizes",
        json!({"metadata": {"name": "small"}, "status": {"violations": violations}}),
    );
    world(vec![configuration("c", &json!([hook]))])
        .object(
            "",
            "services",
            "sys",
            "hook",
            Some(service(&json!({"ports": [{"port": 443}]}))),
        )
        .list("discovery.k8s.io", "endpointslices", "sys", vec![slice])
        .list("constraints.rules.test", "allowedsizes", "", vec![rule])
        .serving_everywhere("constraints.rules.test", "allowedsizes", "AllowedSizes")
}

#[test]
fn a_rule_that_lists_the_object_as_denied_rejects_its_update() {
    let violation = |more: &Value| {
        let mut entry = json!({"group": "x.test", "version": "v1", "kind": "Widget", "name": "w", "namespace": "a",
            "enforcementAction": "deny", "message": "size 9 is not allowed"});
        for (field, value) in more.as_object().into_iter().flatten() {
            entry[field] = value.clone();
        }
        json!([{"kind": "Widget", "name": "other", "message": "no"}, entry])
    };
    let diagnosis = world_with_rule(&violation(&json!({}))).explain(&widget());
    assert_eq!(verdict(&diagnosis, HOLD), Some(Verdict::Rejected));
    let told = said(&diagnosis);
    assert!(
        told.contains("webhook validation.rules.test refuses every update: size 9"),
        "{told}"
    );
    assert!(
        diagnosis
            .evidence
            .iter()
            .any(|one| one.source == "AllowedSizes small status.violations")
    );
    // A rule that only warns, one about another object, and one of another product prove nothing.
    for other in [
        json!({"enforcementAction": "warn"}),
        json!({"name": "w2"}),
        json!({"namespace": "b"}),
        json!({"kind": "Gadget"}),
        json!({"group": ""}),
    ] {
        let diagnosis = world_with_rule(&violation(&other)).explain(&widget());
        assert_ne!(verdict(&diagnosis, HOLD), Some(Verdict::Rejected), "{other}");
    }
}

/// The Job controller cannot take its finalizer off a Pod, and tells so in an event of the Job.
#[test]
fn a_denial_that_is_reported_on_the_owner_counts_if_it_names_the_object() {
    let told = |named: &str| {
        let pod = object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "report-x1", "namespace": "a", "uid": "u", "resourceVersion": "1",
                "finalizers": ["batch.kubernetes.io/job-tracking"], "deletionTimestamp": "2026-01-01T11:00:00Z",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "report", "uid": "j",
                    "controller": true}]},
                "status": {"phase": "Succeeded"}}),
        );
        let job = object(
            "batch",
            "jobs",
            "Job",
            json!({"metadata": {"name": "report", "namespace": "a", "uid": "j"}, "status": {"active": 0}}),
        );
        let event = object(
            "",
            "events",
            "Event",
            json!({"metadata": {"name": "e", "namespace": "a"}, "type": "Warning", "reason": "SyncFailed",
                "lastTimestamp": "2026-01-01T11:59:00Z", "count": 77, "source": {"component": "job-controller"},
                "involvedObject": {"apiVersion": "batch/v1", "kind": "Job", "name": "report", "namespace": "a", "uid": "j"},
                "message": format!("removing tracking finalizer: admission webhook \"v.x.test\" denied the request: \
                    resource Pod/a/{named} was blocked")}),
        );
        let rule = json!([{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["UPDATE"]}]);
        let policies = configuration("policies", &json!([webhook(&json!({"rules": rule}))]));
        let serving = object(
            "discovery.k8s.io",
            "endpointslices",
            "EndpointSlice",
            json!({"metadata": {"name": "hook", "namespace": "sys", "labels": {"kubernetes.io/service-name": "hook"}},
                "ports": [{"port": 443}], "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]}),
        );
        let service = object(
            "",
            "services",
            "Service",
            json!({"metadata": {"name": "hook", "namespace": "sys"}, "spec": {"ports": [{"port": 443}], "selector": {"a": "b"}}}),
        );
        let place = object("", "namespaces", "Namespace", json!({"metadata": {"name": "a"}}));
        let world =
            World::of([job, event, policies, serving, service, place]).serving("batch", "jobs", "Job");
        (world, pod)
    };
    let tracking = "batch.kubernetes.io/job-tracking";
    let (world, pod) = told("report-x1");
    assert_eq!(verdict(&world.explain(&pod), tracking), Some(Verdict::Rejected));
    // The Job controller has not acted, and nobody knows whether the webhook is why. Without the right to read webhooks,
    // only the first is seen. That is told as stalled, so this world has no check for fewer facts.
    let (world, pod) = told("report-x10");
    assert_eq!(
        verdict(&world.explain_large(&pod), tracking),
        Some(Verdict::Unknown)
    );
}
