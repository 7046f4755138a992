//! Who on the way into the API server would refuse that a finalizer is taken out.
//!
//! To take one out is an UPDATE of the whole object, whoever does it, and passes every webhook and policy that is
//! asked about updates; that only metadata changes is nothing special. Here the server's own rules are applied to
//! what can be seen: which are asked, and whether there is anybody to answer. What cannot be known stays
//! [`Truth::Unknown`]: nobody is blamed for what only may be.
//! Source: `kubernetes/apiserver:pkg/admission/plugin/`.

mod backend;
mod conditions;
mod fields;
mod matching;
pub(super) mod policies;
pub(super) mod schema;
pub(super) mod webhooks;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    diagnose::view::View,
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// What is known of something that is either so or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// It may be so.
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

/// The labels that a namespaceSelector looks at.
#[derive(Debug, PartialEq)]
enum Around {
    /// There is no namespace: nothing is ever excepted by one.
    Nothing,
    Labels(Labels),
    NotKnown,
}

/// The request that takes a finalizer out.
pub(super) struct Change<'a> {
    object: &'a Object,
    /// `status` or `finalize` where the finalizer goes through one, else empty.
    subresource: &'static str,
    /// Every group and version that the object is served in, the one it was read in first.
    served: Vec<(&'a str, &'a str)>,
    around: Around,
    /// Its own labels; none if only part of the object was read.
    labels: Option<Labels>,
}

impl<'a> Change<'a> {
    /// The request that takes `finalizer` out of `object`; none where no admission is asked about such objects.
    pub(super) fn new(object: &'a Object, finalizer: &Finalizer, view: &View<'a>) -> Option<Self> {
        if is_exempt(object) {
            return None;
        }
        let namespace = object.namespace();
        let labels = is_whole(object).then(|| labels(&object.value));
        let around = if object.is("", "namespaces") {
            labels.clone().map_or(Around::NotKnown, Around::Labels)
        } else if namespace.is_empty() {
            Around::Nothing
        } else {
            match view.object("", "namespaces", "", namespace) {
                Ok(Some(found)) => Around::Labels(self::labels(&found.value)),
                _ => Around::NotKnown,
            }
        };
        Some(Change {
            object,
            subresource: subresource(object, finalizer),
            served: served(object, view),
            around,
            labels,
        })
    }
}

/// What configures admission can always be repaired
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

/// A scan knows only the finalizers of most objects, and so neither their labels nor their spec.
fn is_whole(object: &Object) -> bool {
    !object.text("/metadata/resourceVersion").is_empty()
}

fn labels(value: &Value) -> Labels {
    let all = value.pointer("/metadata/labels").and_then(Value::as_object);
    all.into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// `spec.finalizers` changes through `/finalize` only, and the API server takes its own finalizer out of a
/// definition with an update of `/status`
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

/// Types that are kept in one place and served in two groups
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
