//! Roles, and the bindings that grant them.

use serde_json::Value;

use crate::{
    diagnose::kinds::read::{list, text, texts},
    snapshot::{facts::Object, selector::Selector},
};

/// A Role or a ClusterRole.
#[derive(Clone, Copy)]
pub(crate) struct Role<'a>(pub(crate) &'a Object);

impl<'a> Role<'a> {
    /// Its rules.
    pub(crate) fn rules(self) -> impl Iterator<Item = RoleRule<'a>> {
        list(&self.0.value, "/rules").iter().map(RoleRule)
    }

    /// Whether the controller of aggregated roles collects the rules of that role in this one
    /// (`kubernetes/kubernetes:pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`).
    pub(crate) fn collects(self, other: &Object) -> bool {
        let selectors = list(&self.0.value, "/aggregationRule/clusterRoleSelectors").iter();
        let mut selectors = selectors.filter_map(Selector::of_object);
        selectors.any(|selector| selector.matches(&other.labels()))
    }
}

/// A rule of a role.
#[derive(Clone, Copy)]
pub(crate) struct RoleRule<'a>(&'a Value);

impl<'a> RoleRule<'a> {
    /// Whether it allows to change objects.
    pub(crate) fn may_change(self) -> bool {
        self.verbs().any(|verb| ["update", "patch", "*"].contains(&verb))
    }

    /// The verbs that it allows.
    pub(crate) fn verbs(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/verbs")
    }

    /// Its API groups.
    pub(crate) fn groups(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/apiGroups")
    }

    /// Its types, each a plural with or without a subresource.
    pub(crate) fn resources(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/resources")
    }

    /// The names of its objects; none for all objects.
    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/resourceNames")
    }
}

/// A RoleBinding or a ClusterRoleBinding.
#[derive(Clone, Copy)]
pub(crate) struct RoleBinding<'a>(pub(crate) &'a Object);

impl<'a> RoleBinding<'a> {
    /// The subjects that get the role.
    pub(crate) fn subjects(self) -> impl Iterator<Item = Subject<'a>> {
        list(&self.0.value, "/subjects").iter().map(Subject)
    }

    /// The name of the role.
    pub(crate) fn role(self) -> &'a str {
        self.0.text("/roleRef/name")
    }

    /// Whether the role is one of the cluster.
    pub(crate) fn is_of_cluster_role(self) -> bool {
        self.0.text("/roleRef/kind") == "ClusterRole"
    }
}

/// A user, a group or an account that gets a role.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a>(&'a Value);

impl<'a> Subject<'a> {
    /// `ServiceAccount`, `User` or `Group`.
    pub(crate) fn kind(self) -> &'a str {
        text(self.0, "/kind")
    }

    /// The name.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// The namespace of a ServiceAccount. It is empty if the namespace of the binding counts.
    pub(crate) fn namespace(self) -> &'a str {
        text(self.0, "/namespace")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::rbac::v1 as rbac, apimachinery::pkg::apis::meta::v1::LabelSelector};
    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    #[test]
    fn roles() {
        let role = rbac::ClusterRole {
            rules: Some(vec![rbac::PolicyRule {
                verbs: vec!["update".into()],
                api_groups: Some(vec!["shop.example".into()]),
                resources: Some(vec!["widgets/status".into()]),
                resource_names: Some(vec!["a".into()]),
                ..Default::default()
            }]),
            ..Default::default()
        };
        reads!(role => |object| Role(object).rules().next();
            |rule| rule.is_some_and(RoleRule::may_change) => true, absent false;
            |rule| rule.and_then(|rule| rule.verbs().next()) => Some("update"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.groups().next()) => Some("shop.example"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.resources().next()) => Some("widgets/status"), absent None::<()>;
            |rule| rule.and_then(|rule| rule.names().next()) => Some("a"), absent None::<()>;
        );
        let aggregated = rbac::ClusterRole {
            aggregation_rule: Some(rbac::AggregationRule {
                cluster_role_selectors: Some(vec![LabelSelector {
                    match_labels: Some([("into".to_owned(), "all".to_owned())].into()),
                    ..Default::default()
                }]),
            }),
            ..Default::default()
        };
        let part = bare(
            "rbac.authorization.k8s.io",
            "clusterroles",
            "ClusterRole",
            json!({"metadata": {"name": "part", "labels": {"into": "all"}}}),
        );
        reads!(aggregated => Role; |role| role.collects(&part) => true, absent false;);
    }

    #[test]
    fn bindings() {
        let binding = rbac::RoleBinding {
            role_ref: rbac::RoleRef {
                kind: "ClusterRole".into(),
                name: "edit".into(),
                ..Default::default()
            },
            subjects: Some(vec![rbac::Subject {
                kind: "ServiceAccount".into(),
                name: "web".into(),
                namespace: Some("shop".into()),
                ..Default::default()
            }]),
            ..Default::default()
        };
        reads!(binding => RoleBinding;
            |binding| binding.role() => "edit", absent "";
            |binding| binding.is_of_cluster_role() => true, absent false;
        );
        reads!(binding => |object| RoleBinding(object).subjects().next();
            |subject| subject.map_or("", Subject::kind) => "ServiceAccount", absent "";
            |subject| subject.map_or("", Subject::name) => "web", absent "";
            |subject| subject.map_or("", Subject::namespace) => "shop", absent "";
        );
    }
}
