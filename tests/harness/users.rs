//! Users with chosen rights: a client certificate and RBAC objects.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Cluster, api::Api, kubeconfig, kubectl::Kubectl, wait};

/// A user of the cluster.
pub struct User {
    name: String,
    kubectl: Kubectl,
}

impl User {
    /// The name as the API server sees it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A kubeconfig for this user.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubectl.kubeconfig
    }

    /// kubectl as this user.
    pub fn kubectl<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> super::Output {
        self.kubectl.run(arguments, None)
    }
}

/// A user that does not exist yet.
pub struct UserSetup<'a> {
    cluster: &'a Cluster,
    name: String,
    expired: bool,
    rights: Vec<Right>,
}

struct Right {
    namespace: Option<String>,
    verbs: String,
    resources: String,
}

impl<'a> UserSetup<'a> {
    pub(super) fn new(cluster: &'a Cluster, name: String) -> Self {
        Self {
            cluster,
            name,
            expired: false,
            rights: Vec::new(),
        }
    }

    /// Grants verbs on resources in all namespaces: `may("get,list", "pods,deployments.apps")`. `*` means all.
    pub fn may(self, verbs: &str, resources: &str) -> Self {
        self.grant(None, verbs, resources)
    }

    /// The same in one namespace.
    pub fn may_in(self, namespace: &str, verbs: &str, resources: &str) -> Self {
        self.grant(Some(namespace.to_owned()), verbs, resources)
    }

    fn grant(mut self, namespace: Option<String>, verbs: &str, resources: &str) -> Self {
        self.rights.push(Right {
            namespace,
            verbs: verbs.to_owned(),
            resources: resources.to_owned(),
        });
        self
    }

    /// Gives the user a certificate that expired years ago.
    pub fn expired(mut self) -> Self {
        self.expired = true;
        self
    }

    /// Creates the user and waits until the API server knows its rights.
    pub fn create(self) -> User {
        let Self {
            cluster,
            name,
            expired,
            rights,
        } = self;
        let file = |extension: &str| -> PathBuf { cluster.directory().join(format!("{name}.{extension}")) };
        let identity = cluster.authority.client(&name, &name, &[], expired);
        let config = kubeconfig::write(file("kubeconfig"), cluster.url(), &cluster.authority, &identity);
        let user = User {
            kubectl: Kubectl {
                kubeconfig: config,
                ..cluster.kubectl.clone()
            },
            name,
        };

        let objects: Vec<_> = rights
            .iter()
            .enumerate()
            .flat_map(|(n, right)| right.objects(&user.name, n))
            .collect();
        if !objects.is_empty() {
            cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
        }
        if expired {
            return user;
        }
        let api = Api::new(user.kubeconfig());
        for right in &rights {
            wait(
                "the API server knows the user's rights",
                Duration::from_secs(10),
                || right.works_for(&api),
            );
        }
        user
    }
}

impl Right {
    /// A role and its binding.
    fn objects(&self, user: &str, number: usize) -> [Value; 2] {
        let (role, binding) = match self.namespace {
            Some(_) => ("Role", "RoleBinding"),
            None => ("ClusterRole", "ClusterRoleBinding"),
        };
        let metadata = json!({"name": format!("{user}-{number}"), "namespace": self.namespace});
        let rules: Vec<_> = self
            .resources
            .split(',')
            .map(|resource| {
                let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
                let group = if resource == "*" { "*" } else { group };
                json!({"verbs": self.verbs.split(',').collect::<Vec<_>>(), "apiGroups": [group], "resources": [plural]})
            })
            .collect();
        let api = "rbac.authorization.k8s.io";
        [
            json!({"apiVersion": format!("{api}/v1"), "kind": role, "metadata": metadata, "rules": rules}),
            json!({
                "apiVersion": format!("{api}/v1"), "kind": binding, "metadata": metadata,
                "roleRef": {"apiGroup": api, "kind": role, "name": metadata["name"]},
                "subjects": [{"apiGroup": api, "kind": "User", "name": user}],
            }),
        ]
    }

    /// The authorizer reads roles and bindings through four watches, so each right takes effect at its own
    /// time.
    fn works_for(&self, api: &Api) -> bool {
        let first = |list: &str| list.split(',').next().unwrap_or_default().to_owned();
        let namespace = self.namespace.as_deref();
        api.may(&first(&self.verbs), &first(&self.resources), namespace)
    }
}
