//! The admission webhooks that are asked about a change, and what they do with it.
//!
//! A webhook that cannot be called refuses everything if its `failurePolicy` is Fail, which is the default. A
//! webhook that runs may refuse for reasons that only it knows. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/{validating,mutating}/dispatcher.go`.

use crate::{
    diagnose::{
        admission::{Change, Truth, conditions, matching::Scope},
        kinds, limits,
        service_backend::ServiceBackend,
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

impl<'a> Webhook<'a> {
    /// Its Service, if the webhook cannot be called because of it.
    pub(in crate::diagnose) fn dead_service(&self) -> Option<&ServiceBackend> {
        self.backend.as_ref().filter(|backend| backend.is_dead())
    }

    /// Whether it is asked about objects of this type alone, so that what it denied was a change of one of them.
    pub(in crate::diagnose) fn is_only_for(&self, resource: &Resource) -> bool {
        let entry = kinds::WebhookConfiguration(self.configuration)
            .webhooks()
            .nth(self.index);
        let is_of_type = |one: &str| one.split('/').next() == Some(resource.plural.as_str());
        entry.is_some_and(|entry| {
            let mut rules = entry.rules().peekable();
            rules.peek().is_some()
                && rules.all(|rule| {
                    all(rule.groups(), |group| group == resource.group) && all(rule.resources(), is_of_type)
                })
        })
    }

    /// Whether all webhooks of the configuration use the same Service, so that the whole configuration belongs
    /// to a dead backend.
    pub(in crate::diagnose) fn is_like_the_rest(&self) -> bool {
        let webhooks = || kinds::WebhookConfiguration(self.configuration).webhooks();
        let service = |webhook: kinds::Webhook<'a>| {
            let service = webhook.service();
            service.map(|service| (service.namespace, service.name))
        };
        let own = webhooks().nth(self.index).map(service);
        webhooks().all(|webhook| Some(service(webhook)) == own)
    }
}

/// Whether there are some, and this is true of all.
fn all<'a>(texts: impl Iterator<Item = &'a str>, is_so: impl Fn(&str) -> bool) -> bool {
    let mut texts = texts.peekable();
    texts.peek().is_some() && texts.all(is_so)
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
            for (index, entry) in kinds::WebhookConfiguration(configuration).webhooks().enumerate() {
                let asked = is_asked(entry, change);
                if asked == Truth::No {
                    continue;
                }
                let service = entry.service();
                let known = services.len();
                let backend = services.entry(service).or_insert_with(|| {
                    let service = service.filter(|_| known < limits::WEBHOOK_SERVICES);
                    service.map(|service| ServiceBackend::of(service, view))
                });
                let is_dead = backend.as_ref().is_some_and(ServiceBackend::is_dead);
                if is_dead && entry.may_fail() {
                    continue;
                }
                found.push(Webhook {
                    configuration,
                    index,
                    name: entry.name(),
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
    let entries = kinds::WebhookConfiguration(configuration).webhooks().enumerate();
    let refusing = entries
        .filter(|(_, entry)| !entry.may_fail())
        .take(limits::WEBHOOK_SERVICES);
    let webhooks = refusing.map(|(index, entry)| Webhook {
        configuration,
        index,
        name: entry.name(),
        asked: Truth::Unknown,
        backend: entry.service().map(|service| ServiceBackend::of(service, view)),
    });
    webhooks
        .filter(|webhook| webhook.dead_service().is_some())
        .collect()
}

fn is_asked(entry: kinds::Webhook<'_>, change: &Change<'_>) -> Truth {
    let covered = Scope {
        fields: entry.matcher(),
        rules: entry.rules().collect(),
        exclude: Vec::new(),
        all_without_rules: false,
    }
    .covers(change);
    if covered == Truth::No {
        return Truth::No;
    }
    covered.and(conditions::all(entry.match_conditions(), change))
}
