//! A conversion webhook is gone: objects stored in another version can be neither listed nor deleted.
//!
//! # Symptom
//!
//! `conversion webhook for GROUP/VERSION, Kind=KIND failed` stands in the error of a list or in a condition of a
//! namespace. The definition has `spec.conversion.strategy: Webhook`.
//!
//! ```text
//! $ kubectl finalizers explain ns/billing --from tests/causes/api_machinery.yaml
//! ```
//!
//! # Why
//!
//! The API server converts each object whose stored version is not the requested one. One object that it cannot convert
//! fails the whole list. So neither the namespace nor the definition is ever found empty.
//!
//! # Before you act
//!
//! Find out which product the webhook belongs to, and whether that is still wanted.
//!
//! # If it was a mistake
//!
//! Nothing of this type is deleted while it cannot be read. Bring the webhook back, and save the objects then.
//!
//! # If it was intended
//!
//! Bring the Service of the webhook back. If the product is uninstalled, set `strategy: None` on the definition. The
//! API server then only changes `apiVersion`, and fields that the other version does not know are lost when an object
//! is written.
//!
//! # Do not
//!
//! Do not remove the finalizer of the definition. The objects stay in etcd and come back with the next definition of
//! that name.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the conversion fails; the Service is the root cause |
//!
//! # What it reads
//!
//! The definition and the Service behind its webhook.
//!
//! # Sources
//!
//! - `kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/webhook_converter.go`

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        causes::advice,
        kinds::CustomResourceDefinition,
        limits,
        model::{Blocker, CauseState, Finding, Page, Safety, Step, Verdict, When},
        service_backend::ServiceBackend,
        view::View,
    },
    object::{ResourceType, pasteable},
    snapshot::facts::Object,
};

const MESSAGE: &str = "conversion webhook for ";

/// Adds the definitions whose conversion failed according to these messages.
pub(crate) fn add_conversion_failure<'a>(
    finding: &mut Finding,
    messages: impl Iterator<Item = &'a str>,
    view: &View<'_>,
) {
    let failed: BTreeSet<_> = messages.flat_map(failed_kinds).collect();
    for (group, kind) in failed {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.verdict = Verdict::Failing;
        let of_kind = |ty: &&ResourceType| ty.group == group && ty.kind == kind;
        let Some(ty) = view.types().iter().find(of_kind) else {
            continue;
        };
        let name = ty.name();
        match view.definition(&name) {
            Ok(Some(crd)) => add_definition(finding, crd, view),
            Ok(None) => finding.say(format!("the definition {name} has gone since")),
            Err(missing) => finding.say(format!(
                "which webhook {name} is converted by is not known: {}",
                missing.in_words()
            )),
        }
    }
}

/// Adds the definitions whose conversion webhook cannot be called, although objects may be stored in another version than
/// clients request. No list failed before our eyes then: a dump holds no errors.
pub(crate) fn add_dead_webhooks(finding: &mut Finding, view: &View<'_>) {
    let Ok(definitions) = view.list("apiextensions.k8s.io", "customresourcedefinitions", "") else {
        return;
    };
    let converted = definitions.iter().filter_map(|crd| {
        let definition = CustomResourceDefinition(crd);
        let service = definition.conversion_service()?;
        let ty = view.resource_type(definition.group(), definition.plural());
        let is_other = |stored: &str| ty.is_none_or(|ty| ty.version != stored);
        definition
            .stored_versions()
            .any(is_other)
            .then_some((crd, service))
    });
    for (crd, service) in converted.take(limits::WEBHOOK_SERVICES) {
        if ServiceBackend::of(service, view).is_dead() {
            add_definition(finding, crd, view);
        }
    }
}

/// Adds this definition as a blocker, and the webhook behind it.
fn add_definition(finding: &mut Finding, crd: &Object, view: &View<'_>) {
    if let Some(webhook) = add_webhook(finding, crd, view) {
        let says = "its conversion webhook cannot be called, so none of its objects that is stored in another version can \
                    be listed or deleted";
        let mut blocker = Blocker::new(Some(crd.reference()), says).in_state(CauseState::Down);
        blocker.on = webhook.on;
        finding.wait.on.push(blocker);
        finding.do_not.push(format!(
            "take customresourcecleanup.apiextensions.k8s.io out of {}: the objects that cannot be read now stay in etcd, \
             and come back with the next definition of that name (ORPHANED OBJECTS)",
            crd.name()
        ));
    }
}

/// `GROUP` and `KIND` of each failed conversion in a message.
fn failed_kinds(message: &str) -> Vec<(&str, &str)> {
    message
        .split(MESSAGE)
        .skip(1)
        .filter_map(|rest| {
            let (version, rest) = rest.split_once(", Kind=")?;
            let (kind, _) = rest.split_once(" failed")?;
            let (group, _) = version.split_once('/')?;
            Some((group, kind))
        })
        .collect()
}

/// Whether this message reports a failed conversion.
pub(crate) fn is_reported(message: &str) -> bool {
    !failed_kinds(message).is_empty()
}

/// The conversion webhook of this definition, as a blocker of whatever waits for its objects. Adds the steps that
/// repair it.
pub(crate) fn add_webhook(finding: &mut Finding, crd: &Object, view: &View<'_>) -> Option<Blocker> {
    let name = crd.name();
    if !CustomResourceDefinition(crd).is_converted_by_webhook() {
        finding.say(format!(
            "{name} is no longer converted by a webhook, so the next try should get through, within a minute or two"
        ));
        return None;
    }
    finding.tell_of(Page::of(module_path!()));
    let mut blocker = Blocker::new(None, String::new());
    let service = CustomResourceDefinition(crd).conversion_service();
    match service.map(|service| ServiceBackend::of(service, view)) {
        Some(service) => {
            blocker.on.push(service.blocker());
            finding.evidence.push(service.evidence());
            finding.steps.push(Step {
                when: When::Now,
                text: format!(
                    "see what the conversion webhook of {name} calls, {}. Once that answers, its objects can be read, and \
                     the deletion goes on",
                    pasteable("services", Some(&service.namespace), &service.name)
                ),
                command: Some(service.command),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            });
        }
        None => finding.say(format!(
            "{name} is converted by a webhook at a URL, which only the API server can try"
        )),
    }
    finding
        .steps
        .push(advice::save_step(When::ProductGone, "crd", name, ""));
    finding.steps.push(Step {
        when: When::ProductGone,
        text: format!(
            "FIELDS ARE LOST where the versions of {name} differ: without a webhook only apiVersion is changed, what the \
             other version does not know is pruned at the next write, and whatever still uses the objects may misread \
             them. Only if its product is really uninstalled and the objects are to go: convert with strategy None"
        ),
        command: Some(Command::merge_patch(
            "crd",
            name,
            "",
            r#"{"spec":{"conversion":{"strategy":"None","webhook":null}}}"#,
        )),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
    Some(blocker)
}
