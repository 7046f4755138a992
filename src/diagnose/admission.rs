//! Finds which admission checks of the API server would refuse the removal of a finalizer.
//!
//! To remove a finalizer is an UPDATE of the whole object, by any client. It passes every webhook and policy
//! for updates, although only metadata changes. The rules of the API server are applied here to what was read:
//! which checks are asked, and whether they can answer. What is unknown stays [`Truth::Unknown`]: nothing is
//! blamed for what is only possible. Source: `kubernetes/apiserver:pkg/admission/plugin/`.

mod conditions;
mod fields;
mod matching;
pub(super) mod policies;
pub(super) mod schema;
pub(super) mod webhooks;

use std::collections::BTreeMap;

use crate::{
    diagnose::view::View,
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// Whether a statement is true, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It is true.
    Yes,
    /// It is false.
    No,
    /// It may be true or false.
    Unknown,
}

impl Truth {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Truth::No, _) | (_, Truth::No) => Truth::No,
            (Truth::Yes, Truth::Yes) => Truth::Yes,
            _ => Truth::Unknown,
        }
    }

    fn or(self, other: Self) -> Self {
        !((!self).and(!other))
    }
}

impl std::ops::Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(known: bool) -> Self {
        if known { Truth::Yes } else { Truth::No }
    }
}

type Labels = BTreeMap<String, String>;

/// The labels that a namespaceSelector reads.
#[derive(Debug, PartialEq)]
enum NamespaceLabels {
    /// The object has no namespace, so that no namespaceSelector exempts it.
    Nothing,
    Labels(Labels),
    NotKnown,
}

/// The request that removes a finalizer.
pub(super) struct Change<'a> {
    object: &'a Object,
    /// `status` or `finalize` if the finalizer is removed through that subresource, else empty.
    subresource: &'static str,
    /// Every group and version in which the object is served, starting with the one in which it was read.
    served: Vec<(&'a str, &'a str)>,
    namespace_labels: NamespaceLabels,
    /// The object's own labels; none if only a part of the object was read.
    labels: Option<Labels>,
}

impl<'a> Change<'a> {
    /// The request that removes `finalizer` from `object`; none if no admission check is asked about such
    /// objects.
    pub(super) fn new(object: &'a Object, finalizer: &Finalizer, view: &View<'a>) -> Option<Self> {
        if is_exempt(object) {
            return None;
        }
        let namespace = object.namespace();
        let labels = is_whole(object).then(|| object.labels());
        let namespace_labels = if object.is("", "namespaces") {
            labels
                .clone()
                .map_or(NamespaceLabels::NotKnown, NamespaceLabels::Labels)
        } else if namespace.is_empty() {
            NamespaceLabels::Nothing
        } else {
            match view.object("", "namespaces", "", namespace) {
                Ok(Some(found)) => NamespaceLabels::Labels(found.labels()),
                _ => NamespaceLabels::NotKnown,
            }
        };
        Some(Change {
            object,
            subresource: subresource(object, finalizer),
            served: served(object, view),
            namespace_labels,
            labels,
        })
    }
}

/// Whether the object configures admission. Such objects can always be repaired
/// (`plugin/webhook/predicates/rules/rules.go` IsExemptAdmissionConfigurationResource).
fn is_exempt(object: &Object) -> bool {
    object.resource.group == "admissionregistration.k8s.io"
        && [
            "validatingwebhookconfigurations",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
        ]
        .contains(&object.resource.plural.as_str())
}

/// Whether the whole object was read. A scan reads only the finalizers of most objects, and neither their
/// labels nor their spec.
fn is_whole(object: &Object) -> bool {
    !object.resource_version().is_empty()
}

/// The subresource of the request. `spec.finalizers` changes only through `/finalize`. The API server removes
/// its own finalizer from a definition with an update of `/status`
/// (`kubernetes/apiextensions-apiserver:pkg/controller/finalizer/crd_finalizer.go`).
fn subresource(object: &Object, finalizer: &Finalizer) -> &'static str {
    if finalizer.list == List::Spec {
        "finalize"
    } else if object.is("apiextensions.k8s.io", "customresourcedefinitions")
        && finalizer.name == "customresourcecleanup.apiextensions.k8s.io"
    {
        "status"
    } else {
        ""
    }
}

/// Types that are stored once and served in two groups
/// (`kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go` AddCohabitatingResources).
const TWO_GROUPS: &[(&str, &str, &str)] = &[
    ("", "events.k8s.io", "events"),
    ("networking.k8s.io", "extensions", "networkpolicies"),
    ("networking.k8s.io", "extensions", "ingresses"),
    ("apps", "extensions", "deployments"),
    ("apps", "extensions", "daemonsets"),
    ("apps", "extensions", "replicasets"),
];

fn served<'a>(object: &'a Object, view: &View<'a>) -> Vec<(&'a str, &'a str)> {
    let (group, plural) = (object.resource.group.as_str(), object.resource.plural.as_str());
    let version = object
        .api_version
        .rsplit('/')
        .next()
        .unwrap_or(&object.api_version);
    let mut served = vec![(group, version)];
    let other = TWO_GROUPS.iter().find_map(|(a, b, name)| match group {
        _ if *name != plural => None,
        group if group == *a => Some(*b),
        group if group == *b => Some(*a),
        _ => None,
    });
    for group in [Some(group), other].into_iter().flatten() {
        if let Some(ty) = view.resource_type(group, plural) {
            let versions = std::iter::once(&ty.version).chain(&ty.other_versions);
            served.extend(versions.map(|version| (ty.group.as_str(), version.as_str())));
        }
    }
    served
}
