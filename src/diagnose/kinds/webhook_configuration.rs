//! A ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        matcher::{AdmissionRule, Matcher, expressions},
        read::{list, text},
        service_reference::ServiceReference,
    },
    snapshot::facts::Object,
};

/// A ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.
#[derive(Clone, Copy)]
pub(crate) struct WebhookConfiguration<'a>(pub(crate) &'a Object);

impl<'a> WebhookConfiguration<'a> {
    /// Its webhooks, in their order.
    pub(crate) fn webhooks(self) -> impl Iterator<Item = Webhook<'a>> {
        list(&self.0.value, "/webhooks").iter().map(Webhook)
    }

    /// The place of the webhook with this index, for a JSON patch.
    pub(crate) fn pointer(index: usize) -> String {
        format!("/webhooks/{index}")
    }
}

/// A webhook that the API server asks about requests.
#[derive(Clone, Copy)]
pub(crate) struct Webhook<'a>(&'a Value);

impl<'a> Webhook<'a> {
    /// Its name.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// The Service that answers; none if it is called at a URL.
    pub(crate) fn service(self) -> Option<ServiceReference<'a>> {
        ServiceReference::at(self.0, "/clientConfig/service")
    }

    /// Whether a request passes if the webhook cannot be called.
    pub(crate) fn may_fail(self) -> bool {
        text(self.0, "/failurePolicy") == "Ignore"
    }

    /// Which requests it is asked about. One of its rules must match too.
    pub(crate) fn matcher(self) -> Matcher<'a> {
        Matcher(self.0)
    }

    /// Its rules.
    pub(crate) fn rules(self) -> impl ExactSizeIterator<Item = AdmissionRule<'a>> {
        list(self.0, "/rules").iter().map(AdmissionRule)
    }

    /// The expressions that must all be true of a request.
    pub(crate) fn match_conditions(self) -> impl Iterator<Item = Option<&'a str>> {
        expressions(self.0, "/matchConditions")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::api::admissionregistration::v1 as admission;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    fn first(object: &Object) -> Option<Webhook<'_>> {
        WebhookConfiguration(object).webhooks().next()
    }

    #[test]
    fn validating_webhooks() {
        let configuration = admission::ValidatingWebhookConfiguration {
            webhooks: Some(vec![admission::ValidatingWebhook {
                name: "hook.example".into(),
                failure_policy: Some("Ignore".into()),
                client_config: admission::WebhookClientConfig {
                    service: Some(admission::ServiceReference {
                        namespace: "sys".into(),
                        name: "hook".into(),
                        ..Default::default()
                    }),
                    ..Default::default()
                },
                match_conditions: Some(vec![admission::MatchCondition {
                    name: "one".into(),
                    expression: "true".into(),
                }]),
                match_policy: Some("Exact".into()),
                rules: Some(vec![admission::RuleWithOperations {
                    operations: Some(vec!["UPDATE".into()]),
                    ..Default::default()
                }]),
                ..Default::default()
            }]),
            ..Default::default()
        };
        reads!(configuration => first;
            |hook| hook.map_or("", Webhook::name) => "hook.example", absent "";
            |hook| hook.is_some_and(Webhook::may_fail) => true, absent false;
            |hook| hook.and_then(Webhook::service).map(|service| (service.namespace, service.name))
                => Some(("sys", "hook")), absent None::<()>;
            |hook| hook.and_then(|hook| hook.match_conditions().flatten().next()) => Some("true"), absent None::<()>;
            |hook| hook.is_some_and(|hook| hook.matcher().is_exact()) => true, absent false;
            |hook| hook.and_then(|hook| hook.rules().next()?.operations().next()) => Some("UPDATE"), absent None::<()>;
        );
        let whole = serde_json::to_value(&configuration).expect("an object as JSON");
        let hook = whole
            .pointer(&WebhookConfiguration::pointer(0))
            .expect("a webhook");
        assert_eq!(Webhook(hook).name(), "hook.example");
    }

    #[test]
    fn mutating_webhooks() {
        let configuration = admission::MutatingWebhookConfiguration {
            webhooks: Some(vec![admission::MutatingWebhook {
                name: "hook.example".into(),
                ..Default::default()
            }]),
            ..Default::default()
        };
        reads!(configuration => first; |hook| hook.map_or("", Webhook::name) => "hook.example", absent "";);
    }
}
