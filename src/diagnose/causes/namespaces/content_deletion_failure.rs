//! The namespace controller tries to delete the content, and the API server rejects that.
//!
//! # Symptom
//!
//! A namespace has the condition `NamespaceDeletionContentFailure` with `Failed to delete all resource types`. Often it
//! goes on with `failed calling webhook`, `denied the request` or `conversion webhook for`.
//!
//! ```text
//! $ kubectl finalizers explain ns/shop --from tests/causes/namespaces.yaml
//! ```
//!
//! # Why
//!
//! The message is the literal error of the API server. A webhook cannot be called, a webhook or policy denies, or a
//! conversion webhook is gone. The controller may take minutes to write the condition, because it tries again first.
//! `unexpected items still remain` alone is no failure: the kubelets have not confirmed these pods yet. A request that
//! timed out over very many objects is slow, and no finalizer holds it up.
//!
//! # Before you act
//!
//! Find out whether the product behind the webhook is still wanted. Its webhook may guard other namespaces, too.
//!
//! # If it was a mistake
//!
//! Leave the webhook as it is: it keeps the content for now. Save what you need, and keep the disks with `kubectl
//! finalizers rescue pv/NAME --only-retain`; the explanation names the volumes.
//!
//! # If it was intended
//!
//! Bring the Service behind the webhook back. If its product is uninstalled, save its webhook configuration and delete
//! that one.
//!
//! # Do not
//!
//! Do not delete all webhook configurations. That switches off the policies of the whole cluster.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the API server rejects requests of the controller; the message is quoted |
//! | waiting | only pods remain that their kubelets have not confirmed |
//!
//! # What it reads
//!
//! The webhook configurations, and the Service behind the webhook that the message names.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/status_condition_utils.go`
//! - `kubernetes/apiserver:pkg/admission/plugin/webhook/`

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            api_machinery::{conversion_webhook, stored_version, unreadable_object},
        },
        complaint::with_repeats_counted,
        kinds::{Webhook, WebhookConfiguration},
        model::{Blocker, Finding, Page, Safety, Step, Verdict, When},
        service_backend::ServiceBackend,
        view::View,
    },
    object::pasteable,
    snapshot::{Gap, What, Why, facts::Object},
};

const GROUP: &str = "admissionregistration.k8s.io";
const CONDITION: &str = "NamespaceDeletionContentFailure";

pub(crate) fn add_content_failures(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    let condition = namespace.condition(CONDITION);
    let message = match condition {
        Some(("True", _, message)) => message,
        _ => "",
    };
    let unlistable = unlistable_types(namespace, view);
    let was_rejected = message.contains("failed calling webhook")
        || message.contains("denied")
        || message.contains("forbidden")
        || conversion_webhook::is_reported(message)
        || unreadable_object::is_reported(message);
    let only_waits_for_pods = message.contains("unexpected items still remain in namespace") && !was_rejected;
    if !message.is_empty() && !only_waits_for_pods {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.verdict = Verdict::Failing;
        finding.say(format!("it fails: {}", with_repeats_counted(message)));
        if timed_out(namespace) {
            finding.say(
                "That request ran out of time, as one does over very many objects: no finalizer holds it up, and each time \
                 it begins again",
            );
        }
        for webhook in all_between(message, "failed calling webhook \"", "\"") {
            add_unreachable_webhook(finding, webhook, view);
        }
        for webhook in all_between(message, "admission webhook \"", "\" denied") {
            add_denying_webhook(finding, webhook);
        }
        for policy in all_between(message, "ValidatingAdmissionPolicy '", "'") {
            add_denying_policy(finding, policy, view);
        }
    }
    for (type_name, text) in &unlistable {
        if !message.contains(text) {
            finding.say(format!("{type_name} cannot be listed: {text}"));
        }
        stored_version::add_missing_versions_of_type(finding, type_name, text, view);
        if !is_explained(text) {
            finding.wait.on.push(Blocker::new(
                None,
                format!(
                    "the API server fails to list {type_name} ({text}), and while it does, nobody can see that none is left; \
                     if it goes on, it is most often one object that it cannot read from its store"
                ),
            ));
        }
    }
    let messages = || std::iter::once(message).chain(unlistable.iter().map(|(_, text)| *text));
    conversion_webhook::add_conversion_failure(finding, messages(), view);
    unreadable_object::add_unreadable_objects(finding, messages(), view);
}

/// Whether a request to delete all objects of a type ended before it was done. These are the messages that a client
/// reports (`kubernetes/apimachinery:pkg/api/errors/errors.go`,
/// `kubernetes/apiserver:pkg/server/filters/timeout.go`).
pub(crate) fn timed_out(namespace: &Object) -> bool {
    let timeouts = [
        "unable to return a response in the time allotted",
        "request did not complete within",
        "context deadline exceeded",
        "INTERNAL_ERROR; received from peer",
    ];
    match namespace.condition(CONDITION) {
        Some(("True", _, message)) => {
            !message.contains("webhook") && timeouts.iter().any(|timeout| message.contains(timeout))
        }
        _ => false,
    }
}

/// Whether another cause explains this error of a list.
fn is_explained(text: &str) -> bool {
    conversion_webhook::is_reported(text)
        || unreadable_object::is_reported(text)
        || stored_version::is_reported(text)
}

/// The types whose objects the server can return to nobody, and its messages.
fn unlistable_types<'a>(namespace: &Object, view: &View<'a>) -> Vec<(&'a str, &'a str)> {
    if namespace.deletion().is_none() {
        return Vec::new();
    }
    let Ok(Some(content)) = view.content(namespace.name()) else {
        return Vec::new();
    };
    let unlistable = |gap: &'a Gap| match (&gap.what, &gap.why) {
        (What::TypeIn { name, .. } | What::Type { name, .. }, Why::ServerError(text)) => {
            Some((&**name, &**text))
        }
        // A watch cache that cannot be filled reports that with the reason, and with a request to wait.
        (What::TypeIn { name, .. } | What::Type { name, .. }, Why::Throttled(text)) if is_explained(text) => {
            Some((&**name, &**text))
        }
        _ => None,
    };
    content.gaps.iter().filter_map(unlistable).collect()
}

fn add_denying_webhook(finding: &mut Finding, webhook: &str) {
    finding.wait.on.push(Blocker::new(
        None,
        format!("admission webhook {webhook} runs and denies the deletion; its reason is in the message"),
    ));
    finding.do_not.push(format!(
        "delete the configuration of webhook {webhook}: it works, and refuses for a reason"
    ));
}

/// Adds a policy that denies, and the step that shows it. The policy works as intended.
fn add_denying_policy(finding: &mut Finding, policy: &str, view: &View<'_>) {
    let object = match view.object(GROUP, "validatingadmissionpolicies", "", policy) {
        Ok(Some(found)) => Some(found.reference()),
        Ok(None) => {
            finding.say(format!(
                "there is no ValidatingAdmissionPolicy {policy} any more, so the controller should get through when it \
                 tries again, within a minute or two"
            ));
            return;
        }
        // The gaps name what could not be read. The message counts anyway.
        Err(_) => None,
    };
    finding.wait.on.push(Blocker::new(
        object,
        format!("policy {policy} denies the deletion of something in it; its reason is in the message"),
    ));
    finding.steps.push(Step {
        when: When::Now,
        text: format!("see what policy {policy} demands, and meet it or except this namespace from its binding"),
        command: Some(Command::of("kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings -o yaml --field-selector metadata.name={}", [policy])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    finding.do_not.push(format!(
        "delete policy {policy}: it works, for the whole cluster, and refuses for a reason"
    ));
}

fn all_between<'a>(text: &'a str, before: &str, after: &str) -> BTreeSet<&'a str> {
    text.split(before)
        .skip(1)
        .filter_map(|rest| rest.split_once(after))
        .map(|(inside, _)| inside)
        .filter(|inside| !inside.contains(['"', ' ']))
        .collect()
}

/// Adds the configuration of this webhook, and the Service that it calls.
fn add_unreachable_webhook(finding: &mut Finding, webhook: &str, view: &View<'_>) {
    let mut found = false;
    for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        let Ok(configurations) = view.list(GROUP, plural, "") else {
            // The gaps name what could not be read. The message counts anyway.
            found = true;
            continue;
        };
        for configuration in configurations {
            let mut webhooks = WebhookConfiguration(configuration).webhooks();
            let Some(entry) = webhooks.find(|entry| entry.name() == webhook) else {
                continue;
            };
            found = true;
            add_webhook_configuration(finding, configuration, webhook, entry, view);
        }
    }
    if !found {
        finding.say(format!(
            "no configuration has webhook {webhook} any more, so the controller should get through when it tries again, \
             within a minute or two"
        ));
    }
}

fn add_webhook_configuration(
    finding: &mut Finding,
    configuration: &Object,
    webhook: &str,
    entry: Webhook<'_>,
    view: &View<'_>,
) {
    let service = match entry.service() {
        None => "it is called by a URL".to_owned(),
        Some(service) => {
            let backend = ServiceBackend::of(service, view);
            finding.evidence.push(backend.evidence());
            finding.steps.push(Step {
                when: When::Now,
                text: format!("see what webhook {webhook} calls. Once that answers, the deletion goes on"),
                command: Some(backend.command.clone()),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            });
            format!(
                "its {} {}",
                pasteable("services", Some(service.namespace), service.name),
                backend.in_words()
            )
        }
    };
    finding.wait.on.push(Blocker::new(
        Some(configuration.reference()),
        format!(
            "webhook {webhook} cannot be called, and its failurePolicy refuses everything then; {service}"
        ),
    ));
    let (kind, object) = (configuration.resource.name(), configuration.name());
    finding
        .steps
        .push(advice::save_step(When::ProductGone, &kind, object, ""));
    finding.steps.push(Step {
        when: When::ProductGone,
        text: format!(
            "POLICY LOST: what {object} checks is checked no more. Only if its product is really uninstalled, delete this one \
             configuration"
        ),
        command: Some(Command::delete(&kind, object, "")),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
    finding
        .do_not
        .push("delete all webhook configurations: that turns the policy of the whole cluster off".into());
}
