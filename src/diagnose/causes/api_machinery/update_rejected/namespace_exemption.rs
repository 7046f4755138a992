//! The step that exempts one namespace from a webhook or a policy, which stays in force everywhere else.

use serde_json::{Value, json};

use crate::{
    command::Command,
    diagnose::{
        admission::webhooks::Webhook,
        kinds::WebhookConfiguration,
        model::{Safety, Step, When},
    },
    snapshot::facts::Object,
};

/// The label of every namespace with its own name (`kubernetes/kubernetes:pkg/registry/core/namespace/strategy.go`).
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A matcher of requests: a webhook, or the binding of a policy.
pub(crate) struct RequestMatcher<'a> {
    /// The binding, or the webhook configuration.
    pub(crate) configuration: &'a Object,
    /// The pointer to the part of it that has the selectors.
    pub(crate) selectors: String,
    /// A pointer, and the value that must stand there. It proves that the part is still the same.
    pub(crate) identity: (String, &'a str),
    /// Its name in a sentence.
    pub(crate) name: String,
}

/// Exempts the namespace of this object. For an object without a namespace, exempts the object itself if that can be
/// written.
pub(crate) fn step(object: &Object, matcher: &RequestMatcher<'_>) -> Option<Step> {
    let (what, operation) = if object.namespace().is_empty() {
        (
            format!("{} {}", object.kind, object.name()),
            object_exclusion(object, matcher)?,
        )
    } else {
        (
            format!("namespace {}", object.namespace()),
            namespace_exclusion(object.namespace(), matcher),
        )
    };
    let (pointer, name) = &matcher.identity;
    let operations = json!([{"op": "test", "path": pointer, "value": name}, operation]);
    Some(Step {
        when: When::Now,
        text: format!(
            "or, with its owner, except {what} from {} for as long as this takes. It stays in force everywhere else. A \
             product that manages it may put it back. Afterwards take the exception out again",
            matcher.name
        ),
        command: Some(Command::of(
            "kubectl patch {}/{} --type=json -p {}",
            [
                &matcher.configuration.resource.name(),
                matcher.configuration.name(),
                &operations.to_string(),
            ],
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    })
}

/// Exempts the namespace of this object from a webhook.
pub(super) fn of_webhook(object: &Object, webhook: &Webhook<'_>) -> Option<Step> {
    let pointer = WebhookConfiguration::pointer(webhook.index);
    let matcher = RequestMatcher {
        configuration: webhook.configuration,
        identity: (format!("{pointer}/name"), webhook.name),
        selectors: pointer,
        name: format!("webhook {}", webhook.name),
    };
    step(object, &matcher)
}

fn namespace_exclusion(namespace: &str, matcher: &RequestMatcher<'_>) -> Value {
    let exception = json!({"key": NAMESPACE_NAME, "operator": "NotIn", "values": [namespace]});
    append(matcher, &["namespaceSelector", "matchExpressions"], &exception)
}

/// Only policies can exempt objects by name.
fn object_exclusion(object: &Object, matcher: &RequestMatcher<'_>) -> Option<Value> {
    if matcher.configuration.resource.plural != "validatingadmissionpolicybindings" {
        return None;
    }
    let exception = json!({
        "apiGroups": [object.resource.group], "apiVersions": ["*"], "operations": ["UPDATE"],
        "resources": [object.resource.plural, format!("{}/*", object.resource.plural)],
        "resourceNames": [object.name()],
    });
    Some(append(matcher, &["excludeResourceRules"], &exception))
}

/// The operation that adds an entry to a list, with the parents of the list that do not exist yet.
fn append(matcher: &RequestMatcher<'_>, path: &[&str], entry: &Value) -> Value {
    let mut pointer = matcher.selectors.clone();
    let mut rest = path;
    while matcher
        .configuration
        .field(&pointer)
        .is_some_and(|value| !value.is_null())
    {
        let Some((next, after)) = rest.split_first() else {
            return json!({"op": "add", "path": format!("{pointer}/-"), "value": entry});
        };
        pointer = format!("{pointer}/{next}");
        rest = after;
    }
    let value = rest
        .iter()
        .rev()
        .fold(json!([entry]), |inside, name| json!({*name: inside}));
    json!({"op": "add", "path": pointer, "value": value})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::testing::world::bare as object;

    fn exception(target: &Object, spec: &Value) -> Option<Value> {
        let binding = object(
            "admissionregistration.k8s.io",
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            json!({"metadata": {"name": "b"}, "spec": spec}),
        );
        let matcher = RequestMatcher {
            configuration: &binding,
            selectors: "/spec/matchResources".into(),
            identity: ("/spec/policyName".into(), "p"),
            name: "binding b".into(),
        };
        let command = step(target, &matcher)?.command?;
        let operations: Value = serde_json::from_str(command.argv().last()?).expect("the patch is JSON");
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/spec/policyName", "value": "p"})
        );
        Some(operations[1].clone())
    }

    #[test]
    fn an_exemption_keeps_existing_selectors() {
        let pod = object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "a", "namespace": "n"}}),
        );
        let not_n = json!({"key": NAMESPACE_NAME, "operator": "NotIn", "values": ["n"]});
        let pointer = "/spec/matchResources";
        for (spec, path, value) in [
            (
                json!({"policyName": "p"}),
                String::from(pointer),
                json!({"namespaceSelector": {"matchExpressions": [not_n]}}),
            ),
            (
                json!({"matchResources": {"objectSelector": {}}}),
                format!("{pointer}/namespaceSelector"),
                json!({"matchExpressions": [not_n]}),
            ),
            (
                json!({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}),
                format!("{pointer}/namespaceSelector/matchExpressions"),
                json!([not_n]),
            ),
            (
                json!({"matchResources": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}}),
                format!("{pointer}/namespaceSelector/matchExpressions/-"),
                not_n.clone(),
            ),
        ] {
            assert_eq!(
                exception(&pod, &spec),
                Some(json!({"op": "add", "path": path, "value": value})),
                "{spec}"
            );
        }
    }

    #[test]
    fn an_object_without_a_namespace_is_exempted_by_its_name() {
        let node = object("", "nodes", "Node", json!({"metadata": {"name": "a"}}));
        let operation = exception(&node, &json!({"matchResources": {}})).expect("a policy can exempt a node");
        assert_eq!(operation["path"], "/spec/matchResources/excludeResourceRules");
        assert_eq!(operation["value"][0]["resourceNames"], json!(["a"]));
        assert_eq!(operation["value"][0]["operations"], json!(["UPDATE"]));
    }
}
