//! Which requests a webhook or an admission policy is asked about.

use serde_json::Value;

use crate::diagnose::kinds::read::{list, some_text, text, texts};

/// The fields that an entry of `webhooks`, the `matchConstraints` of a policy and the `matchResources` of a binding share.
#[derive(Clone, Copy)]
pub(crate) struct Matcher<'a>(pub(super) &'a Value);

impl<'a> Matcher<'a> {
    /// Whether a rule means only the versions that it names, and no equivalent ones.
    pub(crate) fn is_exact(self) -> bool {
        text(self.0, "/matchPolicy") == "Exact"
    }

    /// The selector of namespaces.
    pub(crate) fn namespaces(self) -> Option<&'a Value> {
        self.0.get("namespaceSelector")
    }

    /// The selector of objects.
    pub(crate) fn objects(self) -> Option<&'a Value> {
        self.0.get("objectSelector")
    }

    /// The rules of a policy or a binding.
    pub(crate) fn rules(self) -> impl Iterator<Item = AdmissionRule<'a>> {
        list(self.0, "/resourceRules").iter().map(AdmissionRule)
    }

    /// The exceptions of a policy or a binding.
    pub(crate) fn exceptions(self) -> impl Iterator<Item = AdmissionRule<'a>> {
        list(self.0, "/excludeResourceRules").iter().map(AdmissionRule)
    }
}

/// A rule that matches requests.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionRule<'a>(pub(super) &'a Value);

impl<'a> AdmissionRule<'a> {
    /// Its operations, such as `UPDATE`.
    pub(crate) fn operations(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/operations")
    }

    /// Its API groups.
    pub(crate) fn groups(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/apiGroups")
    }

    /// Its versions.
    pub(crate) fn versions(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/apiVersions")
    }

    /// Its types, each a plural with or without a subresource.
    pub(crate) fn resources(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/resources")
    }

    /// The names of its objects; none for all objects. Only rules of policies have names.
    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/resourceNames")
    }

    /// Whether it is for objects in namespaces, or for those without: `Namespaced`, `Cluster` or `*`.
    pub(crate) fn scope(self) -> Option<&'a str> {
        some_text(self.0, "/scope")
    }
}

/// The expressions of match conditions or validations. One that is no text stays in its place.
pub(super) fn expressions<'a>(
    part: &'a Value,
    pointer: &str,
) -> impl Iterator<Item = Option<&'a str>> + use<'a> {
    let holders = list(part, pointer).iter();
    holders.map(|holder| some_text(holder, "/expression"))
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::admissionregistration::v1 as admission, apimachinery::pkg::apis::meta::v1::LabelSelector,
    };
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::kinds::{admission_policy::AdmissionPolicy, testing::reads},
        snapshot::facts::Object,
    };

    fn labels(app: &str) -> LabelSelector {
        LabelSelector {
            match_labels: Some([("app".to_owned(), app.to_owned())].into()),
            ..Default::default()
        }
    }

    fn is_of(selector: Option<&Value>, app: &str) -> bool {
        selector.is_some_and(|selector| text(selector, "/matchLabels/app") == app)
    }

    fn matcher(object: &Object) -> Option<Matcher<'_>> {
        AdmissionPolicy(object).matcher()
    }

    fn rule(group: &str) -> admission::NamedRuleWithOperations {
        admission::NamedRuleWithOperations {
            operations: Some(vec!["UPDATE".into()]),
            api_groups: Some(vec![group.into()]),
            api_versions: Some(vec!["v1".into()]),
            resources: Some(vec!["widgets/status".into()]),
            resource_names: Some(vec!["a".into()]),
            scope: Some("Cluster".into()),
        }
    }

    #[test]
    fn a_condition_without_an_expression_stays_in_its_place() {
        let policy = json!({"all": [{"name": "one"}, {"expression": 7}, {"expression": "true"}]});
        let found: Vec<_> = expressions(&policy, "/all").collect();
        assert_eq!(found, [None, None, Some("true")]);
    }

    #[test]
    fn matchers() {
        let policy = admission::ValidatingAdmissionPolicy {
            spec: Some(admission::ValidatingAdmissionPolicySpec {
                match_constraints: Some(admission::MatchResources {
                    match_policy: Some("Exact".into()),
                    namespace_selector: Some(labels("one")),
                    object_selector: Some(labels("two")),
                    resource_rules: Some(vec![rule("shop.example")]),
                    exclude_resource_rules: Some(vec![rule("other.example")]),
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(policy => matcher;
            |matcher| matcher.is_some_and(Matcher::is_exact) => true, absent false;
            |matcher| matcher.is_some_and(|it| is_of(it.namespaces(), "one")) => true, absent false;
            |matcher| matcher.is_some_and(|it| is_of(it.objects(), "two")) => true, absent false;
            |matcher| matcher.and_then(|it| it.exceptions().next()?.groups().next()) => Some("other.example"), absent None::<()>;
        );
        reads!(policy => |object| matcher(object).and_then(|it| it.rules().next());
            |rule| rule.and_then(|rule| rule.operations().next()) => Some("UPDATE"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.groups().next()) => Some("shop.example"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.versions().next()) => Some("v1"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.resources().next()) => Some("widgets/status"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.names().next()) => Some("a"), absent None::<()>;
            |rule| rule.and_then(AdmissionRule::scope) => Some("Cluster"), absent None::<()>;
        );
    }
}
