//! Taking one namespace out of what a webhook or a policy looks at, so that everybody else keeps it.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        causes::advice,
        model::{Safety, Step},
    },
    snapshot::facts::Object,
};

/// The label that every namespace has of its own name
/// (`kubernetes/kubernetes:pkg/registry/core/namespace/strategy.go`).
const NAME: &str = "kubernetes.io/metadata.name";

/// What looks at requests: an object, where in it that stands, and what tells that it is still the same.
pub(crate) struct Looking<'a> {
    /// The binding, or the webhook configuration.
    pub(crate) configuration: &'a Object,
    /// The pointer to what holds its selectors.
    pub(crate) at: String,
    /// A pointer, and what must stand there.
    pub(crate) same: (String, &'a str),
    /// What it is called.
    pub(crate) name: String,
}

/// Excepts the namespace of this object; of one that is in none, the object itself where that can be said.
pub(crate) fn step(object: &Object, looking: &Looking<'_>) -> Option<Step> {
    let (what, operation) = if object.namespace().is_empty() {
        (
            format!("{} {}", object.kind, object.name()),
            excluded(object, looking)?,
        )
    } else {
        (
            format!("namespace {}", object.namespace()),
            not_in(object.namespace(), looking),
        )
    };
    let (pointer, name) = &looking.same;
    let operations = json!([{"op": "test", "path": pointer, "value": name}, operation]);
    Some(Step {
        when: "what to do",
        text: format!(
            "or, with its owner, except {what} from {} for as long as this takes: it stays in force everywhere else. A \
             product that manages it may put it back; afterwards take the exception out again",
            looking.name
        ),
        command: Some(format!(
            "kubectl patch {}/{} --type=json -p {}",
            looking.configuration.resource.name(),
            looking.configuration.name(),
            advice::quoted(&operations.to_string())
        )),
        safety: Safety::Reversible,
    })
}

fn not_in(namespace: &str, looking: &Looking<'_>) -> Value {
    let exception = json!({"key": NAME, "operator": "NotIn", "values": [namespace]});
    added(looking, &["namespaceSelector", "matchExpressions"], &exception)
}

/// Only policies know names of objects.
fn excluded(object: &Object, looking: &Looking<'_>) -> Option<Value> {
    if looking.configuration.resource.plural != "validatingadmissionpolicybindings" {
        return None;
    }
    let exception = json!({
        "apiGroups": [object.resource.group], "apiVersions": ["*"], "operations": ["UPDATE"],
        "resources": [object.resource.plural, format!("{}/*", object.resource.plural)],
        "resourceNames": [object.name()],
    });
    Some(added(looking, &["excludeResourceRules"], &exception))
}

/// One more in a list, with whatever around it is not there yet.
fn added(looking: &Looking<'_>, path: &[&str], entry: &Value) -> Value {
    let mut at = looking.at.clone();
    let mut rest = path;
    while looking
        .configuration
        .value
        .pointer(&at)
        .is_some_and(|value| !value.is_null())
    {
        let Some((next, after)) = rest.split_first() else {
            return json!({"op": "add", "path": format!("{at}/-"), "value": entry});
        };
        at = format!("{at}/{next}");
        rest = after;
    }
    let value = rest
        .iter()
        .rev()
        .fold(json!([entry]), |inside, name| json!({*name: inside}));
    json!({"op": "add", "path": at, "value": value})
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
        let looking = Looking {
            configuration: &binding,
            at: "/spec/matchResources".into(),
            same: ("/spec/policyName".into(), "p"),
            name: "binding b".into(),
        };
        let command = step(target, &looking)?.command?;
        let operations = command.split('\'').nth(1)?;
        let operations: Value = serde_json::from_str(operations).expect("it is JSON");
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/spec/policyName", "value": "p"})
        );
        Some(operations[1].clone())
    }

    #[test]
    fn what_is_not_there_yet_is_made_and_what_is_there_stays() {
        let pod = object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "a", "namespace": "n"}}),
        );
        let not_n = json!({"key": NAME, "operator": "NotIn", "values": ["n"]});
        let at = "/spec/matchResources";
        for (spec, path, value) in [
            (
                json!({"policyName": "p"}),
                String::from(at),
                json!({"namespaceSelector": {"matchExpressions": [not_n]}}),
            ),
            (
                json!({"matchResources": {"objectSelector": {}}}),
                format!("{at}/namespaceSelector"),
                json!({"matchExpressions": [not_n]}),
            ),
            (
                json!({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}),
                format!("{at}/namespaceSelector/matchExpressions"),
                json!([not_n]),
            ),
            (
                json!({"matchResources": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}}),
                format!("{at}/namespaceSelector/matchExpressions/-"),
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
    fn what_is_in_no_namespace_is_excepted_by_its_name() {
        let node = object("", "nodes", "Node", json!({"metadata": {"name": "a"}}));
        let operation = exception(&node, &json!({"matchResources": {}})).expect("it can be said");
        assert_eq!(operation["path"], "/spec/matchResources/excludeResourceRules");
        assert_eq!(operation["value"][0]["resourceNames"], json!(["a"]));
        assert_eq!(operation["value"][0]["operations"], json!(["UPDATE"]));
    }
}
