//! A ValidatingAdmissionPolicy that certainly rejects the update.

use crate::{
    command::Command,
    diagnose::{
        admission::policies::{Demand, Policy},
        causes::api_machinery::update_rejected::{
            add_rejection, namespace_exemption, namespace_exemption::RequestMatcher,
        },
        kinds::PolicyBinding,
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, When},
    },
    snapshot::facts::Object,
};

pub(crate) fn add_policy_rejection(object: &Object, finding: &mut Finding, policy: &Policy<'_>) {
    let (name, binding) = (policy.object.name(), policy.binding.name());
    let (says, source, value, suffix) = match policy.demand {
        Some(Demand::Exists(kind, parameter)) => {
            let (which, none) = match parameter {
                "" => (
                    format!("a {kind} with the labels that the binding selects"),
                    format!("no {kind} has the labels of spec.paramRef.selector"),
                ),
                name => (
                    format!("{kind} {name}, which does not exist"),
                    format!("{kind} {name} does not exist"),
                ),
            };
            (
                format!("needs {which}, and refuses everything without it"),
                format!("ValidatingAdmissionPolicyBinding {binding} spec.paramRef"),
                format!("{none}, parameterNotFoundAction Deny"),
                ": failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
                    .to_owned(),
            )
        }
        Some(Demand::Served(kind, api_version)) => (
            format!(
                "needs a parameter of the kind {kind} ({api_version}), which the API server does not have, and refuses \
                 everything without it"
            ),
            format!("ValidatingAdmissionPolicy {name} spec.paramKind"),
            format!("{kind} ({api_version}) is not served, failurePolicy Fail"),
            format!(
                ": failed to configure binding: paramKind kind `&ParamKind{{APIVersion:{api_version},Kind:{kind},}}` not known"
            ),
        ),
        Some(Demand::Holds(demand)) => (
            format!("demands what no such update meets: {demand}"),
            format!("ValidatingAdmissionPolicy {name} spec.validations"),
            demand.to_owned(),
            String::new(),
        ),
        None => return,
    };
    finding.wait.on.push(Blocker::new(
        Some(policy.object.reference()),
        format!("applies to it through binding {binding}, and {says}"),
    ));
    add_rejection(
        finding,
        Some(&format!(
            "ValidatingAdmissionPolicy '{name}' with binding '{binding}' denied request{suffix}"
        )),
    );
    finding.evidence.push(Evidence {
        source,
        value,
        strength: Strength::Proof,
    });
    finding.steps.splice(0..0, steps(object, policy));
    finding.do_not.push(do_not(name));
}

/// The steps for a policy that works.
pub(crate) fn steps(object: &Object, policy: &Policy<'_>) -> Vec<Step> {
    let (name, binding) = (policy.object.name(), policy.binding.name());
    let see = Step {
        when: When::Now,
        text: format!("see what policy {name} is for, and whose it is"),
        command: Some(Command::of(
            "kubectl get validatingadmissionpolicy/{} validatingadmissionpolicybinding/{} -o yaml",
            [name, binding],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    };
    let matcher = RequestMatcher {
        configuration: policy.binding,
        selectors: PolicyBinding::MATCHER.into(),
        identity: (PolicyBinding::POLICY.into(), name),
        name: format!("binding {binding} of policy {name}"),
    };
    [Some(see), namespace_exemption::step(object, &matcher)]
        .into_iter()
        .flatten()
        .collect()
}

pub(crate) fn do_not(name: &str) -> String {
    format!("delete policy {name}: it works, and refuses for a reason")
}
