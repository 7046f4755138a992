//! Webhooks that cannot be called, and refuse everything for that.

use crate::diagnose::{
    admission::webhooks::Webhook,
    causes::{advice, api_machinery::update_rejected::refuse},
    model::{Blocker, Evidence, Finding, Safety, Step, Strength},
};

/// Dead webhooks of one configuration.
pub(crate) fn dead(finding: &mut Finding, webhooks: &[Webhook<'_>], in_full: bool) {
    let Some((first, dead)) = webhooks.first().and_then(|first| Some((first, first.dead()?))) else {
        return;
    };
    let configuration = first.configuration;
    let service = format!("{}/{}", dead.namespace, dead.service);
    let more = match webhooks.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more of it)"),
    };
    finding.wait.on.push(Blocker::new(
        Some(configuration.reference()),
        format!(
            "webhook {}{more} is asked about every update of it and cannot be called: its Service {service} {}. Its \
             failurePolicy is Fail, so the API server refuses to take the finalizer out",
            first.name, dead.why
        ),
    ));
    refuse(
        finding,
        &format!(
            "failed calling webhook \"{}\": failed to call webhook",
            first.name
        ),
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
    finding.evidence.push(Evidence {
        source: format!("Service {service}"),
        value: dead.why.clone(),
        strength: dead.strength,
    });
    finding
        .do_not
        .push("delete all webhook configurations: that turns the policy of the whole cluster off".into());
    if !in_full {
        return;
    }
    let steps = [
        Step {
            when: "what to do",
            text: format!(
                "bring back what webhook {} calls, Service {service}: it {}",
                first.name, dead.why
            ),
            command: Some(dead.command.clone()),
            safety: Safety::Safe,
        },
        without(first),
    ];
    finding.steps.splice(0..0, steps);
}

/// How to get rid of what belongs to a product that is gone, and of nothing else.
fn without(webhook: &Webhook<'_>) -> Step {
    let configuration = webhook.configuration;
    let (kind, name) = (configuration.resource.name(), configuration.name());
    let save = format!("kubectl get {kind}/{name} -o yaml > {name}-backup.yaml");
    let (text, then) = if webhook.is_like_the_rest() {
        (
            format!(
                "POLICY LOST: what {name} checks is checked no more. Only if its product is really uninstalled, save this \
                 one configuration and delete it"
            ),
            format!("kubectl delete {kind}/{name}"),
        )
    } else {
        let path = format!("/webhooks/{}", webhook.index);
        let operations = serde_json::json!([
            {"op": "test", "path": format!("{path}/name"), "value": webhook.name},
            {"op": "remove", "path": path},
        ]);
        (
            format!(
                "POLICY LOST: what webhook {} checks is checked no more. Other webhooks of {name} call another Service, so \
                 only if the product of this one is really uninstalled, save the configuration and take this one out of it",
                webhook.name
            ),
            format!(
                "kubectl patch {kind}/{name} --type=json -p {}",
                advice::quoted(&operations.to_string())
            ),
        )
    };
    Step {
        when: "product is gone?",
        text,
        command: Some(format!("{save} && {then}")),
        safety: Safety::Destructive,
    }
}
