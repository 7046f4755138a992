//! The admission webhooks that are asked about a change, and what becomes of it.
//!
//! One that cannot be called refuses everything if its `failurePolicy` is Fail, which is the default. One that runs
//! may refuse for reasons of its own; what they are only it knows.
//! Source: `kubernetes/apiserver:pkg/admission/plugin/webhook/{validating,mutating}/dispatcher.go`.

use serde_json::Value;

use crate::{
    diagnose::{
        admission::{
            Change, Truth, backend,
            backend::{Backend, Dead},
            conditions,
            matching::Scope,
        },
        limits,
        view::View,
    },
    snapshot::facts::Object,
};

const GROUP: &str = "admissionregistration.k8s.io";

/// One that is asked, or may be.
pub(in crate::diagnose) struct Webhook<'a> {
    /// The object that it stands in.
    pub(in crate::diagnose) configuration: &'a Object,
    /// Where in its list.
    pub(in crate::diagnose) index: usize,
    /// Its name.
    pub(in crate::diagnose) name: &'a str,
    /// Whether it is asked.
    pub(in crate::diagnose) asked: Truth,
    /// Who answers.
    pub(in crate::diagnose) backend: Backend,
}

impl Webhook<'_> {
    /// What is wrong with its Service, if nobody can answer.
    pub(in crate::diagnose) fn dead(&self) -> Option<&Dead> {
        match &self.backend {
            Backend::Dead(dead) => Some(dead),
            Backend::Answers | Backend::NotKnown(_) => None,
        }
    }

    /// Whether the rest of its configuration leads to the same Service, so that the whole of it belongs to what is
    /// dead.
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

/// All that are asked about the change, those whose failure is ignored left out unless they run.
pub(in crate::diagnose) fn asked<'a>(change: &Change<'_>, view: &View<'a>) -> Vec<Webhook<'a>> {
    let mut found = Vec::new();
    let mut services = std::collections::BTreeMap::new();
    // The mutating ones are called first.
    for plural in ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] {
        // What could not be read is named among the gaps.
        for configuration in view.list(GROUP, plural, "").unwrap_or_default() {
            for (index, entry) in configuration.list("/webhooks").iter().enumerate() {
                let asked = is_asked(entry, change);
                if asked == Truth::No {
                    continue;
                }
                let config = entry.get("clientConfig").unwrap_or(&Value::Null);
                let key = config.get("service").map(ToString::to_string);
                let known = services.len();
                let backend = services.entry(key).or_insert_with(|| {
                    if known < limits::WEBHOOK_SERVICES {
                        backend::behind(config, view)
                    } else {
                        Backend::NotKnown("it is one of too many to look at".into())
                    }
                });
                let ignored = entry.get("failurePolicy").and_then(Value::as_str) == Some("Ignore");
                if ignored && matches!(backend, Backend::Dead(_)) {
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
