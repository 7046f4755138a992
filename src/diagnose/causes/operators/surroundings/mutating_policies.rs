//! Policies that put a finalizer back. A policy engine may change each update of an object. If it adds the finalizer, the list
//! is the same after the controller took the finalizer off, and the API server sees no new one
//! (`kubernetes/apiserver:pkg/registry/rest/update.go`, `kyverno/kyverno:pkg/engine/mutation.go`).

use serde_json::Value;

use crate::{
    diagnose::{
        model::{Blocker, Evidence, Finding, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

/// Types of policies that change objects.
const TYPES: [(&str, &str); 5] = [
    ("kyverno.io", "clusterpolicies"),
    ("kyverno.io", "policies"),
    ("policies.kyverno.io", "mutatingpolicies"),
    ("mutations.gatekeeper.sh", "assign"),
    ("mutations.gatekeeper.sh", "modifyset"),
];

/// Says which policies write the finalizer that nothing else keeps, and returns them for the chain.
pub(super) fn add_policies(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Blocker> {
    let Some(name) = finding
        .wait
        .finalizer
        .as_ref()
        .map(|finalizer| finalizer.name.clone())
    else {
        return Vec::new();
    };
    let installed = TYPES
        .iter()
        .filter_map(|(group, plural)| view.resource_type(group, plural));
    let mut found = Vec::new();
    for ty in installed {
        let place = if ty.namespaced { object.namespace() } else { "" };
        let Ok(all) = view.list(&ty.group, &ty.plural, place) else {
            continue;
        };
        for policy in all.iter().filter(|policy| writes(policy, &name)) {
            finding.say(format!(
                "{} {} writes this finalizer into what it changes, so it may put it back with each update",
                policy.kind,
                policy.name()
            ));
            finding.evidence.push(Evidence {
                source: format!("{} {} spec", policy.kind, policy.name()),
                value: format!("has {name} in a rule that changes objects"),
                strength: Strength::Moderate,
            });
            found.push(super::only_named(
                policy.reference(),
                "writes this finalizer".to_owned(),
            ));
        }
    }
    if !found.is_empty() && finding.wait.verdict == Verdict::Waiting {
        finding.wait.verdict = Verdict::Stalled;
    }
    found
}

/// Whether a policy has the finalizer in what it writes. A rule of Kyverno may also only match or refuse objects.
fn writes(policy: &Object, finalizer: &str) -> bool {
    let has_it = |value: &Value| value.to_string().contains(finalizer);
    let rules = policy.list("/spec/rules");
    if rules.is_empty() {
        policy.value.get("spec").is_some_and(has_it)
    } else {
        let mut changes = rules.iter().filter_map(|rule| rule.get("mutate"));
        changes.any(has_it)
    }
}
