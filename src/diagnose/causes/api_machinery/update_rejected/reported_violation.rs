//! A rule that the object breaks, by the report of whoever runs the webhook that is asked.
//!
//! A policy engine also looks at what exists already. Each constraint of Gatekeeper lists in its status which objects break
//! it, and what it does about them. An object changes little after its deletion, so the engine refuses each update of it, also the
//! one that takes a finalizer out. Only a report that says `deny` counts: other rules warn. The engine is known by the
//! domain of its validating webhook: `validation.gatekeeper.sh` has the rules of `constraints.gatekeeper.sh`. Source:
//! `open-policy-agent/gatekeeper:pkg/audit/manager.go` StatusViolation.

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        admission::{Truth, webhooks::Webhook},
        causes::api_machinery::update_rejected::{PAGE, add_rejection, namespace_exemption, reported_denial},
        complaint::shortened,
        limits,
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, When},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the rules that this object breaks. Returns the names of the webhooks that refuse because of them.
pub(super) fn add_reported_violations(
    object: &Object,
    finding: &mut Finding,
    webhooks: &[Webhook<'_>],
    view: &View<'_>,
) -> Vec<String> {
    let may_refuse = |webhook: &&Webhook<'_>| {
        webhook.asked == Truth::Yes
            && webhook.dead_service().is_none()
            && webhook.configuration.resource.plural == "validatingwebhookconfigurations"
    };
    let mut refusing = Vec::new();
    for webhook in webhooks.iter().filter(may_refuse) {
        for violation in violations(object, webhook.name, view) {
            add_violation(object, finding, webhook, &violation);
            refusing.push(webhook.name.to_owned());
        }
    }
    refusing
}

/// An entry in the status of a rule, which names the object.
struct Violation<'a> {
    rule: &'a Object,
    field: String,
    message: &'a str,
}

/// What the rules behind a webhook report about this object.
fn violations<'a>(object: &Object, webhook: &str, view: &View<'a>) -> Vec<Violation<'a>> {
    let domain = webhook.split_once('.').map_or("", |(_, domain)| domain);
    let group = format!("constraints.{domain}");
    let of_engine = view.types().iter().filter(|ty| ty.group == group);
    let rules = of_engine
        .take(limits::TYPES_OF_POLICIES)
        .flat_map(|ty| view.list(&ty.group, &ty.plural, "").unwrap_or_default());
    rules.filter_map(|rule| violation(rule, object)).collect()
}

fn violation<'a>(rule: &'a Object, object: &Object) -> Option<Violation<'a>> {
    let status = rule.value.get("status")?.as_object()?;
    let lists = status
        .iter()
        .filter_map(|(field, value)| Some((field, value.as_array()?)));
    lists
        .flat_map(|(field, entries)| entries.iter().map(move |entry| (field, entry)))
        .find(|(_, entry)| names(entry, object) && is_denied(entry))
        .map(|(field, entry)| Violation {
            rule,
            field: format!("status.{field}"),
            message: text(entry, "message"),
        })
}

fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn names(entry: &Value, object: &Object) -> bool {
    text(entry, "kind") == object.kind
        && text(entry, "group") == object.resource.group
        && text(entry, "name") == object.name()
        && text(entry, "namespace") == object.namespace()
}

fn is_denied(entry: &Value) -> bool {
    text(entry, "enforcementAction") == "deny"
}

fn add_violation(object: &Object, finding: &mut Finding, webhook: &Webhook<'_>, violation: &Violation<'_>) {
    let rule = violation.rule;
    let message = shortened(violation.message);
    let says = format!(
        "its status lists this object as one that breaks it, so webhook {} refuses every update: {message}",
        webhook.name
    );
    finding.wait.on.push(Blocker::new(Some(rule.reference()), says));
    finding.tell_of(PAGE);
    add_rejection(
        finding,
        Some(&format!(
            "admission webhook \"{}\" denied the request",
            webhook.name
        )),
    );
    finding.evidence.push(Evidence {
        source: format!("{} {} {}", rule.kind, rule.name(), violation.field),
        value: format!("enforcementAction deny: {message}"),
        strength: Strength::Strong,
    });
    let exemption = namespace_exemption::of_webhook(object, webhook);
    let see = Step {
        when: When::Now,
        text: format!(
            "see what {} {} demands, and whom it leaves out",
            rule.kind,
            rule.name()
        ),
        command: Some(Command::of(
            "kubectl get {}/{} -o yaml",
            [&rule.resource.name(), rule.name()],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    };
    finding
        .steps
        .splice(0..0, [Some(see), exemption].into_iter().flatten());
    finding.do_not.push(reported_denial::do_not(webhook));
}
