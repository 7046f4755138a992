//! Discovers the types of a server, and the groups that cannot list theirs.
//!
//! This takes two requests if the server has aggregated discovery, otherwise one for each group and version. kube's own
//! discovery is not used for two reasons. It drops `freshness`, so that the group of a dead backend would silently have
//! no types. It also takes an old-style answer for a server without groups.
//!
//! Aggregated form: `kubernetes/api:apidiscovery/v2/types.go`. Freshness:
//! `kubernetes/kube-aggregator:pkg/apiserver/handler_discovery.go`.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, future::join, stream};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    PARALLEL,
    request::{Answer, DISCOVERY, Failure, Server, WHOLE, or_default, quoted},
};
use crate::{
    object::{ResourceType, join_group},
    snapshot::{Gap, What, Why},
};

/// The result of discovery.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    /// Every type that can be listed, once, in the server's order of groups.
    pub(super) types: Vec<ResourceType>,
    /// Types whose objects another type in `types` already has, and that other type, both as `plural.group`.
    pub(super) aliases: Vec<(String, String)>,
    /// Groups that could not list their types.
    pub(super) gaps: Vec<Gap>,
    /// The time on the server's clock.
    pub(super) date: Option<Timestamp>,
}

impl Discovered {
    /// The name in `types` of the type that this word names.
    pub(super) fn kept_name<'a>(&'a self, word: &'a str) -> &'a str {
        let same = self
            .aliases
            .iter()
            .find(|(alias, _)| alias.eq_ignore_ascii_case(word));
        same.map_or(word, |(_, kept)| kept)
    }
}

/// One group, from either form of discovery.
#[derive(Default)]
struct Group {
    name: String,
    versions: Vec<Version>,
}

struct Version {
    name: String,
    /// Its types. They are missing if there is a fault; a stale version has both.
    types: Vec<ResourceType>,
    fault: Option<Why>,
}

/// Discovers the server's types. Fails only if nothing could be learned.
pub(super) async fn discover(server: &Server) -> Result<Discovered, Failure> {
    let (core, groups) = join(read_root(server, "/api"), read_root(server, "/apis")).await;
    let mut found = Discovered::default();
    match (core, groups) {
        (Err(failure), Err(_)) => return Err(failure),
        (core, groups) => {
            for (what, root) in [(What::CoreGroup, core), (What::Groups, groups)] {
                match root {
                    Ok(root) => {
                        found.date = found.date.or(root.date);
                        found.gaps.extend(root.gaps);
                        for group in root.groups {
                            merge(group, &mut found);
                        }
                    }
                    Err(failure) => found.gaps.push(Gap {
                        what,
                        why: failure.why(),
                    }),
                }
            }
        }
    }
    found.aliases = drop_cohabitants(&mut found.types);
    explain_stale(server, &mut found.gaps).await;
    Ok(found)
}

/// The content of `/api` or `/apis`.
#[derive(Default)]
struct Root {
    groups: Vec<Group>,
    gaps: Vec<Gap>,
    date: Option<Timestamp>,
}

async fn read_root(server: &Server, path: &str) -> Result<Root, Failure> {
    let answer = match server.get(path, DISCOVERY).await {
        // A server or proxy that reads only the first half of the Accept header.
        Err(failure) if failure.is(http::StatusCode::NOT_ACCEPTABLE) => server.get(path, WHOLE).await?,
        answer => answer?,
    };
    let mut root = Root {
        date: answer.date,
        ..Root::default()
    };
    match parse::<Kind>(&answer)?.kind.as_str() {
        "APIGroupDiscoveryList" => {
            for raw in parse::<Aggregated<'_>>(&answer)?.items {
                match serde_json::from_str::<AggregatedGroup>(raw.get()) {
                    Ok(group) => root.groups.push(group.into()),
                    Err(error) => root.gaps.push(unreadable(raw, &error)),
                }
            }
        }
        "APIVersions" => {
            let versions = parse::<ApiVersions>(&answer)?.versions;
            // A large answer has its turn until it is dropped, and more are asked for now.
            drop(answer);
            root.groups
                .push(read_legacy_group(server, String::new(), versions).await);
        }
        "APIGroupList" => {
            let groups = parse::<ApiGroupList>(&answer)?.groups;
            drop(answer);
            let each = groups.into_iter().map(|group| {
                // The preferred version first: it need not be the first in the list.
                let preferred = group.preferred_version.map(|version| version.version);
                let mut versions: Vec<_> = group
                    .versions
                    .into_iter()
                    .map(|version| version.version)
                    .collect();
                versions.sort_by_key(|version| Some(version) != preferred.as_ref());
                read_legacy_group(server, group.name, versions)
            });
            root.groups = stream::iter(each).buffered(PARALLEL).collect().await;
        }
        _ => {
            return Err(Failure::Body(format!(
                "expected the list of API groups, got {}",
                super::decode::excerpt(&answer.body)
            )));
        }
    }
    Ok(root)
}

/// The gap of a group that cannot be parsed. It hides only its own types.
fn unreadable(raw: &RawValue, error: &serde_json::Error) -> Gap {
    let name = serde_json::from_str::<Named>(raw.get()).map(|group| group.metadata.name);
    Gap {
        what: What::GroupVersion {
            group: name.unwrap_or_else(|_| "a group without a name".into()),
            version: String::new(),
            types: Vec::new(),
        },
        why: Why::Undecodable(format!("what discovery says of it cannot be read: {error}")),
    }
}

async fn read_legacy_group(server: &Server, group: String, versions: Vec<String>) -> Group {
    let mut read = Group {
        name: group,
        versions: Vec::new(),
    };
    for version in versions {
        let path = if read.name.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{}/{version}", read.name)
        };
        let types = match server.get(&path, WHOLE).await {
            Ok(answer) => parse::<ApiResourceList>(&answer).map(|list| {
                list.resources
                    .into_iter()
                    .filter_map(|resource| resource.into_type(&read.name, &version))
                    .collect()
            }),
            Err(failure) => Err(failure),
        };
        read.versions.push(match types.map_err(|failure| failure.why()) {
            Ok(types) => Version {
                name: version,
                types,
                fault: None,
            },
            Err(why) => Version {
                name: version,
                types: Vec::new(),
                fault: Some(why),
            },
        });
    }
    read
}

fn parse<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, Failure> {
    serde_json::from_slice(&answer.body).map_err(|error| {
        let what = super::decode::excerpt(&answer.body);
        Failure::Body(if answer.body.trim_ascii_start().starts_with(b"{") {
            format!("the list of API groups cannot be read: {error}; it begins: {what}")
        } else {
            format!("expected the list of API groups, got {what}")
        })
    })
}

/// Adds every type of a group once, in the first version that works, as client-go prefers it. Types that only a faulty
/// version has become a gap.
fn merge(group: Group, found: &mut Discovered) {
    let mut types: Vec<ResourceType> = Vec::new();
    let (good, faulty): (Vec<_>, Vec<_>) = group
        .versions
        .into_iter()
        .partition(|version| version.fault.is_none());
    for version in good {
        for ty in version.types {
            match types.iter_mut().find(|known| known.plural == ty.plural) {
                Some(known) => known.other_versions.push(ty.version),
                None => types.push(ty),
            }
        }
    }
    for version in faulty {
        let hidden = version
            .types
            .iter()
            .filter(|ty| !types.iter().any(|known| known.plural == ty.plural));
        let hidden = hidden.map(ResourceType::name).collect();
        let why = version.fault.unwrap_or(Why::Vanished);
        found.gaps.push(Gap {
            what: What::GroupVersion {
                group: group.name.clone(),
                version: version.name,
                types: hidden,
            },
            why,
        });
    }
    found.types.extend(types);
}

/// Groups whose types are the same objects as those of another group, from the server's own table
/// (`kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go`). The first group is read. Other
/// shared types are detected by uid while listing.
const COHABITANTS: &[(&str, &str, &str)] = &[
    ("", "events.k8s.io", "events"),
    ("networking.k8s.io", "extensions", "ingresses"),
    ("networking.k8s.io", "extensions", "networkpolicies"),
    ("apps", "extensions", "deployments"),
    ("apps", "extensions", "daemonsets"),
    ("apps", "extensions", "replicasets"),
    ("policy", "extensions", "podsecuritypolicies"),
];

/// Drops shared types and returns their aliases. People still use the other name, and so does the output of `kubectl
/// api-resources -o name`.
fn drop_cohabitants(types: &mut Vec<ResourceType>) -> Vec<(String, String)> {
    let have: BTreeSet<_> = types
        .iter()
        .map(|ty| (ty.group.clone(), ty.plural.clone()))
        .collect();
    let mut aliases = Vec::new();
    types.retain(|ty| {
        let same = COHABITANTS.iter().find(|(kept, dropped, plural)| {
            ty.is(dropped, plural) && have.contains(&((*kept).to_owned(), (*plural).to_owned()))
        });
        if let Some((kept, _, plural)) = same {
            aliases.push((ty.name(), join_group(plural, kept)));
            for version in [&ty.version].into_iter().chain(&ty.other_versions) {
                let name = format!("{plural}.{version}.{}", ty.group);
                aliases.push((name, join_group(plural, kept)));
            }
        }
        same.is_none()
    });
    aliases
}

/// Replaces "stale" in the gaps with the reason from the APIService, which is more useful.
async fn explain_stale(server: &Server, gaps: &mut [Gap]) {
    let explained = stream::iter(
        gaps.iter_mut()
            .filter(|gap| matches!(gap.why, Why::Unavailable(_))),
    )
    .map(|gap| async {
        let What::GroupVersion { group, version, .. } = &gap.what else {
            return;
        };
        let name = join_group(version, group);
        let path = format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}");
        let answer = match server.get(&path, WHOLE).await {
            Ok(answer) => answer,
            Err(failure) if failure.is_not_found() => return,
            Err(failure) => {
                gap.why = Why::Unavailable(quoted(&format!(
                    "{}, and the reason of its APIService is not known: apiservices.apiregistration.k8s.io could not be \
                     read: {}",
                    gap.why.message(),
                    failure.why().message()
                )));
                return;
            }
        };
        let Ok(service) = parse::<ApiService>(&answer) else {
            return;
        };
        let conditions = service
            .status
            .and_then(|status| status.conditions)
            .unwrap_or_default();
        if let Some(available) = conditions
            .into_iter()
            .find(|c| c.kind == "Available" && c.status != "True")
        {
            gap.why = Why::ApiServiceUnavailable {
                name,
                says: quoted(&format!("{}: {}", available.reason, available.message)),
            };
        }
    });
    explained.buffer_unordered(PARALLEL).collect::<()>().await;
}

#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
struct Aggregated<'a> {
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    metadata: Name,
}

#[derive(Deserialize)]
struct AggregatedGroup {
    #[serde(default)]
    metadata: Name,
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<AggregatedVersion>,
}

#[derive(Default, Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct AggregatedVersion {
    version: String,
    #[serde(default, deserialize_with = "or_default")]
    resources: Vec<AggregatedResource>,
    freshness: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource {
    resource: String,
    #[serde(default, deserialize_with = "or_default")]
    response_kind: GroupKind,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default, deserialize_with = "or_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    categories: Vec<String>,
}

#[derive(Default, Deserialize)]
struct GroupKind {
    #[serde(default)]
    kind: String,
}

impl From<AggregatedGroup> for Group {
    fn from(group: AggregatedGroup) -> Self {
        let name = group.metadata.name;
        let versions = group.versions.into_iter().map(|version| {
            let types = version
                .resources
                .into_iter()
                .filter(|r| r.verbs.iter().any(|verb| verb == "list"));
            let types = types.map(|resource| ResourceType {
                group: name.clone(),
                version: version.version.clone(),
                plural: resource.resource,
                singular: resource.singular_resource,
                kind: resource.response_kind.kind,
                namespaced: resource.scope == "Namespaced",
                short_names: resource.short_names,
                categories: resource.categories,
                other_versions: Vec::new(),
            });
            Version {
                types: types.collect(),
                name: version.version.clone(),
                fault: (version.freshness.as_deref() == Some("Stale"))
                    .then(|| Why::Unavailable("its backend does not answer (stale discovery)".into())),
            }
        });
        Group {
            versions: versions.collect(),
            name,
        }
    }
}

#[derive(Deserialize)]
struct ApiVersions {
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct ApiGroupList {
    #[serde(default, deserialize_with = "or_default")]
    groups: Vec<ApiGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiGroup {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Deserialize)]
struct GroupVersion {
    version: String,
}

#[derive(Deserialize)]
struct ApiResourceList {
    #[serde(default, deserialize_with = "or_default")]
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    namespaced: bool,
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    categories: Vec<String>,
}

impl ApiResource {
    /// The type; none for subresources and for types that cannot be listed, such as reviews.
    fn into_type(self, group: &str, version: &str) -> Option<ResourceType> {
        let listable = !self.name.contains('/') && self.verbs.iter().any(|verb| verb == "list");
        listable.then(|| ResourceType {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: self.name,
            singular: self.singular_name,
            kind: self.kind,
            namespaced: self.namespaced,
            short_names: self.short_names,
            categories: self.categories,
            other_versions: Vec::new(),
        })
    }
}

#[derive(Deserialize)]
struct ApiService {
    status: Option<ApiServiceStatus>,
}

#[derive(Deserialize)]
struct ApiServiceStatus {
    conditions: Option<Vec<ApiServiceCondition>>,
}

#[derive(Deserialize)]
struct ApiServiceCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
}

/// Groups types into families that may share their objects: same plural and kind in several groups. A family is read
/// one type after the other, so that its shared objects are detected by uid.
pub(super) fn families(types: Vec<ResourceType>) -> Vec<Vec<ResourceType>> {
    let mut families: Vec<Vec<ResourceType>> = Vec::new();
    let mut index: BTreeMap<(String, String), usize> = BTreeMap::new();
    for ty in types {
        let at = *index
            .entry((ty.plural.clone(), ty.kind.clone()))
            .or_insert(families.len());
        match families.get_mut(at) {
            Some(family) => family.push(ty),
            None => families.push(vec![ty]),
        }
    }
    families
}
