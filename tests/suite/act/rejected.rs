//! Rejections by the server are known and named before the confirmation.

use serde_json::json;

use super::{
    Case, HOLD,
    gate::{Fate, Gate},
    guards::refused,
};
use crate::{
    explain::told::{SOON, delete},
    harness::{Cluster, has, wait},
};

#[test]
fn a_policy_that_rejects_is_named() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "policy", &[HOLD]);
    let name = cluster.unique("no-changes");
    let api = "admissionregistration.k8s.io/v1";
    let matching = json!({
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": case.ns.name()}},
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    });
    // The diagnosis cannot evaluate this expression, so the dry run decides.
    let policy = json!({"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"failurePolicy": "Fail", "matchConstraints": matching,
            "validations": [{"expression": "object.metadata.name.startsWith('x') || size(object.metadata.name) > 9"}]}});
    let binding = json!({"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]});
    cluster.apply(&list.to_string());
    case.is_refused("the policy");
    refused(
        &case,
        case.remove(&["--plan"]),
        &format!("policy {name} is met, or its owner excepts this object"),
    );
    for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
        cluster.kubectl(["delete", kind, &name]).success();
    }
}

#[test]
fn an_unreachable_webhook_is_named() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "webhook", &[HOLD]);
    let name = cluster.unique("dead-hook");
    let hook = json!({
        "name": "dead.example.test", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 1,
        "clientConfig": {"service": {"namespace": case.ns.name(), "name": "no-such-service"}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": case.ns.name()}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    });
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [hook]});
    cluster.apply(&configuration.to_string());
    case.is_refused("the webhook");
    let out = refused(
        &case,
        case.remove(&["--plan"]),
        "This removal would be refused, too",
    );
    super::says(&out, "dead.example.test");
    refused(
        &case,
        case.run(&["nudge", "configmap/held", "--plan"]),
        "rejected: every update of it is refused",
    );
    cluster
        .kubectl(["delete", "validatingwebhookconfiguration", &name])
        .success();
}

#[test]
fn a_schema_that_the_object_no_longer_passes_is_named() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "schema");
    let plural = cluster.unique("gizmo").replace('-', "") + "s";
    let kind = "Gizmo";
    let definition = |schema: serde_json::Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.act.example.test")},
            "spec": {"group": "act.example.test", "scope": "Namespaced",
                "names": {"plural": plural, "singular": plural.trim_end_matches('s'), "kind": kind},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
        .to_string()
    };
    cluster.apply(&definition(
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    ));
    let target = format!("{plural}.act.example.test/held");
    wait("the type is served", SOON, || {
        cluster
            .kubectl(["get", &format!("{plural}.act.example.test"), "-A"])
            .code
            == 0
    });
    case.ns.apply(
        &json!({"apiVersion": "act.example.test/v1", "kind": kind, "metadata": {"name": "held", "finalizers": [HOLD]}})
            .to_string(),
    );
    delete(cluster, &target, case.ns.name());
    case.deleted_earlier(&format!("act.example.test/{plural}/{}/held", case.ns.name()));
    // A rule on the whole object, which only the server can evaluate.
    cluster.apply(&definition(json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-validations": [{"rule": "has(self.metadata.name) && self.metadata.name.startsWith('x')", "message": "names begin with x"}],
    })));
    wait("the schema is in force", SOON, || {
        let touch = ["annotate", &target, "a=b", "--overwrite", "--dry-run=server"];
        case.ns.kubectl(touch).code != 0
    });
    let words = [
        "remove",
        &target,
        "--finalizer",
        HOLD,
        "--accept=data-loss",
        "--plan",
    ];
    let out = refused(&case, case.run(&words), "the object is valid again");
    super::says(&out, "names begin with x");
}

/// A policy that adds the finalizer again in every update of the objects in this namespace.
fn policy_that_adds_the_finalizer(case: &Case<'_>) -> String {
    let name = case.cluster.unique("puts-back");
    let api = "admissionregistration.k8s.io/v1";
    let matching = json!({
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": case.ns.name()}},
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    });
    let patch = format!("[JSONPatch{{op: 'add', path: '/metadata/finalizers', value: ['{HOLD}']}}]");
    let policy = json!({"apiVersion": api, "kind": "MutatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": matching,
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}]}});
    let binding = json!({"apiVersion": api, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]});
    case.cluster.apply(&list.to_string());
    wait("the policy is in force", SOON, || {
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        let words = [
            "patch",
            "configmap",
            "held",
            "--type=merge",
            "--dry-run=server",
            "-o=json",
            "-p",
            patch,
        ];
        case.ns.kubectl(words).success().contains(HOLD)
    });
    name
}

fn delete_policy(cluster: &Cluster, policy: &str) {
    for kind in ["mutatingadmissionpolicybinding", "mutatingadmissionpolicy"] {
        cluster.kubectl(["delete", kind, policy]).success();
    }
}

#[test]
fn a_finalizer_that_is_added_again_is_noticed_before_the_write() {
    if !has("admissionregistration.k8s.io/v1 MutatingAdmissionPolicy", 36) {
        return;
    }
    let case = Case::held(Cluster::shared(), "put-back", &[HOLD]);
    let policy = policy_that_adds_the_finalizer(&case);
    refused(
        &case,
        case.remove(&["--plan"]),
        "a mutating webhook or policy puts the finalizer back",
    );
    delete_policy(case.cluster, &policy);
}

#[test]
fn a_finalizer_that_is_added_again_is_noticed_after_the_write() {
    if !has("admissionregistration.k8s.io/v1 MutatingAdmissionPolicy", 36) {
        return;
    }
    let case = Case::held(Cluster::shared(), "came-back", &[HOLD]);
    let gate = Gate::before(case.cluster, Fate::Held);
    let digest = case.digest();
    let run = case.remove(&["--confirm", &digest, gate.flag()]).spawn();
    gate.arrived(1);
    let policy = policy_that_adds_the_finalizer(&case);
    gate.open();
    let out = run.finish();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "example.com/hold is on it again: no manager is recorded");
    assert_eq!(case.noted(), ["sending", "failed"]);
    delete_policy(case.cluster, &policy);
}
