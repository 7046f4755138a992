//! Discovery documents: the aggregated one, and the old ones with the same content.

use serde_json::{Value, json};

use super::kind::Kind;

/// One version of a group, in the order in which the server prefers them.
#[derive(Clone, Debug)]
pub struct GroupVersion {
    pub group: String,
    pub version: String,
    /// Its backend is unavailable: its discovery may be stale, and its lists return 503.
    pub stale: bool,
}

/// What the server serves.
#[derive(Default)]
pub struct Catalogue {
    pub kinds: Vec<Kind>,
    pub group_versions: Vec<GroupVersion>,
}

impl Catalogue {
    pub fn add(&mut self, kind: Kind) {
        self.group_version(&kind.group, &kind.version);
        self.kinds.push(kind);
    }

    /// The entry of a group version, created if it is new.
    pub fn group_version(&mut self, group: &str, version: &str) -> &mut GroupVersion {
        let at = self.position(group, version).unwrap_or_else(|| {
            self.group_versions.push(GroupVersion {
                group: group.into(),
                version: version.into(),
                stale: false,
            });
            self.group_versions.len() - 1
        });
        &mut self.group_versions[at]
    }

    pub fn find(&self, group: &str, version: &str) -> Option<&GroupVersion> {
        self.position(group, version).map(|at| &self.group_versions[at])
    }

    pub fn kind(&self, group: &str, version: &str, plural: &str) -> Option<&Kind> {
        let names = |kind: &&Kind| kind.group == group && kind.version == version && kind.plural == plural;
        self.kinds.iter().find(names)
    }

    fn position(&self, group: &str, version: &str) -> Option<usize> {
        self.group_versions
            .iter()
            .position(|known| known.group == group && known.version == version)
    }

    fn of<'a>(&'a self, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Kind> {
        self.kinds
            .iter()
            .filter(move |kind| kind.group == group && kind.version == version)
    }

    /// The names of all groups but the core group, in order of first use.
    fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for known in &self.group_versions {
            if !known.group.is_empty() && !groups.contains(&&*known.group) {
                groups.push(&known.group);
            }
        }
        groups
    }

    fn versions<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a GroupVersion> {
        self.group_versions
            .iter()
            .filter(move |known| known.group == group)
    }

    /// `/api` or `/apis` as `APIGroupDiscoveryList`.
    pub fn aggregated(&self, core: bool, document_version: &str) -> Value {
        let groups = if core { vec![""] } else { self.groups() };
        let items: Vec<Value> = groups
            .into_iter()
            .map(|group| self.aggregated_group(group))
            .collect();
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": format!("apidiscovery.k8s.io/{document_version}"),
            "metadata": {},
            "items": items,
        })
    }

    fn aggregated_group(&self, group: &str) -> Value {
        let versions: Vec<Value> = self
            .versions(group)
            .map(|known| {
                let resources: Vec<Value> = self.of(group, &known.version).map(aggregated_resource).collect();
                json!({
                    "version": known.version,
                    "resources": resources,
                    "freshness": if known.stale { "Stale" } else { "Current" },
                })
            })
            .collect();
        let metadata = if group.is_empty() {
            json!({ "creationTimestamp": null })
        } else {
            json!({ "name": group, "creationTimestamp": null })
        };
        json!({ "metadata": metadata, "versions": versions })
    }

    /// The old `/api`: `APIVersions`.
    pub fn core_versions(&self) -> Value {
        let versions: Vec<&str> = self.versions("").map(|known| &*known.version).collect();
        json!({ "kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": [] })
    }

    /// The old `/apis`: `APIGroupList`.
    pub fn group_list(&self) -> Value {
        let groups: Vec<Value> = self.groups().into_iter().map(|group| self.group(group)).collect();
        json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
    }

    /// `/apis/GROUP`: `APIGroup`.
    pub fn group(&self, group: &str) -> Value {
        let versions: Vec<Value> = self
            .versions(group)
            .map(|known| {
                json!({
                    "groupVersion": format!("{group}/{}", known.version),
                    "version": known.version,
                })
            })
            .collect();
        json!({
            "kind": "APIGroup", "apiVersion": "v1", "name": group,
            "versions": versions, "preferredVersion": versions.first(),
        })
    }

    /// `/apis/GROUP/VERSION`: `APIResourceList`, with the subresources among the resources.
    pub fn resources(&self, group: &str, version: &str) -> Value {
        let api_version = if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        };
        let resources: Vec<Value> = self.of(group, version).flat_map(legacy_resources).collect();
        json!({
            "kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": api_version, "resources": resources,
        })
    }
}

fn aggregated_resource(kind: &Kind) -> Value {
    let response_kind = json!({ "group": kind.group, "version": kind.version, "kind": kind.kind });
    let subresources: Vec<Value> = kind
        .subresources
        .iter()
        .map(|name| json!({ "subresource": name, "responseKind": response_kind, "verbs": ["get", "patch", "update"] }))
        .collect();
    let mut resource = json!({
        "resource": kind.plural,
        "responseKind": response_kind,
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.kind.to_lowercase(),
        "verbs": kind.verbs,
    });
    for (name, list) in [
        ("shortNames", &kind.short_names),
        ("categories", &kind.categories),
    ] {
        if !list.is_empty() {
            resource[name] = json!(list);
        }
    }
    if !subresources.is_empty() {
        resource["subresources"] = json!(subresources);
    }
    resource
}

fn legacy_resources(kind: &Kind) -> Vec<Value> {
    let mut main = json!({
        "name": kind.plural, "singularName": kind.kind.to_lowercase(),
        "namespaced": kind.namespaced, "kind": kind.kind, "verbs": kind.verbs,
    });
    for (name, list) in [
        ("shortNames", &kind.short_names),
        ("categories", &kind.categories),
    ] {
        if !list.is_empty() {
            main[name] = json!(list);
        }
    }
    let subresources = kind.subresources.iter().map(|name| {
        json!({
            "name": format!("{}/{name}", kind.plural), "singularName": "",
            "namespaced": kind.namespaced, "kind": kind.kind, "verbs": ["get", "patch", "update"],
        })
    });
    std::iter::once(main).chain(subresources).collect()
}
