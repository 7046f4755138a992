//! ValidatingAdmissionPolicies that are asked about a change. They run inside the API server and are always
//! available.
//!
//! A policy acts through a binding, and both select what they check. What a policy demands is CEL: only a
//! certain result is called a refusal. A binding may name or select parameters. If none exists, the binding says
//! whether the policy allows or refuses everything, before any condition of the policy is evaluated. A parameter of a
//! kind that the server does not have is a fault of the policy, and its `failurePolicy` decides. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/policy/{matching/matching.go,validating/dispatcher.go,`
//! `generic/policy_dispatcher.go}` CollectParams.

use crate::{
    diagnose::{
        admission::{Change, Truth, conditions, matching::Scope},
        kinds::{AdmissionPolicy, Matcher, ParameterReference, PolicyBinding},
        view::View,
    },
    snapshot::{facts::Object, selector::Selector},
};

const GROUP: &str = "admissionregistration.k8s.io";

/// A policy that checks the change, or may check it.
pub(in crate::diagnose) struct Policy<'a> {
    /// The policy.
    pub(in crate::diagnose) object: &'a Object,
    /// The binding of the policy.
    pub(in crate::diagnose) binding: &'a Object,
    /// The demand that is not met, if that is certain.
    pub(in crate::diagnose) demand: Option<Demand<'a>>,
    /// Whether it refuses the change.
    pub(in crate::diagnose) refuses: Truth,
}

/// A demand of a policy that is not met.
#[derive(Clone, Copy)]
pub(in crate::diagnose) enum Demand<'a> {
    /// An expression must be true.
    Holds(&'a str),
    /// An object must exist: its kind and name. Without a name, the selector of the binding must find one.
    Exists(&'a str, &'a str),
    /// The API server must have this kind, of this `apiVersion`.
    Served(&'a str, &'a str),
}

/// The policies that refuse the change or may refuse it, each once.
pub(in crate::diagnose) fn refusing<'a>(change: &Change<'_>, view: &View<'a>) -> Vec<Policy<'a>> {
    let mut found = Vec::new();
    let policies = view
        .list(GROUP, "validatingadmissionpolicies", "")
        .unwrap_or_default();
    let asked: Vec<_> = policies
        .iter()
        .filter_map(|policy| {
            let covered = covers(AdmissionPolicy(policy).matcher(), change);
            (covered != Truth::No).then_some((policy, covered))
        })
        .collect();
    if asked.is_empty() {
        return found;
    }
    let bindings = view
        .list(GROUP, "validatingadmissionpolicybindings", "")
        .unwrap_or_default();
    for (object, covered) in asked {
        let acting = bindings
            .iter()
            .filter(|binding| PolicyBinding(binding).policy() == object.name());
        let strongest = acting
            .map(|binding| {
                let bound = covered.and(covers(PolicyBinding(binding).matcher(), change));
                let (refused, demand) = match bound {
                    Truth::No => (Truth::No, None),
                    _ => verdict(object, binding, change, view),
                };
                Policy {
                    object,
                    binding,
                    demand,
                    refuses: bound.and(refused),
                }
            })
            .filter(|policy| policy.refuses != Truth::No)
            .max_by_key(|policy| policy.refuses == Truth::Yes);
        found.extend(strongest);
    }
    found
}

fn covers(matcher: Option<Matcher<'_>>, change: &Change<'_>) -> Truth {
    let Some(fields) = matcher else {
        return Truth::Yes;
    };
    Scope {
        fields,
        rules: fields.rules().collect(),
        exclude: fields.exceptions().collect(),
        all_without_rules: true,
    }
    .covers(change)
}

/// Whether the policy refuses through this binding, and the demand that is certainly not met.
fn verdict<'a>(
    policy: &'a Object,
    binding: &'a Object,
    change: &Change<'_>,
    view: &View<'a>,
) -> (Truth, Option<Demand<'a>>) {
    let must_exist = PolicyBinding(binding)
        .parameter()
        .is_some_and(ParameterReference::must_exist);
    let refuses = !AdmissionPolicy(policy).may_fail();
    let (api_version, kind) = AdmissionPolicy(policy).parameter().unwrap_or_default();
    match parameter(policy, binding, change, view) {
        Parameter::Any => failed_validation(policy, binding, change),
        Parameter::None if !must_exist => (Truth::No, None),
        Parameter::NoSuchKind => {
            let demand = Demand::Served(kind, api_version);
            (refuses.into(), Some(demand).filter(|_| refuses))
        }
        Parameter::None => {
            let name = PolicyBinding(binding).parameter().map(ParameterReference::name);
            let demand = Demand::Exists(kind, name.unwrap_or_default());
            (refuses.into(), Some(demand).filter(|_| refuses))
        }
        Parameter::NotKnown => match failed_validation(policy, binding, change) {
            // The policy may still refuse without a parameter.
            (Truth::No, _) if !must_exist => (Truth::No, None),
            _ => (Truth::Unknown, None),
        },
    }
}

/// The parameter of a policy.
enum Parameter {
    /// The policy needs none, or the parameter exists; its content is not read.
    Any,
    /// The parameter does not exist.
    None,
    /// The API server does not have its kind.
    NoSuchKind,
    NotKnown,
}

fn parameter(policy: &Object, binding: &Object, change: &Change<'_>, view: &View<'_>) -> Parameter {
    let (Some((api_version, kind)), Some(reference)) = (
        AdmissionPolicy(policy).parameter(),
        PolicyBinding(binding).parameter(),
    ) else {
        return Parameter::Any;
    };
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let name = reference.name();
    let Some(ty) = view.kind(group, kind) else {
        // A group that did not list its types may have the kind.
        return if view.knows_all_types() {
            Parameter::NoSuchKind
        } else {
            Parameter::NotKnown
        };
    };
    let own = if change.object.is("", "namespaces") {
        change.object.name()
    } else {
        change.object.namespace()
    };
    let namespace = match reference.namespace() {
        _ if !ty.namespaced => "",
        "" => own,
        other => other,
    };
    if ty.namespaced == namespace.is_empty() {
        return Parameter::NotKnown;
    }
    if name.is_empty() {
        let Some(selector) = reference.selector().and_then(Selector::of_object) else {
            return Parameter::NotKnown;
        };
        return match view.list(group, &ty.plural, namespace) {
            Ok(all) if all.iter().any(|one| selector.matches(&one.labels())) => Parameter::Any,
            Ok(_) => Parameter::None,
            Err(_) => Parameter::NotKnown,
        };
    }
    match view.object(group, &ty.plural, namespace, name) {
        Ok(Some(_)) => Parameter::Any,
        Ok(None) => Parameter::None,
        Err(_) => Parameter::NotKnown,
    }
}

/// Whether a validation fails, and the one that certainly fails.
fn failed_validation<'a>(
    policy: &'a Object,
    binding: &Object,
    change: &Change<'_>,
) -> (Truth, Option<Demand<'a>>) {
    if !PolicyBinding(binding).denies() {
        return (Truth::No, None);
    }
    let asked = conditions::all(AdmissionPolicy(policy).match_conditions(), change);
    let mut refused = Truth::No;
    for demand in AdmissionPolicy(policy).validations() {
        match conditions::expression(demand, change) {
            Truth::No if asked == Truth::Yes => {
                return (Truth::Yes, demand.map(Demand::Holds));
            }
            met => refused = refused.or(!met),
        }
    }
    (refused.and(asked).and(Truth::Unknown), None)
}
