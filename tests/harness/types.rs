//! The types that an API server has, as kubectl names them.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// One version of a type.
#[derive(Clone)]
pub(super) struct Type {
    group: String,
    version: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    /// Plural, singular and short names.
    names: Vec<String>,
}

impl Type {
    /// Whether kubectl takes this word for the type: `pvc`, `pods`, `challenges.acme.cert-manager.io`.
    pub(super) fn is_named(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let (name, rest) = word.split_once('.').unwrap_or((&word, ""));
        let is_named = self.names.iter().any(|own| own == name);
        let exact = format!("{}.{}", self.version, self.group);
        is_named && (rest.is_empty() || rest == self.group || rest == exact)
    }

    /// `group/version`, or the version alone of the core group.
    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The key of an object in etcd below `/registry/`. Built-in types go without their group, and some have kept a former
    /// name (`kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go`).
    pub(super) fn key(&self, is_custom: bool, namespace: &str, name: &str) -> String {
        let plural = self.names[0].as_str();
        let stored = match (self.group.as_str(), plural) {
            ("", "nodes") => "minions".to_owned(),
            ("", "services") => "services/specs".to_owned(),
            ("", "endpoints") => "services/endpoints".to_owned(),
            ("", "replicationcontrollers") => "controllers".to_owned(),
            ("networking.k8s.io", "ingresses") => "ingress".to_owned(),
            ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => format!("{}/{plural}", self.group),
            _ if is_custom => format!("{}/{plural}", self.group),
            _ => plural.to_owned(),
        };
        match namespace {
            "" => format!("{stored}/{name}"),
            _ => format!("{stored}/{namespace}/{name}"),
        }
    }

    /// Where its objects are; in all namespaces if the namespace is empty.
    pub(super) fn path(&self, namespace: &str) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            _ => format!("/apis/{}", self.api_version()),
        };
        let plural = &self.names[0];
        if self.namespaced && !namespace.is_empty() {
            format!("{root}/namespaces/{namespace}/{plural}")
        } else {
            format!("{root}/{plural}")
        }
    }
}

/// What was read last. Types come and go with CustomResourceDefinitions, so a type that is missing is looked for again.
#[derive(Default)]
pub(super) struct Types(Mutex<Vec<Type>>);

impl Types {
    /// The first type that fits; `read` reads a list of aggregated discovery from the server.
    pub(super) fn find(&self, fits: impl Fn(&Type) -> bool, read: impl Fn(&str) -> Value) -> Option<Type> {
        let known = |types: &[Type]| types.iter().find(|ty| fits(ty)).cloned();
        if let Some(found) = known(&self.lock()) {
            return Some(found);
        }
        let lists = [read("/api"), read("/apis")];
        let groups = lists.iter().filter_map(|list| list["items"].as_array()).flatten();
        let types: Vec<_> = groups.flat_map(of_group).collect();
        let found = known(&types);
        *self.lock() = types;
        found
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Type>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The types of one group in the form of aggregated discovery, which does not ask the servers behind APIServices.
fn of_group(group: &Value) -> Vec<Type> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = group["versions"].as_array().into_iter().flatten();
    let resources = versions.flat_map(|version| {
        let resources = version["resources"].as_array().into_iter().flatten();
        resources.map(move |resource| (version, resource))
    });
    resources
        .map(|(version, resource)| {
            let kind = text(&resource["responseKind"]["kind"]);
            let short = resource["shortNames"].as_array().into_iter().flatten();
            let mut names = vec![text(&resource["resource"]), text(&resource["singularResource"])];
            names.push(kind.to_lowercase());
            names.extend(short.map(text));
            Type {
                group: text(&group["metadata"]["name"]),
                version: text(&version["version"]),
                kind,
                namespaced: resource["scope"] == "Namespaced",
                names,
            }
        })
        .collect()
}
