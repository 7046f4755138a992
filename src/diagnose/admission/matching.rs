//! Whether a webhook or a policy is asked about a change, by the rules and selectors of the API server.
//!
//! Source: `kubernetes/apiserver:pkg/admission/plugin/webhook/predicates/{rules/rules.go,namespace/matcher.go,`
//! `object/matcher.go}` and `generic/webhook.go` ShouldCallHook; for policies
//! `plugin/policy/matching/matching.go`.

use serde_json::Value;

use crate::{
    diagnose::admission::{Change, NamespaceLabels, Truth},
    snapshot::selector::Selector,
};

/// The fields that webhooks and policies share: an entry of `webhooks`, `matchConstraints`, or a binding's
/// `matchResources`.
pub(super) struct Scope<'a> {
    /// Holds `namespaceSelector`, `objectSelector` and `matchPolicy`.
    pub(super) fields: &'a Value,
    /// `rules` or `resourceRules`.
    pub(super) rules: &'a [Value],
    /// `excludeResourceRules`.
    pub(super) exclude: &'a [Value],
    /// Whether an empty list of rules means everything, as for policies, or nothing.
    pub(super) all_without_rules: bool,
}

impl Scope<'_> {
    /// Whether the change is in the scope. The rules come first, because they cost least and exclude most.
    pub(super) fn covers(&self, change: &Change<'_>) -> Truth {
        let equivalent = self.fields.get("matchPolicy").and_then(Value::as_str) != Some("Exact");
        let matches_any = |rules: &[Value]| {
            let versions = if equivalent { change.served.len() } else { 1 };
            rules.iter().any(|rule| {
                change
                    .served
                    .iter()
                    .take(versions)
                    .any(|served| rule_matches(rule, *served, change))
            })
        };
        let by_rules = self.rules.is_empty() && self.all_without_rules || matches_any(self.rules);
        if !by_rules || matches_any(self.exclude) {
            return Truth::No;
        }
        self.by_namespace(change).and(self.by_labels(change))
    }

    fn by_namespace(&self, change: &Change<'_>) -> Truth {
        match (
            selector(self.fields, "namespaceSelector"),
            &change.namespace_labels,
        ) {
            (_, NamespaceLabels::Nothing) => Truth::Yes,
            (Some(selector), _) if selector.is_empty() => Truth::Yes,
            (Some(selector), NamespaceLabels::Labels(labels)) => selector.matches(labels).into(),
            _ => Truth::Unknown,
        }
    }

    /// The labels of the old or of the new object must match; the change leaves them as they are.
    fn by_labels(&self, change: &Change<'_>) -> Truth {
        match (selector(self.fields, "objectSelector"), &change.labels) {
            (Some(selector), _) if selector.is_empty() => Truth::Yes,
            (Some(selector), Some(labels)) => selector.matches(labels).into(),
            _ => Truth::Unknown,
        }
    }
}

/// The selector in this field; none if it is invalid.
fn selector(fields: &Value, name: &str) -> Option<Selector> {
    Selector::of_object(fields.get(name).unwrap_or(&Value::Null))
}

fn rule_matches(rule: &Value, (group, version): (&str, &str), change: &Change<'_>) -> bool {
    resource_matches(rule, change)
        && contains(rule, "operations", "UPDATE")
        && contains(rule, "apiGroups", group)
        && contains(rule, "apiVersions", version)
        && scope_matches(rule, change)
        && name_matches(rule, change)
}

fn texts<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    let list = rule.get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

fn contains(rule: &Value, field: &str, wanted: &str) -> bool {
    texts(rule, field).any(|text| text == "*" || text == wanted)
}

/// `foos/*` also means foos itself, and `*` means no subresource.
fn resource_matches(rule: &Value, change: &Change<'_>) -> bool {
    texts(rule, "resources").any(|pattern| {
        let (main, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
        (main == "*" || main == change.object.resource.plural) && (sub == "*" || sub == change.subresource)
    })
}

/// A Namespace is cluster-scoped here, although requests for it carry its name as their namespace.
fn scope_matches(rule: &Value, change: &Change<'_>) -> bool {
    let inside = !change.object.namespace().is_empty();
    match rule.get("scope").and_then(Value::as_str) {
        None | Some("*") => true,
        Some("Namespaced") => inside,
        Some("Cluster") => !inside,
        Some(_) => false,
    }
}

/// Only rules of policies have names.
fn name_matches(rule: &Value, change: &Change<'_>) -> bool {
    let mut names = texts(rule, "resourceNames").peekable();
    names.peek().is_none() || names.any(|name| name == change.object.name())
}
