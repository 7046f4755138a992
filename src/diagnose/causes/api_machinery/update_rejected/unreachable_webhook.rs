//! Webhooks that the API server cannot call, and that therefore reject every update.

use crate::{
    command::Command,
    diagnose::{
        admission::webhooks::Webhook,
        causes::{advice, api_machinery::update_rejected::add_rejection},
        kinds::WebhookConfiguration,
        model::{Blocker, CauseState, Evidence, Finding, Safety, Step, Strength, When},
    },
    object::pasteable,
};

/// Adds the unreachable webhooks of one configuration. `in_full` adds their steps too.
pub(crate) fn add_unreachable_webhooks(finding: &mut Finding, webhooks: &[Webhook<'_>], in_full: bool) {
    let Some((first, backend)) = webhooks
        .first()
        .and_then(|first| Some((first, first.dead_service()?)))
    else {
        return;
    };
    let configuration = first.configuration;
    let service = pasteable("services", Some(&backend.namespace), &backend.name);
    let more = match webhooks.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more of it)"),
    };
    let blocker = Blocker::new(
        Some(configuration.reference()),
        format!(
            "webhook {}{more} cannot be called. Its {service} {}",
            first.name,
            backend.in_words()
        ),
    );
    finding.wait.on.push(blocker.in_state(CauseState::Down));
    add_rejection(
        finding,
        Some(&format!(
            "failed calling webhook \"{}\": failed to call webhook",
            first.name
        )),
    );
    finding.evidence.push(Evidence {
        source: format!(
            "{} {} webhooks[{}]",
            configuration.kind,
            configuration.name(),
            first.index
        ),
        value: format!("{} covers UPDATE of it, failurePolicy Fail", first.name),
        strength: Strength::Proof,
    });
    finding.evidence.push(backend.evidence());
    finding
        .do_not
        .push("delete all webhook configurations: that turns the policy of the whole cluster off".into());
    if !in_full {
        return;
    }
    let steps = [
        Step {
            when: When::Now,
            text: format!("see why {service} does not serve. Once it does, the webhook can be asked again"),
            command: Some(backend.command.clone()),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
        advice::save_step(
            When::ProductGone,
            &first.configuration.resource.name(),
            first.configuration.name(),
            "",
        ),
        delete_step(first),
    ];
    finding.steps.splice(0..0, steps);
}

/// The step that deletes the webhooks of a product that is gone, and nothing else.
fn delete_step(webhook: &Webhook<'_>) -> Step {
    let configuration = webhook.configuration;
    let (kind, name) = (configuration.resource.name(), configuration.name());
    let (text, then) = if webhook.is_like_the_rest() {
        (
            format!(
                "POLICY LOST: what {name} checks is checked no more. Only if its product is really uninstalled, \
                 delete this one configuration"
            ),
            Command::delete(&kind, name, ""),
        )
    } else {
        let path = WebhookConfiguration::pointer(webhook.index);
        let operations = serde_json::json!([
            {"op": "test", "path": format!("{path}/name"), "value": webhook.name},
            {"op": "remove", "path": path},
        ]);
        (
            format!(
                "POLICY LOST: what webhook {} checks is checked no more. Other webhooks of {name} call another Service, so \
                 only if the product of this one is really uninstalled, take it out of the configuration",
                webhook.name
            ),
            Command::json_patch(&kind, name, "", &operations.to_string()),
        )
    };
    Step {
        when: When::ProductGone,
        text,
        command: Some(then),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    }
}
