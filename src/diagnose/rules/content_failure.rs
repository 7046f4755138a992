//! The namespace controller tries to delete the content and is refused.
//!
//! **Recognises** the condition `NamespaceDeletionContentFailure`. **Why:** its message is the error of the API
//! server, literally: a webhook that cannot be called, one that denies, a policy, a conversion webhook that is gone.
//! Source: `kubernetes/kubernetes:pkg/controller/namespace/deletion/status_condition_utils.go`,
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/`. **Wants** the webhook configurations, and the Service behind
//! the webhook that the message names. **Concludes** `failing`, with the message quoted. `unexpected items still
//! remain` alone is no failure: pods whose kubelet has not confirmed. **Advises** to bring the Service back; to
//! delete that one configuration, saved, only when its product is uninstalled.

use serde_json::Value;

use crate::{
    diagnose::{
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

const GROUP: &str = "admissionregistration.k8s.io";
const CONDITION: &str = "NamespaceDeletionContentFailure";

pub(super) fn look(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    let Some(("True", _, message)) = namespace.condition(CONDITION) else {
        return;
    };
    let refused = [
        "failed calling webhook",
        "denied",
        "forbidden",
        "conversion webhook",
    ]
    .iter()
    .any(|sign| message.contains(sign));
    if message.contains("unexpected items still remain in namespace") && !refused {
        return;
    }
    finding.wait.verdict = Verdict::Failing;
    finding.say(format!("; it fails: {message}"));
    if let Some(webhook) = between(message, "failed calling webhook \"", "\"") {
        dead_webhook(finding, webhook, view);
    } else if let Some(webhook) = between(message, "admission webhook \"", "\" denied") {
        finding.wait.on.push(Blocker::new(
            None,
            format!("admission webhook {webhook} runs and denies the deletion; its reason is in the message"),
        ));
        finding.do_not.push(format!(
            "delete the configuration of webhook {webhook}: it works, and refuses for a reason"
        ));
    } else if let Some(policy) = between(message, "ValidatingAdmissionPolicy '", "'") {
        finding.wait.on.push(Blocker::new(
            None,
            format!("ValidatingAdmissionPolicy {policy} denies the deletion; its reason is in the message"),
        ));
        finding.steps.push(Step {
            when: "what to do",
            text: "see what the policy demands, and meet it or except this namespace".into(),
            command: Some(format!("kubectl get validatingadmissionpolicy {policy} -o yaml")),
            safety: Safety::Safe,
        });
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(inside, _)| inside)
}

/// The configuration that has this webhook, and the Service that it calls.
fn dead_webhook(finding: &mut Finding, webhook: &str, view: &View<'_>) {
    let mut found = false;
    for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        let Ok(configurations) = view.list(GROUP, plural, "") else {
            // What could not be read is named among the gaps; the message stands all the same.
            found = true;
            continue;
        };
        for configuration in configurations {
            let Some(entry) = configuration
                .list("/webhooks")
                .iter()
                .find(|entry| entry.get("name").and_then(Value::as_str) == Some(webhook))
            else {
                continue;
            };
            found = true;
            blame(finding, configuration, webhook, entry, view);
        }
    }
    if !found {
        finding.say(format!(
            "; no configuration has webhook {webhook} any more, so the controller should get through when it tries again, \
             within a minute or two"
        ));
    }
}

fn blame(finding: &mut Finding, configuration: &Object, webhook: &str, entry: &Value, view: &View<'_>) {
    let field = |name: &str| {
        entry
            .pointer(&format!("/clientConfig/service/{name}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (namespace, name) = (field("namespace"), field("name"));
    let service = if name.is_empty() {
        "it is called by a URL".to_owned()
    } else {
        let state = match view.object("", "services", namespace, name) {
            Ok(Some(_)) => "exists, so see whether it has ready endpoints".to_owned(),
            Ok(None) => "does not exist".to_owned(),
            Err(missing) => format!("could not be looked at: {}", missing.in_words()),
        };
        finding.evidence.push(Evidence {
            source: format!("Service {namespace}/{name}"),
            value: state.clone(),
            strength: Strength::Strong,
        });
        finding.steps.push(Step {
            when: "what to do",
            text: format!("bring back what webhook {webhook} calls, and the deletion goes on by itself"),
            command: Some(format!("kubectl -n {namespace} get service,endpointslices,pods")),
            safety: Safety::Safe,
        });
        format!("its Service {namespace}/{name} {state}")
    };
    finding.wait.on.push(Blocker::new(
        Some(configuration.reference()),
        format!(
            "webhook {webhook} cannot be called, and its failurePolicy refuses everything then; {service}"
        ),
    ));
    let (kind, object) = (configuration.resource.name(), configuration.name());
    finding.steps.push(Step {
        when: "product is gone?",
        text: format!(
            "POLICY LOST: what {object} checks is checked no more. Only if its product is really uninstalled, save this one \
             configuration and delete it"
        ),
        command: Some(format!(
            "kubectl get {kind}/{object} -o yaml > {object}-backup.yaml && kubectl delete {kind}/{object}"
        )),
        safety: Safety::Destructive,
    });
    finding
        .do_not
        .push("delete all webhook configurations: that turns the policy of the whole cluster off".into());
}
