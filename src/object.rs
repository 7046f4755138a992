//! Names of types and objects, and the times that matter to them. It has no behaviour beyond naming.

use std::fmt::{self, Write as _};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::command::Command;

/// A type that an API server can list: one line of `kubectl api-resources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourceType {
    /// API group; empty for the core group.
    pub group: String,
    /// The version to read: the server's preferred one.
    pub version: String,
    /// Plural, lower case: `persistentvolumeclaims`.
    pub plural: String,
    /// Singular, lower case; empty if the server does not say.
    pub singular: String,
    /// Kind, as in manifests: `PersistentVolumeClaim`.
    pub kind: String,
    /// Whether the type is namespaced.
    pub namespaced: bool,
    /// Short names such as `pvc`.
    pub short_names: Vec<String>,
    /// Categories such as `all`.
    pub categories: Vec<String>,
    /// Its other served versions, preferred first.
    pub other_versions: Vec<String>,
}

impl ResourceType {
    /// `plural.group`, or only the plural in the core group. It is unique in a server, and kubectl accepts it.
    pub fn name(&self) -> String {
        join_group(&self.plural, &self.group)
    }

    /// `group/version`, or only the version in the core group, as in `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection in `version`, cluster-wide or in one namespace.
    pub fn path(&self, version: &str, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{}/{version}", self.group)
        };
        match namespace {
            Some(namespace) if self.namespaced => format!("{root}/namespaces/{namespace}/{}", self.plural),
            _ => format!("{root}/{}", self.plural),
        }
    }

    /// Whether the program reads only the metadata of this type.
    pub fn is_confidential(&self) -> bool {
        self.is("", "secrets") || self.is("", "configmaps")
    }

    /// Whether this is the type `plural` in `group`.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }
}

/// Percent-encodes every character except the unreserved characters of RFC 3986.
pub fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(byte.into());
        } else {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

/// The text with a capital letter in front.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The object as a part of a sentence: `PersistentVolumeClaim db/data-0`, `Node node-7`.
pub fn in_words(kind: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

/// The names that kubectl accepts for types of every cluster, shorter than `plural.group`. No other type has them: kubectl
/// prefers the groups of the API server (`kubernetes/kubernetes:pkg/controlplane/apiserver/aggregator.go`).
const SHORT_TYPES: [(&str, &str); 22] = [
    ("apiservices.apiregistration.k8s.io", "apiservice"),
    ("configmaps", "cm"),
    ("cronjobs.batch", "cj"),
    ("customresourcedefinitions.apiextensions.k8s.io", "crd"),
    ("daemonsets.apps", "ds"),
    ("deployments.apps", "deploy"),
    ("ingresses.networking.k8s.io", "ing"),
    ("jobs.batch", "job"),
    ("leases.coordination.k8s.io", "lease"),
    ("namespaces", "ns"),
    ("nodes", "node"),
    ("persistentvolumeclaims", "pvc"),
    ("persistentvolumes", "pv"),
    ("pods", "pod"),
    ("replicasets.apps", "rs"),
    ("replicationcontrollers", "rc"),
    ("secrets", "secret"),
    ("serviceaccounts", "sa"),
    ("services", "svc"),
    ("statefulsets.apps", "sts"),
    ("storageclasses.storage.k8s.io", "sc"),
    ("volumeattachments.storage.k8s.io", "volumeattachment"),
];

/// The type as people type it: `pvc`, `deploy`, `challenges.acme.cert-manager.io`.
pub fn short_type(type_name: &str) -> &str {
    let found = SHORT_TYPES.binary_search_by_key(&type_name, |&(name, _)| name);
    found
        .ok()
        .and_then(|at| SHORT_TYPES.get(at))
        .map_or(type_name, |&(_, short)| short)
}

/// A type of every cluster as one object of it is called, and as people type it: `namespace`, `ns`. The word as it is for
/// another type.
pub fn one_of(word: &str) -> (&str, &str) {
    let singular = |type_name: &'static str| {
        let (plural, _) = type_name.split_once('.').unwrap_or((type_name, ""));
        ["sses", "ches"]
            .iter()
            .find(|end| plural.ends_with(*end))
            .and(plural.strip_suffix("es"))
            .or(plural.strip_suffix('s'))
            .unwrap_or(plural)
    };
    let known = SHORT_TYPES.iter().find(|(type_name, short)| {
        let (plural, _) = type_name.split_once('.').unwrap_or((type_name, ""));
        [type_name, short, plural, singular(type_name)].contains(&word)
    });
    known.map_or((word, word), |&(type_name, short)| (singular(type_name), short))
}

/// The object as it can be pasted after `kubectl get`: `pvc/data-0 -n db`, `node/node-7`. A name that a shell would act on is
/// quoted. A name with invisible characters is not hidden; whoever prints it makes it harmless.
pub fn pasteable(type_name: &str, namespace: Option<&str>, name: &str) -> String {
    Command::object_words(short_type(type_name), name, namespace.unwrap_or_default())
}

/// The groups that the API server serves itself, without `.k8s.io` (`kubernetes/kubernetes:pkg/apis/` and the
/// aggregator). Its other groups have no dot.
const BUILT_IN_GROUPS: [&str; 18] = [
    "admissionregistration",
    "apiextensions",
    "apiregistration",
    "authentication",
    "authorization",
    "certificates",
    "coordination",
    "discovery",
    "events",
    "flowcontrol.apiserver",
    "internal.apiserver",
    "networking",
    "node",
    "rbac.authorization",
    "resource",
    "scheduling",
    "storage",
    "storagemigration",
];

/// The domain of Kubernetes, which projects outside the API server also use: `snapshot.storage.k8s.io`.
const SHARED_DOMAIN: &str = ".k8s.io";

/// The groups of the API server itself that have no dot. An aggregated API server can have one, too.
const WITHOUT_DOT: [&str; 6] = ["", "apps", "autoscaling", "batch", "extensions", "policy"];

/// Whether the group comes from a CustomResourceDefinition or an aggregated API server, not from the API server itself.
pub fn is_custom_group(group: &str) -> bool {
    if !group.contains('.') {
        return !WITHOUT_DOT.contains(&group);
    }
    let in_shared = group.strip_suffix(SHARED_DOMAIN);
    in_shared.is_none_or(|name| !BUILT_IN_GROUPS.contains(&name))
}

/// Whether the group belongs to one product, judging by its name. Groups in Kubernetes' own domain, such as volume
/// snapshots and gateways, have objects of many products.
pub fn is_product_group(group: &str) -> bool {
    is_custom_group(group) && !group.ends_with(SHARED_DOMAIN)
}

/// `name.group`, or only the name in the core group.
pub fn join_group(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// One object, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectRef {
    /// `plural.group` of its type.
    pub type_name: String,
    /// Kind of its type.
    pub kind: String,
    /// The `apiVersion` that it was read in.
    pub api_version: String,
    /// Its namespace; none for a cluster-scoped object.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its uid; empty if the source does not say.
    pub uid: String,
}

impl ObjectRef {
    /// `PersistentVolumeClaim db/data-0`.
    pub fn in_words(&self) -> String {
        in_words(&self.kind, self.namespace.as_deref(), &self.name)
    }

    /// `pvc/data-0 -n db`: see [`pasteable`].
    pub fn pasteable(&self) -> String {
        pasteable(&self.type_name, self.namespace.as_deref(), &self.name)
    }

    /// Its namespace; empty for a cluster-scoped object.
    pub fn place(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// The API group of its type, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// The list of an object that holds a finalizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum List {
    /// `metadata.finalizers`. Any object may have it.
    #[default]
    Metadata,
    /// `spec.finalizers`. Only a Namespace has it, and only `/finalize` can change it.
    Spec,
}

/// One entry of a finalizer list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finalizer {
    /// The list that holds it.
    pub list: List,
    /// The name of the finalizer.
    pub name: String,
}

impl fmt::Display for Finalizer {
    /// `spec: kubernetes` for `spec.finalizers` of a Namespace, otherwise only the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list {
            List::Metadata => f.write_str(&self.name),
            List::Spec => write!(f, "spec: {}", self.name),
        }
    }
}

/// The deletion of an object, and its start.
///
/// `deletionTimestamp` is the time at which the grace period *ends*, not the time of the delete request. Only Pods have
/// a grace period above zero (`kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deletion {
    /// `metadata.deletionTimestamp`.
    pub timestamp: Timestamp,
    /// `metadata.deletionGracePeriodSeconds`.
    pub grace_seconds: i64,
}

impl Deletion {
    /// The time of the delete request.
    pub fn requested_at(&self) -> Timestamp {
        self.timestamp
            .checked_sub(SignedDuration::from_secs(self.grace_seconds.max(0)))
            .unwrap_or(self.timestamp)
    }

    /// Whether the grace period still runs at `now`. The object is then not stuck.
    pub fn in_grace(&self, now: Timestamp) -> bool {
        self.grace_seconds > 0 && self.timestamp > now
    }
}

/// A duration, as kubectl prints it: `40s`, `2m23s`, `5h`, `3d4h`, `2y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(pub SignedDuration);

impl Age {
    /// The time from `then` to `now`. Never negative, although clocks differ.
    pub fn between(then: Timestamp, now: Timestamp) -> Self {
        Age(now.duration_since(then).max(SignedDuration::ZERO))
    }
}

impl fmt::Display for Age {
    /// Uses the steps of `k8s.io/apimachinery/pkg/util/duration` HumanDuration, so that ages look as in `kubectl get`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        const YEAR: i64 = 365 * DAY;
        let seconds = self.0.as_secs();
        let pair = |f: &mut fmt::Formatter<'_>, big: i64, unit: &str, small: i64, small_unit: &str| {
            if small == 0 {
                write!(f, "{big}{unit}")
            } else {
                write!(f, "{big}{unit}{small}{small_unit}")
            }
        };
        match seconds {
            ..120 => write!(f, "{seconds}s"),
            120..600 => pair(f, seconds / MINUTE, "m", seconds % MINUTE, "s"),
            600..10_800 => write!(f, "{}m", seconds / MINUTE),
            10_800..28_800 => pair(f, seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
            28_800..172_800 => write!(f, "{}h", seconds / HOUR),
            172_800..691_200 => pair(f, seconds / DAY, "d", seconds % DAY / HOUR, "h"),
            691_200..63_072_000 => write!(f, "{}d", seconds / DAY),
            63_072_000..252_288_000 => pair(f, seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
            _ => write!(f, "{}y", seconds / YEAR),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a timestamp")
    }

    #[test]
    fn custom_groups_in_the_domain_of_kubernetes_belong_to_no_product() {
        for (group, custom, product) in [
            ("", false, false),
            ("apps", false, false),
            ("storage.k8s.io", false, false),
            ("rbac.authorization.k8s.io", false, false),
            ("snapshot.storage.k8s.io", true, false),
            ("gateway.networking.k8s.io", true, false),
            ("metrics.k8s.io", true, false),
            ("cluster.x-k8s.io", true, true),
            ("cert-manager.io", true, true),
        ] {
            assert_eq!(is_custom_group(group), custom, "{group}");
            assert_eq!(is_product_group(group), product, "{group}");
        }
    }

    #[test]
    fn objects_can_be_pasted_after_kubectl_get() {
        for (type_name, namespace, name, pasted) in [
            ("persistentvolumeclaims", Some("db"), "data-0", "pvc/data-0 -n db"),
            ("nodes", None, "node-7", "node/node-7"),
            ("deployments.apps", Some("a"), "web", "deploy/web -n a"),
            (
                "challenges.acme.cert-manager.io",
                Some("pay"),
                "api-cert",
                "challenges.acme.cert-manager.io/api-cert -n pay",
            ),
            // Types of other groups do not get the short name of a type of Kubernetes.
            (
                "services.serving.knative.dev",
                Some("a"),
                "s",
                "services.serving.knative.dev/s -n a",
            ),
            (
                "clusterroles.rbac.authorization.k8s.io",
                None,
                "system:node",
                "clusterroles.rbac.authorization.k8s.io/system:node",
            ),
            ("configmaps", Some("a"), "x; rm -rf ~", "'cm/x; rm -rf ~' -n a"),
            ("configmaps", Some("-A"), "x", "cm/x --namespace=-A"),
            ("--all", None, "x", "-- --all/x"),
        ] {
            assert_eq!(super::pasteable(type_name, namespace, name), pasted);
        }
    }

    #[test]
    fn the_short_types_are_in_the_order_in_which_they_are_looked_up() {
        assert!(SHORT_TYPES.is_sorted_by(|one, next| one.0 < next.0));
    }

    #[test]
    fn a_deletion_is_requested_before_its_grace_period() {
        let deletion = Deletion {
            timestamp: at("2026-01-01T00:00:30Z"),
            grace_seconds: 30,
        };
        assert_eq!(deletion.requested_at(), at("2026-01-01T00:00:00Z"));
        assert!(deletion.in_grace(at("2026-01-01T00:00:29Z")));
        assert!(!deletion.in_grace(at("2026-01-01T00:00:30Z")));
    }

    #[test]
    fn without_a_grace_period_a_slow_local_clock_does_not_matter() {
        let deletion = Deletion {
            timestamp: at("2026-01-01T00:00:30Z"),
            grace_seconds: 0,
        };
        assert!(!deletion.in_grace(at("2026-01-01T00:00:00Z")));
    }

    #[test]
    fn prints_ages_as_kubectl_does() {
        let text = |seconds| Age(SignedDuration::from_secs(seconds)).to_string();
        for (seconds, expected) in [
            (0, "0s"),
            (119, "119s"),
            (143, "2m23s"),
            (180, "3m"),
            (2400, "40m"),
            (10_860, "3h1m"),
            (86_400, "24h"),
            (273_600, "3d4h"),
            (900_000, "10d"),
            (94_608_000, "3y"),
        ] {
            assert_eq!(text(seconds), expected, "{seconds} s");
        }
    }

    #[test]
    fn builds_paths_from_group_and_scope() {
        let mut ty = ResourceType {
            version: "v1".into(),
            plural: "pods".into(),
            namespaced: true,
            ..Default::default()
        };
        assert_eq!(ty.path("v1", Some("a")), "/api/v1/namespaces/a/pods");
        ty.group = "metrics.k8s.io".into();
        assert_eq!(ty.path("v1beta1", None), "/apis/metrics.k8s.io/v1beta1/pods");
        assert_eq!(ty.name(), "pods.metrics.k8s.io");
    }
}
