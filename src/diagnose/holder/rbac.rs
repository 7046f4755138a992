//! Which `ServiceAccounts` may change objects of a type, by the cluster's RBAC objects.
//!
//! Whoever removes a finalizer must be allowed to `update` or `patch` the object. That makes RBAC the one trace that
//! every controller leaves, whatever it is called. It is no proof of who acts: a backup tool may change everything.
//! And RBAC may not be the only authorizer, so what it does not grant is strong evidence and not proof. Rules:
//! `kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go`, `pkg/apis/rbac/v1/evaluation_helpers.go`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Namespace and name of a `ServiceAccount`.
pub type Account = (String, String);

/// Who may change an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changers {
    /// Those who are granted just this type, with the role that grants it.
    pub named: BTreeMap<Account, String>,
    /// Those who may change objects of every type.
    pub all: BTreeSet<Account>,
    /// Groups of `ServiceAccounts` that may: `system:serviceaccounts` or `system:serviceaccounts:NAMESPACE`.
    pub groups: BTreeSet<String>,
}

/// What a role grants on a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grant {
    Nothing,
    Named,
    Everything,
}

impl Changers {
    /// Reads them for this object. Four lists, which any number of questions share.
    pub fn of(object: &Object, view: &View<'_>) -> Result<Self, Missing> {
        let namespace = object.namespace();
        // Asked together, so that they are read together.
        let cluster = (
            view.list(GROUP, "clusterroles", ""),
            view.list(GROUP, "clusterrolebindings", ""),
        );
        let local = if namespace.is_empty() {
            (Ok(&[][..]), Ok(&[][..]))
        } else {
            (
                view.list(GROUP, "roles", namespace),
                view.list(GROUP, "rolebindings", namespace),
            )
        };
        let (cluster_roles, cluster_bindings, roles, bindings) = (cluster.0?, cluster.1?, local.0?, local.1?);
        let grants = |roles: &[Object]| -> BTreeMap<String, Grant> {
            roles
                .iter()
                .map(|role| (role.name().to_owned(), grant(role, object)))
                .filter(|(_, grant)| *grant != Grant::Nothing)
                .collect()
        };
        let (of_cluster, of_namespace) = (grants(cluster_roles), grants(roles));
        let mut changers = Changers::default();
        for binding in cluster_bindings.iter().chain(bindings) {
            let name = binding.text("/roleRef/name");
            let granted = match binding.text("/roleRef/kind") {
                "ClusterRole" => of_cluster.get(name),
                _ => of_namespace.get(name),
            };
            // Kubernetes' own controllers may change everything, and are holders of other finalizers than these.
            if let Some(granted) = granted.filter(|_| !name.starts_with("system:")) {
                changers.add(binding, name, *granted);
            }
        }
        Ok(changers)
    }

    fn add(&mut self, binding: &Object, role: &str, grant: Grant) {
        for subject in binding.list("/subjects") {
            let field = |name: &str| subject.get(name).and_then(Value::as_str).unwrap_or_default();
            let account = match (field("kind"), field("name")) {
                ("ServiceAccount", name) => {
                    let namespace = match field("namespace") {
                        "" => binding.namespace(),
                        namespace => namespace,
                    };
                    Some((namespace.to_owned(), name.to_owned()))
                }
                ("User", name) => name
                    .strip_prefix("system:serviceaccount:")
                    .and_then(|rest| rest.split_once(':'))
                    .map(|(namespace, name)| (namespace.to_owned(), name.to_owned())),
                ("Group", name) => {
                    if name.starts_with("system:serviceaccounts") || name == "system:authenticated" {
                        self.groups.insert(name.to_owned());
                    }
                    None
                }
                _ => None,
            };
            match (account, grant) {
                (Some(account), Grant::Everything) => {
                    self.all.insert(account);
                }
                (Some(account), _) => {
                    self.named.insert(account, role.to_owned());
                }
                (None, _) => {}
            }
        }
    }

    /// Whether this account may, by any of the ways.
    pub fn may(&self, namespace: &str, name: &str) -> bool {
        let account = (namespace.to_owned(), name.to_owned());
        self.named.contains_key(&account)
            || self.all.contains(&account)
            || self.groups.iter().any(|group| {
                group == "system:serviceaccounts"
                    || group == "system:authenticated"
                    || group.strip_prefix("system:serviceaccounts:") == Some(namespace)
            })
    }

    /// Whether nobody is granted it but Kubernetes' own controllers.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.all.is_empty() && self.groups.is_empty()
    }
}

/// What a role grants: to `update` or `patch` this object.
fn grant(role: &Object, object: &Object) -> Grant {
    let mut granted = Grant::Nothing;
    for rule in role.list("/rules") {
        let holds = |field: &str, wanted: &[&str]| {
            let values = rule.get(field).and_then(Value::as_array);
            values
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .any(|value| wanted.contains(&value))
        };
        let only = rule.get("resourceNames").and_then(Value::as_array);
        let applies = only.is_none_or(|names| {
            names.is_empty() || names.iter().any(|name| name.as_str() == Some(object.name()))
        });
        if !applies || !holds("verbs", &["update", "patch", "*"]) {
            continue;
        }
        if holds("apiGroups", &["*"]) && holds("resources", &["*"]) {
            return Grant::Everything;
        }
        if holds("apiGroups", &[&object.resource.group, "*"])
            && holds("resources", &[&object.resource.plural, "*"])
        {
            granted = Grant::Named;
        }
    }
    granted
}
