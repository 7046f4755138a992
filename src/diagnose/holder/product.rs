//! Other parts of the holder's product: its webhooks, its API services, and whoever installed it.
//!
//! A webhook configuration or an `APIService` is a promise that something answers. One whose Service is not there is a
//! trace of a product that was taken away in the wrong order. That none is there proves nothing: most products have
//! none.

use serde_json::Value;

use crate::{
    diagnose::{
        holder::trace::{Holder, Sign, Tells, Trace},
        model::Strength,
        view::{Missing, View},
    },
    knowledge::Entry,
    object::is_custom_group,
    snapshot::facts::Object,
};

/// Looks at what the entry names.
pub(super) fn look(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let admission = "admissionregistration.k8s.io";
    for name in entry.holder.webhooks.iter().filter(|name| !name.contains('*')) {
        for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            let found = view.object(admission, plural, "", name);
            let Some(configuration) = seen(found, holder) else {
                continue;
            };
            for webhook in configuration.list("/webhooks") {
                let service = webhook.pointer("/clientConfig/service");
                backend(configuration, service, holder, view);
            }
        }
    }
    for name in entry
        .holder
        .api_services
        .iter()
        .filter(|name| !name.contains('*'))
    {
        let found = view.object("apiregistration.k8s.io", "apiservices", "", name);
        if let Some(service) = seen(found, holder) {
            backend(service, service.value.pointer("/spec/service"), holder, view);
        }
    }
}

/// The definition of the object's type: who installed it, and whether what converts its versions is there.
pub(super) fn definition<'a>(object: &Object, holder: &mut Holder, view: &View<'a>) -> Option<&'a Object> {
    if !is_custom_group(&object.resource.group) {
        return None;
    }
    let name = object.resource.name();
    let found = view.definition(&name);
    let definition = seen(found, holder)?;
    if definition.text("/spec/conversion/strategy") == "Webhook" {
        let service = definition
            .value
            .pointer("/spec/conversion/webhook/clientConfig/service");
        backend(definition, service, holder, view);
    }
    owners(definition, holder, view);
    Some(definition)
}

/// A definition that a package manager made has its package for an owner, as the ones of a Crossplane provider have their
/// `ProviderRevision`. With that the controller goes too.
fn owners(definition: &Object, holder: &mut Holder, view: &View<'_>) {
    for owner in definition.list("/metadata/ownerReferences") {
        let field = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (field("kind"), field("name"));
        let Some((group, _)) = field("apiVersion").split_once('/') else {
            continue;
        };
        let gone = match view.kind(group, kind) {
            Some(ty) => match view.object(&ty.group, &ty.plural, "", name) {
                Ok(found) => found.is_none(),
                Err(missing) => {
                    holder.wait_for(&missing);
                    false
                }
            },
            None => view.knows_all_types(),
        };
        if gone {
            holder.add(
                Sign::new(
                    Trace::Product,
                    Tells::Gone,
                    Strength::Strong,
                    format!("{} {}", definition.kind, definition.name()),
                    format!("belongs to {kind} {name}, which does not exist"),
                )
                .of("metadata.ownerReferences")
                .about(definition.reference()),
            );
        }
    }
}

/// What is there. What cannot be seen is one sign less.
fn seen<'a>(found: Result<Option<&'a Object>, Missing>, holder: &mut Holder) -> Option<&'a Object> {
    found.unwrap_or_else(|missing| {
        holder.wait_for(&missing);
        None
    })
}

/// A Service that something of the product points at.
fn backend(of: &Object, service: Option<&Value>, holder: &mut Holder, view: &View<'_>) {
    let field = |name: &str| {
        service
            .and_then(|service| service.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (namespace, name) = (field("namespace"), field("name"));
    if namespace.is_empty() || name.is_empty() {
        return;
    }
    match view.object("", "services", namespace, name) {
        Ok(None) => holder.add(
            Sign::new(
                Trace::Product,
                Tells::Gone,
                Strength::Strong,
                format!("{} {}", of.kind, of.name()),
                format!("points at the Service {namespace}/{name}, which does not exist"),
            )
            .about(of.reference()),
        ),
        Ok(Some(_)) => {}
        Err(missing) => holder.wait_for(&missing),
    }
}

/// Who installed a definition, as far as it says.
pub fn installer(definition: &Object) -> Option<String> {
    let label = |name: &str| {
        definition
            .value
            .pointer("/metadata/labels")
            .and_then(|labels| labels.get(name))
            .and_then(Value::as_str)
    };
    let release = definition.annotation("meta.helm.sh/release-name");
    if !release.is_empty() {
        let namespace = definition.annotation("meta.helm.sh/release-namespace");
        return Some(format!("Helm release {release} in namespace {namespace}"));
    }
    let olm = definition
        .value
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .find_map(|(key, _)| key.strip_prefix("operators.coreos.com/"));
    if let Some((name, namespace)) = olm.and_then(|olm| olm.split_once('.')) {
        return Some(format!("OLM, as operator {name} in namespace {namespace}"));
    }
    let tracked = definition.annotation("argocd.argoproj.io/tracking-id");
    if let Some((application, _)) = tracked.split_once(':') {
        return Some(format!("Argo CD application {application}"));
    }
    if let Some(application) = label("argocd.argoproj.io/instance") {
        return Some(format!("Argo CD application {application}"));
    }
    for (kind, name, namespace) in [
        (
            "HelmRelease",
            "helm.toolkit.fluxcd.io/name",
            "helm.toolkit.fluxcd.io/namespace",
        ),
        (
            "Kustomization",
            "kustomize.toolkit.fluxcd.io/name",
            "kustomize.toolkit.fluxcd.io/namespace",
        ),
    ] {
        if let (Some(name), Some(namespace)) = (label(name), label(namespace)) {
            return Some(format!("Flux {kind} {namespace}/{name}"));
        }
    }
    let owner = definition.list("/metadata/ownerReferences").first()?;
    let field = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(format!("{} {}", field("kind"), field("name")))
}
