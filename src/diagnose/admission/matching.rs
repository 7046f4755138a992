//! Whether a webhook or a policy is asked about a change, by the rules and selectors of the API server.
//!
//! Source: `kubernetes/apiserver:pkg/admission/plugin/webhook/predicates/{rules/rules.go,namespace/matcher.go,`
//! `object/matcher.go}` and `generic/webhook.go` ShouldCallHook; for policies
//! `plugin/policy/matching/matching.go`.

use serde_json::Value;

use crate::{
    diagnose::{
        admission::{Change, NamespaceLabels, Truth},
        kinds::{AdmissionRule, Matcher},
    },
    snapshot::selector::Selector,
};

/// The fields that webhooks and policies share: an entry of `webhooks`, `matchConstraints`, or a binding's
/// `matchResources`.
pub(super) struct Scope<'a> {
    /// Holds `namespaceSelector`, `objectSelector` and `matchPolicy`.
    pub(super) fields: Matcher<'a>,
    /// `rules` or `resourceRules`.
    pub(super) rules: Vec<AdmissionRule<'a>>,
    /// `excludeResourceRules`.
    pub(super) exclude: Vec<AdmissionRule<'a>>,
    /// Whether an empty list of rules means everything, as for policies, or nothing.
    pub(super) all_without_rules: bool,
}

impl Scope<'_> {
    /// Whether the change is in the scope. The rules come first, because they cost least and exclude most.
    pub(super) fn covers(&self, change: &Change<'_>) -> Truth {
        let equivalent = !self.fields.is_exact();
        let matches_any = |rules: &[AdmissionRule<'_>]| {
            let versions = if equivalent { change.served.len() } else { 1 };
            rules.iter().any(|rule| {
                change
                    .served
                    .iter()
                    .take(versions)
                    .any(|served| rule_matches(*rule, *served, change))
            })
        };
        let by_rules = self.rules.is_empty() && self.all_without_rules || matches_any(&self.rules);
        if !by_rules || matches_any(&self.exclude) {
            return Truth::No;
        }
        self.by_namespace(change).and(self.by_labels(change))
    }

    fn by_namespace(&self, change: &Change<'_>) -> Truth {
        match (selector(self.fields.namespaces()), &change.namespace_labels) {
            (_, NamespaceLabels::Nothing) => Truth::Yes,
            (Some(selector), _) if selector.is_empty() => Truth::Yes,
            (Some(selector), NamespaceLabels::Labels(labels)) => selector.matches(labels).into(),
            _ => Truth::Unknown,
        }
    }

    /// The labels of the old or of the new object must match; the change leaves them as they are.
    fn by_labels(&self, change: &Change<'_>) -> Truth {
        match (selector(self.fields.objects()), &change.labels) {
            (Some(selector), _) if selector.is_empty() => Truth::Yes,
            (Some(selector), Some(labels)) => selector.matches(labels).into(),
            _ => Truth::Unknown,
        }
    }
}

/// The selector in a field; none if it is invalid.
fn selector(field: Option<&Value>) -> Option<Selector> {
    Selector::of_object(field.unwrap_or(&Value::Null))
}

fn rule_matches(rule: AdmissionRule<'_>, (group, version): (&str, &str), change: &Change<'_>) -> bool {
    resource_matches(rule, change)
        && contains(rule.operations(), "UPDATE")
        && contains(rule.groups(), group)
        && contains(rule.versions(), version)
        && scope_matches(rule, change)
        && name_matches(rule, change)
}

fn contains<'a>(mut texts: impl Iterator<Item = &'a str>, wanted: &str) -> bool {
    texts.any(|text| text == "*" || text == wanted)
}

/// `foos/*` also means foos itself, and `*` means no subresource.
fn resource_matches(rule: AdmissionRule<'_>, change: &Change<'_>) -> bool {
    rule.resources().any(|pattern| {
        let (main, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
        (main == "*" || main == change.object.resource.plural) && (sub == "*" || sub == change.subresource)
    })
}

/// A Namespace is cluster-scoped here, although requests for it carry its name as their namespace.
fn scope_matches(rule: AdmissionRule<'_>, change: &Change<'_>) -> bool {
    let inside = !change.object.namespace().is_empty();
    match rule.scope() {
        None | Some("*") => true,
        Some("Namespaced") => inside,
        Some("Cluster") => !inside,
        Some(_) => false,
    }
}

/// Only rules of policies have names.
fn name_matches(rule: AdmissionRule<'_>, change: &Change<'_>) -> bool {
    let mut names = rule.names().peekable();
    names.peek().is_none() || names.any(|name| name == change.object.name())
}
