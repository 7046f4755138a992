//! The admission webhooks that are asked about a change, and what they do with it.
//!
//! A webhook that cannot be called refuses everything if its `failurePolicy` is Fail, which is the default. A
//! webhook that runs may refuse for reasons that only it knows. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/{validating,mutating}/dispatcher.go`.

use serde_json::Value;

use crate::{
    diagnose::{
        admission::{Change, Truth, conditions, matching::Scope},
        limits,
        service_backend::{ServiceBackend, ServiceReference},
        view::View,
    },
    snapshot::facts::{Object, Resource},
};

const GROUP: &str = "admissionregistration.k8s.io";

/// A webhook that is asked, or may be asked.
pub(in crate::diagnose) struct Webhook<'a> {
    /// The configuration that contains the webhook.
    pub(in crate::diagnose) configuration: &'a Object,
    /// Its index in the list of the configuration.
    pub(in crate::diagnose) index: usize,
    /// Its name.
    pub(in crate::diagnose) name: &'a str,
    /// Whether the webhook is asked.
    pub(in crate::diagnose) asked: Truth,
    /// The Service that answers. None if it is called at a URL, or if there are too many Services to read.
    backend: Option<ServiceBackend>,
}

impl Webhook<'_> {
    /// Its Service, if the webhook cannot be called because of it.
    pub(in crate::diagnose) fn dead_service(&self) -> Option<&ServiceBackend> {
        self.backend.as_ref().filter(|backend| backend.is_dead())
    }

    /// Whether it is asked about objects of this type alone, so that what it denied was a change of one of them.
    pub(in crate::diagnose) fn is_only_for(&self, resource: &Resource) -> bool {
        let entry = self.configuration.list("/webhooks").get(self.index);
        let rules = entry.and_then(|entry| entry.get("rules")?.as_array());
        let is = |rule: &Value, field: &str, wanted: &dyn Fn(&str) -> bool| {
            let all = rule.get(field).and_then(Value::as_array);
            all.is_some_and(|all| !all.is_empty() && all.iter().all(|one| one.as_str().is_some_and(wanted)))
        };
        let is_of_type = |one: &str| one.split('/').next() == Some(resource.plural.as_str());
        rules.is_some_and(|rules| {
            !rules.is_empty()
                && rules.iter().all(|rule| {
                    is(rule, "apiGroups", &|group| group == resource.group)
                        && is(rule, "resources", &is_of_type)
                })
        })
    }

    /// Whether all webhooks of the configuration use the same Service, so that the whole configuration belongs
    /// to a dead backend.
    pub(in crate::diagnose) fn is_like_the_rest(&self) -> bool {
        let all = self.configuration.list("/webhooks");
        let service = |entry: &Value| {
            ["namespace", "name"].map(|field| {
                entry
                    .pointer(&format!("/clientConfig/service/{field}"))
                    .cloned()
                    .unwrap_or_default()
            })
        };
        let own = all.get(self.index).map(service);
        all.iter().all(|entry| Some(service(entry)) == own)
    }
}

/// The webhooks that are asked about the change. Those with `failurePolicy` Ignore are left out if they cannot
/// be called.
pub(in crate::diagnose) fn asked<'a>(change: &Change<'_>, view: &View<'a>) -> Vec<Webhook<'a>> {
    let mut found = Vec::new();
    let mut services = std::collections::BTreeMap::new();
    // Mutating webhooks are called first.
    for plural in ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] {
        // A list that could not be read is among the gaps.
        for configuration in view.list(GROUP, plural, "").unwrap_or_default() {
            for (index, entry) in configuration.list("/webhooks").iter().enumerate() {
                let asked = is_asked(entry, change);
                if asked == Truth::No {
                    continue;
                }
                let field = entry.pointer("/clientConfig/service");
                let known = services.len();
                let backend = services.entry(field.map(ToString::to_string)).or_insert_with(|| {
                    let service = ServiceReference::of(field).filter(|_| known < limits::WEBHOOK_SERVICES);
                    service.map(|service| service.backend(view))
                });
                let is_dead = backend.as_ref().is_some_and(ServiceBackend::is_dead);
                if is_dead && entry.get("failurePolicy").and_then(Value::as_str) == Some("Ignore") {
                    continue;
                }
                found.push(Webhook {
                    configuration,
                    index,
                    name: entry.get("name").and_then(Value::as_str).unwrap_or_default(),
                    asked,
                    backend: backend.clone(),
                });
            }
        }
    }
    found
}

/// The webhooks of a configuration that refuse everything, because they cannot be called.
pub(in crate::diagnose) fn unreachable<'a>(configuration: &'a Object, view: &View<'_>) -> Vec<Webhook<'a>> {
    let entries = configuration.list("/webhooks").iter().enumerate();
    let refusing = entries
        .filter(|(_, entry)| entry.get("failurePolicy").and_then(Value::as_str) != Some("Ignore"))
        .take(limits::WEBHOOK_SERVICES);
    let webhooks = refusing.map(|(index, entry)| Webhook {
        configuration,
        index,
        name: entry.get("name").and_then(Value::as_str).unwrap_or_default(),
        asked: Truth::Unknown,
        backend: ServiceReference::of(entry.pointer("/clientConfig/service"))
            .map(|service| service.backend(view)),
    });
    webhooks
        .filter(|webhook| webhook.dead_service().is_some())
        .collect()
}

fn is_asked(entry: &Value, change: &Change<'_>) -> Truth {
    let rules = entry.get("rules").and_then(Value::as_array);
    let covered = Scope {
        fields: entry,
        rules: rules.map_or(&[], Vec::as_slice),
        exclude: &[],
        all_without_rules: false,
    }
    .covers(change);
    if covered == Truth::No {
        return Truth::No;
    }
    covered.and(conditions::all(entry.get("matchConditions"), change))
}
