//! Admission that rejects the removal of a finalizer. The server's own dry run is the reference: the verdict is
//! `rejected` if and only if the dry run fails.

use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::{withstands_less, withstands_real_rights},
        told::{SOON, Told, condition, delete, finalize_by_force, goes, refusal, release, shell, told},
    },
    harness::{Cluster, Namespace, wait},
};

pub const GROUP: &str = "admission.example.test";
pub const HOLD: &str = "admission.example.test/hold";

/// A type with two versions, the second preferred, without conversion.
pub fn two_versions(cluster: &Cluster, plural: &str, kind: &str, scope: &str) {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    cluster.apply(
        &json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {"group": GROUP, "scope": scope,
                "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
                "versions": [version("v1", false), version("v2", true)]},
        })
        .to_string(),
    );
    let path = format!("/apis/{GROUP}/v2/{plural}");
    wait("the type is served", SOON, || cluster.serves(&path));
}

/// A ConfigMap whose changes a webhook configuration rejects. It shows when the server uses that configuration.
pub fn canary(cluster: &Cluster, ns: &str, name: &str) {
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": ns, "labels": {"canary": name}}})
        .to_string(),
    );
}

/// A webhook with these fields, and a second one that rejects every change of the canary.
pub fn configuration(ns: &str, kind: &str, name: &str, canary: &str, fields: &Value) -> Value {
    let entry = |name: &str, fields: &Value| {
        let mut entry = json!({
            "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 1,
            "clientConfig": {"service": {"namespace": ns, "name": "no-such-service"}},
        });
        for (field, value) in fields.as_object().unwrap() {
            entry[field] = value.clone();
        }
        entry
    };
    let of_canary = json!({
        "objectSelector": {"matchLabels": {"canary": canary}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    });
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name},
        "webhooks": [entry("canary.example.test", &of_canary), entry("case.example.test", fields)],
    })
}

/// Waits until the server uses the configuration with this canary.
pub fn wait_until_used(cluster: &Cluster, ns: &str, canary: &str) {
    wait("the server calls the webhook", SOON, || {
        refusal(cluster, &format!("configmap/{canary}"), ns)
            .is_some_and(|said| said.contains("canary.example.test"))
    });
}

/// Creates a webhook in a configuration of its own, and waits until the server uses it.
pub fn webhook(cluster: &Cluster, ns: &str, kind: &str, name: &str, fields: &Value) {
    canary(cluster, ns, name);
    cluster.apply(&configuration(ns, kind, name, name, fields).to_string());
    wait_until_used(cluster, ns, name);
}

/// Creates a widget and deletes it.
pub fn widget(cluster: &Cluster, ns: &Namespace) -> String {
    two_versions(cluster, "widgets", "Widget", "Namespaced");
    ns.apply(
        &json!({"apiVersion": format!("{GROUP}/v2"), "kind": "Widget",
            "metadata": {"name": "w", "finalizers": [HOLD], "labels": {"app": "w"}}})
        .to_string(),
    );
    let target = format!("widgets.{GROUP}/w");
    delete(cluster, &target, ns.name());
    target
}

/// A webhook for the widget with these fields, in this namespace only.
pub fn fields(ns: &str, more: &Value) -> Value {
    let mut fields = json!({
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}},
        "rules": [{"apiGroups": [GROUP], "apiVersions": ["*"], "resources": ["widgets"], "operations": ["UPDATE"]}],
    });
    for (field, value) in more.as_object().unwrap() {
        fields[field] = value.clone();
    }
    fields
}

fn rule(resources: &str, versions: &str, operation: &str) -> Value {
    json!({"rules": [{"apiGroups": ["*"], "apiVersions": [versions], "resources": [resources], "operations": [operation],
        "scope": "Namespaced"}]})
}

#[test]
fn an_unreachable_webhook_is_blamed_if_and_only_if_the_server_calls_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("asked");
    let target = widget(cluster, &ns);
    let mut exact = rule("widgets", "v1", "UPDATE");
    exact["matchPolicy"] = json!("Exact");
    let condition = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    let cases = [
        ("it is asked", json!({}), true),
        (
            "its failure is ignored",
            json!({"failurePolicy": "Ignore"}),
            false,
        ),
        (
            "another namespace",
            json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}),
            false,
        ),
        (
            "other labels",
            json!({"objectSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}),
            false,
        ),
        (
            "its labels",
            json!({"objectSelector": {"matchLabels": {"app": "w"}}}),
            true,
        ),
        (
            "not what is being deleted",
            condition("!has(object.metadata.deletionTimestamp)"),
            false,
        ),
        (
            "only what is being deleted",
            condition("request.operation == 'UPDATE' && has(object.metadata.deletionTimestamp)"),
            true,
        ),
        ("another version of it", rule("widgets", "v1", "UPDATE"), true),
        ("exactly another version", exact, false),
        ("deletions", rule("widgets", "*", "DELETE"), false),
        ("everything", rule("*/*", "*", "*"), true),
        ("it and its subresources", rule("widgets/*", "v2", "UPDATE"), true),
        ("its status", rule("widgets/status", "*", "UPDATE"), false),
    ];
    for (case, more, refused) in cases {
        let hook = cluster.unique("case");
        let kind = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]
            [usize::from(case.len() % 2 == 0)];
        webhook(cluster, ns.name(), kind, &hook, &fields(ns.name(), &more));
        let said = refusal(cluster, &target, ns.name());
        assert_eq!(said.is_some(), refused, "{case}: {said:?}");
        let story = told(cluster, &target, ns.name());
        if refused {
            assert_eq!(story.verdict(HOLD), "rejected", "{case}: {story}");
            story
                .has_root(&format!(
                    "{kind} {hook}: webhook case.example.test cannot be called"
                ))
                .says(&format!("svc/no-such-service -n {} does not exist", ns.name()));
        } else {
            assert_eq!(story.verdict(HOLD), "unknown", "{case}: {story}");
            story.never_says("case.example.test");
        }
        let all = kind.to_lowercase() + "s";
        cluster.kubectl(["delete", &format!("{all}/{hook}")]).success();
    }
    release(cluster, &target, ns.name());
}

#[test]
fn the_steps_against_an_unreachable_webhook_work() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("vetoed");
    let target = widget(cluster, &ns);
    let hook = cluster.unique("veto");
    webhook(
        cluster,
        ns.name(),
        "ValidatingWebhookConfiguration",
        &hook,
        &fields(ns.name(), &json!({})),
    );
    let story = told(cluster, &target, ns.name());
    withstands_real_rights(cluster, &target, ns.name(), 20);
    story
        .says("failed calling webhook \"case.example.test\": failed to call webhook")
        .says("delete all webhook configurations")
        .never_advises("--all")
        .is_careful();
    let refused = refusal(cluster, &target, ns.name()).expect("the removal is rejected");
    assert!(
        refused.contains("failed calling webhook \"case.example.test\": failed to call webhook"),
        "the explanation quotes the server's message: {refused}"
    );
    story.follow(
        cluster,
        &format!("kubectl get services,deployments,pods -n {}", ns.name()),
    );
    story.follow(
        cluster,
        &format!("kubectl delete validatingwebhookconfigurations.admissionregistration.k8s.io/{hook}"),
    );
    wait("the server no longer calls the webhook", SOON, || {
        refusal(cluster, &target, ns.name()).is_none()
    });
    assert_eq!(told(cluster, &target, ns.name()).verdict(HOLD), "unknown");
    release(cluster, &target, ns.name());
    goes(cluster, &target, ns.name());
}

#[test]
fn a_webhook_with_another_service_is_not_deleted() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("mixed");
    let target = widget(cluster, &ns);
    let hook = cluster.unique("mixed");
    let elsewhere = json!({"clientConfig": {"service": {"namespace": ns.name(), "name": "another"}}});
    webhook(
        cluster,
        ns.name(),
        "ValidatingWebhookConfiguration",
        &hook,
        &fields(ns.name(), &elsewhere),
    );
    let story = told(cluster, &target, ns.name());
    story.never_advises("kubectl delete").is_careful();
    story.follow(cluster, "kubectl patch validatingwebhookconfigurations");
    let left = cluster.get(["validatingwebhookconfiguration", &hook]).unwrap();
    assert_eq!(left["webhooks"].as_array().unwrap().len(), 1);
    assert_eq!(left["webhooks"][0]["name"], "canary.example.test");
    cluster
        .kubectl(["delete", "validatingwebhookconfiguration", &hook])
        .success();
    wait("the object is deleted", SOON, || {
        refusal(cluster, &target, ns.name()).is_none()
    });
    release(cluster, &target, ns.name());
}

#[test]
fn a_service_without_endpoints_is_as_unreachable_as_a_missing_one() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("nobody");
    let target = widget(cluster, &ns);
    ns.apply("{apiVersion: v1, kind: Service, metadata: {name: empty}, spec: {selector: {app: gone}, ports: [{port: 443}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: someone}, spec: {ports: [{port: 443, name: https}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: someone-1, labels: {kubernetes.io/service-name: someone}}, addressType: IPv4, ports: [{name: https, port: 9443}], endpoints: [{addresses: [192.0.2.1], conditions: {ready: true}}]}");
    let at = |config: Value| {
        let kind = "ValidatingWebhookConfiguration";
        let hook = cluster.unique("backend");
        let fields = fields(ns.name(), &json!({"clientConfig": config}));
        webhook(cluster, ns.name(), kind, &hook, &fields);
        let found = (
            told(cluster, &target, ns.name()),
            refusal(cluster, &target, ns.name()).unwrap_or_default(),
        );
        cluster.kubectl(["delete", kind, &hook]).success();
        wait("the object is deleted", SOON, || {
            refusal(cluster, &target, ns.name()).is_none()
        });
        found
    };
    let service =
        |name: &str, port: u16| json!({"service": {"namespace": ns.name(), "name": name, "port": port}});

    let (empty, refused) = at(service("empty", 443));
    assert_eq!(empty.verdict(HOLD), "rejected", "{empty}");
    assert!(refused.contains("failed to call webhook"), "{refused}");
    empty
        .says(&format!(
            "svc/empty -n {} has no endpoint that is ready",
            ns.name()
        ))
        .follow(cluster, &format!("kubectl get pods -n {} -l app=gone", ns.name()));

    let (port, refused) = at(service("empty", 8443));
    assert_eq!(port.verdict(HOLD), "rejected", "{port}");
    assert!(refused.contains("no service port 8443"), "{refused}");
    port.says(&format!("svc/empty -n {} has no port 8443", ns.name()));

    // The Service has endpoints or may have them. Whether and how they answer is unknown.
    for somebody in [
        service("someone", 443),
        json!({"url": "https://webhooks.example.test/"}),
    ] {
        let (story, _) = at(somebody);
        assert_eq!(story.verdict(HOLD), "unknown", "{story}");
        story
            .says("these are asked first and may refuse (whether they do is not known): webhook case.example.test")
            .never_advises("kubectl delete");
    }
    release(cluster, &target, ns.name());
}

/// A policy with a binding for the widgets of one namespace.
pub fn policy(cluster: &Cluster, ns: &str, name: &str, expression: &str, actions: &[&str]) -> Value {
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}},
                "resourceRules": [{"apiGroups": [GROUP], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["UPDATE"]}],
            },
            "validations": [{"expression": expression, "message": "not while it is done"}],
        },
    });
    cluster.apply(&object.to_string());
    cluster.apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name}, "spec": {"policyName": name, "validationActions": actions}})
        .to_string(),
    );
    object
}

#[test]
fn a_policy_that_rejects_is_named_and_not_called_unreachable() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("policy");
    let target = widget(cluster, &ns);
    let name = cluster.unique("no-updates");
    let refused = || refusal(cluster, &target, ns.name());

    policy(
        cluster,
        ns.name(),
        &name,
        "request.operation != 'UPDATE'",
        &["Deny"],
    );
    wait("the policy is in force", SOON, || refused().is_some());
    let story = told(cluster, &target, ns.name());
    withstands_less(cluster, &target, ns.name(), 20);
    assert_eq!(story.verdict(HOLD), "rejected", "{story}");
    let words = format!("ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request");
    assert!(refused().unwrap().contains(&words));
    story
        .says(&words)
        .has_root(&format!("ValidatingAdmissionPolicy {name}: "))
        .says("it works, and refuses for a reason")
        .never_advises("kubectl delete")
        .follow(cluster, &format!("validatingadmissionpolicy/{name}"));

    // What a policy decides on fields that do not change is known.
    let unlabelled = "!has(object.metadata.labels) || !('app' in object.metadata.labels)";
    policy(cluster, ns.name(), &name, unlabelled, &["Deny"]);
    let story = told(cluster, &target, ns.name());
    assert_eq!(story.verdict(HOLD), "rejected", "{story}");
    story.says(unlabelled);

    // Other expressions need an evaluation; a dry run shows their result.
    policy(
        cluster,
        ns.name(),
        &name,
        "object.metadata.labels.all(key, key != 'app')",
        &["Deny"],
    );
    let story = told(cluster, &target, ns.name());
    assert_eq!(story.verdict(HOLD), "unknown", "{story}");
    story.says(&format!(
        "(whether they do is not known): ValidatingAdmissionPolicy {name}"
    ));
    let command = story
        .commands()
        .into_iter()
        .find(|command| command.ends_with("--dry-run=server"))
        .expect("a command for a dry run");
    let said = shell(cluster, &format!("{command} 2>&1 || true"));
    assert!(said.contains("denied request: not while it is done"), "{said}");

    // A policy that only warns does not reject.
    policy(cluster, ns.name(), &name, "false", &["Warn"]);
    wait("the policy only warns", SOON, || refused().is_none());
    let story = told(cluster, &target, ns.name());
    assert_eq!(story.verdict(HOLD), "unknown");
    story.never_says(&name);
    for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
        cluster.kubectl(["delete", kind, &name]).success();
    }
    release(cluster, &target, ns.name());
}

/// Lets the schema of `forms` require this field, and gives `notes` another type.
pub fn tighten(cluster: &Cluster, group: &str, required: &str) {
    let patch = format!(
        r#"[{{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/required","value":["{required}"]}},
            {{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties","value":{{"spec":{{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}},"notes":{{"type":"integer"}}}}}}]"#
    );
    cluster
        .kubectl([
            "patch",
            "crd",
            &format!("forms.{group}"),
            "--type=json",
            "--patch",
            &patch,
        ])
        .success();
}

#[test]
fn an_object_that_no_longer_passes_its_schema_is_rejected() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("schema");
    let group = "schema.example.test";
    crate::stuck::custom_type(cluster, group, "forms", "Form");
    ns.apply(&format!(
        "{{apiVersion: {group}/v1, kind: Form, metadata: {{name: f, finalizers: [{HOLD}]}}, notes: old}}"
    ));
    let target = format!("forms.{group}/f");
    delete(cluster, &target, ns.name());
    // `notes` has another type now. The server tolerates that, because the field does not change.
    tighten(cluster, group, "spec");
    let refused = || refusal(cluster, &target, ns.name());
    wait("the schema is in force", SOON, || refused().is_some());
    let story = told(cluster, &target, ns.name());
    withstands_less(cluster, &target, ns.name(), 20);
    assert_eq!(story.verdict(HOLD), "rejected", "{story}");
    let said = refused().unwrap();
    assert!(said.contains("spec: Required value"), "{said}");
    story
        .says("spec: Required value")
        .has_root(&format!(
            "CustomResourceDefinition forms.{group}: its schema requires spec"
        ))
        .never_advises("delete")
        .is_careful();
    tighten(cluster, group, "notes");
    wait("the schema accepts the object", SOON, || refused().is_none());
    assert_eq!(told(cluster, &target, ns.name()).verdict(HOLD), "unknown");
    tighten(cluster, group, "spec");
    wait("the schema is in force again", SOON, || refused().is_some());
    // The step: an editor that adds the field.
    shell(
        cluster,
        &format!(
            "kubectl -n {} patch {target} --type=merge -p '{{\"spec\":{{}}}}'",
            ns.name()
        ),
    );
    assert_eq!(told(cluster, &target, ns.name()).verdict(HOLD), "unknown");
    release(cluster, &target, ns.name());
    goes(cluster, &target, ns.name());
}

#[test]
fn an_object_whose_namespace_is_gone_accepts_no_update() {
    let cluster = Cluster::shared();
    let name = cluster.unique("nowhere");
    two_versions(cluster, "widgets", "Widget", "Namespaced");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}"
    ));
    cluster.apply(&format!(
        "{{apiVersion: {GROUP}/v2, kind: Widget, metadata: {{name: w, namespace: {name}, finalizers: [{HOLD}]}}}}"
    ));
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, &name, "NamespaceFinalizersRemaining", "True");
    finalize_by_force(cluster, &name, "[]");
    goes(cluster, &format!("ns/{name}"), "");
    let target = format!("widgets.{GROUP}/w");
    let words = format!("namespaces \"{name}\" not found");
    wait("the server uses the change", SOON, || {
        refusal(cluster, &target, &name).is_some_and(|said| said.contains(&words))
    });
    let story: Told = told(cluster, &target, &name);
    withstands_less(cluster, &target, &name, 20);
    assert_eq!(story.verdict(HOLD), "rejected", "{story}");
    story
        .says(&words)
        .has_root(&format!("Namespace {name}: does not exist"));
    cluster.kubectl(["create", "namespace", &name]).success();
    assert_eq!(told(cluster, &target, &name).verdict(HOLD), "unknown");
    release(cluster, &target, &name);
}
