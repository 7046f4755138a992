//! A ValidatingAdmissionPolicy and its binding.

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        matcher::{Matcher, expressions},
        read::{text, texts},
    },
    snapshot::facts::Object,
};

/// A ValidatingAdmissionPolicy.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionPolicy<'a>(pub(crate) &'a Object);

impl<'a> AdmissionPolicy<'a> {
    /// Which requests it is for; none for all.
    pub(crate) fn matcher(self) -> Option<Matcher<'a>> {
        self.0.field("/spec/matchConstraints").map(Matcher)
    }

    /// The kind of its parameter: `apiVersion` and kind; none if it has no parameter.
    pub(crate) fn parameter(self) -> Option<(&'a str, &'a str)> {
        let kind = self.0.field("/spec/paramKind")?;
        Some((text(kind, "/apiVersion"), text(kind, "/kind")))
    }

    /// Whether a request passes if the policy itself fails.
    pub(crate) fn may_fail(self) -> bool {
        self.0.text("/spec/failurePolicy") == "Ignore"
    }

    /// The expressions that must all be true of a request before it is checked.
    pub(crate) fn match_conditions(self) -> impl Iterator<Item = Option<&'a str>> {
        expressions(&self.0.value, "/spec/matchConditions")
    }

    /// The expressions that a request must meet.
    pub(crate) fn validations(self) -> impl Iterator<Item = Option<&'a str>> {
        expressions(&self.0.value, "/spec/validations")
    }
}

/// A ValidatingAdmissionPolicyBinding.
#[derive(Clone, Copy)]
pub(crate) struct PolicyBinding<'a>(pub(crate) &'a Object);

impl<'a> PolicyBinding<'a> {
    /// The place of the name of its policy, for a JSON patch.
    pub(crate) const POLICY: &'static str = "/spec/policyName";
    /// The place of its matcher, for a JSON patch.
    pub(crate) const MATCHER: &'static str = "/spec/matchResources";

    /// The name of its policy.
    pub(crate) fn policy(self) -> &'a str {
        self.0.text(Self::POLICY)
    }

    /// Which requests it is for; none for all of its policy.
    pub(crate) fn matcher(self) -> Option<Matcher<'a>> {
        self.0.field(Self::MATCHER).map(Matcher)
    }

    /// Whether it denies. The actions Warn and Audit refuse nothing.
    pub(crate) fn denies(self) -> bool {
        texts(&self.0.value, "/spec/validationActions").any(|action| action == "Deny")
    }

    /// The parameter that it gives its policy.
    pub(crate) fn parameter(self) -> Option<ParameterReference<'a>> {
        self.0.field("/spec/paramRef").map(ParameterReference)
    }
}

/// The parameter that a binding gives its policy.
#[derive(Clone, Copy)]
pub(crate) struct ParameterReference<'a>(&'a Value);

impl<'a> ParameterReference<'a> {
    /// Its name; empty if a selector finds it.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// Its namespace. It is empty if the namespace of the request counts.
    pub(crate) fn namespace(self) -> &'a str {
        text(self.0, "/namespace")
    }

    /// The selector that finds it.
    pub(crate) fn selector(self) -> Option<&'a Value> {
        self.0.get("selector")
    }

    /// Whether a request is refused if there is no such parameter.
    pub(crate) fn must_exist(self) -> bool {
        text(self.0, "/parameterNotFoundAction") == "Deny"
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::admissionregistration::v1 as admission, apimachinery::pkg::apis::meta::v1::LabelSelector,
    };

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn policies() {
        let policy = admission::ValidatingAdmissionPolicy {
            spec: Some(admission::ValidatingAdmissionPolicySpec {
                failure_policy: Some("Ignore".into()),
                match_constraints: Some(admission::MatchResources {
                    match_policy: Some("Exact".into()),
                    ..Default::default()
                }),
                match_conditions: Some(vec![admission::MatchCondition {
                    name: "one".into(),
                    expression: "true".into(),
                }]),
                param_kind: Some(admission::ParamKind {
                    api_version: Some("v1".into()),
                    kind: Some("ConfigMap".into()),
                }),
                validations: Some(vec![admission::Validation {
                    expression: "false".into(),
                    ..Default::default()
                }]),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(policy => AdmissionPolicy;
            |policy| policy.may_fail() => true, absent false;
            |policy| policy.matcher().is_some_and(Matcher::is_exact) => true, absent false;
            |policy| policy.match_conditions().flatten().next() => Some("true"), absent None::<()>;
            |policy| policy.parameter().unwrap_or_default() => ("v1", "ConfigMap"), absent ("", "");
            |policy| policy.validations().flatten().next() => Some("false"), absent None::<()>;
        );
    }

    #[test]
    fn bindings() {
        let binding = admission::ValidatingAdmissionPolicyBinding {
            spec: Some(admission::ValidatingAdmissionPolicyBindingSpec {
                policy_name: Some("strict".into()),
                match_resources: Some(admission::MatchResources {
                    match_policy: Some("Exact".into()),
                    ..Default::default()
                }),
                param_ref: Some(admission::ParamRef {
                    name: Some("limits".into()),
                    namespace: Some("sys".into()),
                    parameter_not_found_action: Some("Deny".into()),
                    selector: Some(LabelSelector {
                        match_labels: Some([("app".to_owned(), "web".to_owned())].into()),
                        ..Default::default()
                    }),
                }),
                validation_actions: Some(vec!["Warn".into(), "Deny".into()]),
            }),
            ..Default::default()
        };
        reads!(binding => PolicyBinding;
            |binding| binding.policy() => "strict", absent "";
            |binding| binding.matcher().is_some_and(Matcher::is_exact) => true, absent false;
            |binding| binding.denies() => true, absent false;
        );
        reads!(binding => |object| PolicyBinding(object).parameter();
            |parameter| parameter.map_or("", ParameterReference::name) => "limits", absent "";
            |parameter| parameter.map_or("", ParameterReference::namespace) => "sys", absent "";
            |parameter| parameter.is_some_and(ParameterReference::must_exist) => true, absent false;
            |parameter| parameter.and_then(ParameterReference::selector).map_or("", |it| text(it, "/matchLabels/app"))
                => "web", absent "";
        );
    }
}
