//! ValidatingAdmissionPolicies that are asked about a change. They run inside the API server and are never dead.
//!
//! A policy acts through a binding, and each has its own idea of what it looks at. What it then demands is CEL:
//! only what is certain without evaluating it is called a refusal.
//! Source: `kubernetes/apiserver:pkg/admission/plugin/policy/{matching/matching.go,validating/dispatcher.go}`.

use serde_json::Value;

use super::{Change, Truth, conditions, matching::Scope};
use crate::{diagnose::view::View, snapshot::facts::Object};

const GROUP: &str = "admissionregistration.k8s.io";

/// A policy that looks at the change, or may.
pub(in crate::diagnose) struct Policy<'a> {
    /// The policy.
    pub(in crate::diagnose) object: &'a Object,
    /// The binding through which it acts.
    pub(in crate::diagnose) binding: &'a Object,
    /// The demand that decides, if one is certain to fail.
    pub(in crate::diagnose) demand: Option<&'a str>,
    /// Whether it refuses the change.
    pub(in crate::diagnose) refuses: Truth,
}

/// Those that refuse the change or may, one for each policy.
pub(in crate::diagnose) fn refusing<'a>(change: &Change<'_>, view: &View<'a>) -> Vec<Policy<'a>> {
    let mut found = Vec::new();
    let policies = view
        .list(GROUP, "validatingadmissionpolicies", "")
        .unwrap_or_default();
    let looking: Vec<_> = policies
        .iter()
        .filter_map(|policy| {
            let asked = is_asked(policy, change);
            (asked != Truth::No).then_some((policy, asked))
        })
        .collect();
    if looking.is_empty() {
        return found;
    }
    let bindings = view
        .list(GROUP, "validatingadmissionpolicybindings", "")
        .unwrap_or_default();
    for (object, asked) in looking {
        let (refused, demand) = verdict(object, change);
        let acting = bindings
            .iter()
            .filter(|binding| binding.text("/spec/policyName") == object.name() && denies(binding));
        let strongest = acting
            .map(|binding| {
                let bound = covered(binding.value.pointer("/spec/matchResources"), change);
                (asked.and(bound).and(refused), binding)
            })
            .filter(|(refuses, _)| *refuses != Truth::No)
            .max_by_key(|(refuses, _)| *refuses == Truth::Yes);
        if let Some((refuses, binding)) = strongest {
            found.push(Policy {
                object,
                binding,
                demand,
                refuses,
            });
        }
    }
    found
}

fn is_asked(policy: &Object, change: &Change<'_>) -> Truth {
    let covered = covered(policy.value.pointer("/spec/matchConstraints"), change);
    if covered == Truth::No {
        return Truth::No;
    }
    covered.and(conditions::all(
        policy.value.pointer("/spec/matchConditions"),
        change,
    ))
}

fn covered(matching: Option<&Value>, change: &Change<'_>) -> Truth {
    let Some(fields) = matching else {
        return Truth::Yes;
    };
    let rules = |field: &str| {
        let list = fields.get(field).and_then(Value::as_array);
        list.map_or(&[][..], Vec::as_slice)
    };
    Scope {
        fields,
        rules: rules("resourceRules"),
        exclude: rules("excludeResourceRules"),
        all_without_rules: true,
    }
    .covers(change)
}

/// Warn and Audit refuse nothing.
fn denies(binding: &Object) -> bool {
    binding
        .list("/spec/validationActions")
        .iter()
        .any(|action| action == "Deny")
}

/// Whether its demands fail, and the one that is certain to. Without parameters a policy may do nothing at all.
fn verdict<'a>(policy: &'a Object, change: &Change<'_>) -> (Truth, Option<&'a str>) {
    let mut refused = Truth::No;
    for demand in policy.list("/spec/validations") {
        match conditions::expression(demand, change) {
            Truth::No if policy.value.pointer("/spec/paramKind").is_none() => {
                let text = demand.get("expression").and_then(Value::as_str);
                return (Truth::Yes, text);
            }
            met => refused = refused.or(!met),
        }
    }
    (refused.and(Truth::Unknown), None)
}
