//! Finds the type of an object from its `apiVersion` and `kind`: its plural, scope and short names.
//!
//! A server knows its types, but a file does not. So this file has a table of the built-in types. Custom types come
//! from the CustomResourceDefinitions of the dump. The rest is guessed as kubectl guesses.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::object::ResourceType;

/// The types that a dump must hold to explain a stuck deletion: what holds volumes and pods, which controllers are
/// alive, and what can reject an update. The loader always reports when one of them is missing.
pub(super) const NEEDED: [(&str, &str); 13] = [
    ("", "namespaces"),
    ("", "nodes"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "services"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "volumeattachments"),
];

/// What a CustomResourceDefinition says about its type.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(super) struct Custom {
    pub(super) group: String,
    pub(super) scope: String,
    pub(super) names: Names,
}

/// `spec.names` of a CustomResourceDefinition.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub(super) struct Names {
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) kind: String,
    #[serde(rename = "shortNames")]
    pub(super) short: Vec<String>,
    pub(super) categories: Vec<String>,
}

/// The CustomResourceDefinitions of a dump, by group and kind.
pub(super) type Customs = BTreeMap<(String, String), Custom>;

impl Custom {
    /// The type, with the version of its objects, if the dump has any.
    pub(super) fn resource_type(&self, version: &str) -> ResourceType {
        ResourceType {
            group: self.group.clone(),
            version: version.to_owned(),
            plural: self.names.plural.clone(),
            singular: self.names.singular.clone(),
            kind: self.names.kind.clone(),
            namespaced: self.scope == "Namespaced",
            short_names: self.names.short.clone(),
            categories: self.names.categories.clone(),
            other_versions: Vec::new(),
        }
    }
}

/// The type of objects with this `apiVersion` and kind. `in_namespaces` says whether any of them has a namespace. It
/// decides the scope if nothing better is known.
pub(super) fn resource_type(
    api_version: &str,
    kind: &str,
    customs: &Customs,
    in_namespaces: bool,
) -> ResourceType {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if let Some(known) = BUILT_IN
        .iter()
        .find(|known| known.group == group && known.kind == kind)
    {
        return known.resource_type(version);
    }
    if let Some(custom) = customs.get(&(group.to_owned(), kind.to_owned())) {
        return custom.resource_type(version);
    }
    ResourceType {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural(kind),
        singular: kind.to_lowercase(),
        kind: kind.to_owned(),
        namespaced: in_namespaces,
        ..ResourceType::default()
    }
}

/// Every built-in type that can be listed.
pub(super) fn built_in() -> impl Iterator<Item = ResourceType> {
    BUILT_IN.iter().map(|known| known.resource_type(known.version))
}

/// Types of the server's own admission, and the minor version of the first 1.x that serves them by default
/// (`kubernetes/kubernetes:pkg/controlplane/instance.go` DefaultAPIResourceConfigSource).
pub(super) const ADDED: [(&str, &str, u32); 4] = [
    ("admissionregistration.k8s.io", "validatingadmissionpolicies", 30),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        30,
    ),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies", 36),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
        36,
    ),
];

/// The plural, guessed as in `kubernetes/apimachinery:pkg/api/meta/restmapper.go` UnsafeGuessKindToResource. It has no
/// rule for `x` or `ch`, because it must be wrong where kubectl is wrong.
fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        return singular;
    }
    if let Some(stem) = singular.strip_suffix('y') {
        return format!("{stem}ies");
    }
    let ending = if singular.ends_with('s') { "es" } else { "s" };
    singular + ending
}

/// One built-in type.
struct Known {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    namespaced: bool,
    category: &'static str,
}

impl Known {
    fn resource_type(&self, version: &str) -> ResourceType {
        ResourceType {
            group: self.group.to_owned(),
            version: version.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_lowercase(),
            kind: self.kind.to_owned(),
            namespaced: self.namespaced,
            short_names: self.short_names.iter().map(|&name| name.to_owned()).collect(),
            categories: Some(self.category.to_owned())
                .filter(|category| !category.is_empty())
                .into_iter()
                .collect(),
            other_versions: Vec::new(),
        }
    }
}

const NAMESPACED: bool = true;
const CLUSTER: bool = false;

const fn ty(
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    namespaced: bool,
    category: &'static str,
) -> Known {
    Known {
        group,
        version,
        plural,
        kind,
        short_names,
        namespaced,
        category,
    }
}

/// The output of `kubectl api-resources -o wide` of 1.36, without types that cannot be listed. It has the server's
/// order, so that an ambiguous name means the same as to kubectl. At the end are kinds that old dumps have under groups
/// that no longer exist.
#[rustfmt::skip]
const BUILT_IN: &[Known] = &[
    ty("", "v1", "componentstatuses", "ComponentStatus", &["cs"], CLUSTER, ""),
    ty("", "v1", "configmaps", "ConfigMap", &["cm"], NAMESPACED, ""),
    ty("", "v1", "endpoints", "Endpoints", &["ep"], NAMESPACED, ""),
    ty("", "v1", "events", "Event", &["ev"], NAMESPACED, ""),
    ty("", "v1", "limitranges", "LimitRange", &["limits"], NAMESPACED, ""),
    ty("", "v1", "namespaces", "Namespace", &["ns"], CLUSTER, ""),
    ty("", "v1", "nodes", "Node", &["no"], CLUSTER, ""),
    ty("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", &["pvc"], NAMESPACED, ""),
    ty("", "v1", "persistentvolumes", "PersistentVolume", &["pv"], CLUSTER, ""),
    ty("", "v1", "pods", "Pod", &["po"], NAMESPACED, "all"),
    ty("", "v1", "podtemplates", "PodTemplate", &[], NAMESPACED, ""),
    ty("", "v1", "replicationcontrollers", "ReplicationController", &["rc"], NAMESPACED, "all"),
    ty("", "v1", "resourcequotas", "ResourceQuota", &["quota"], NAMESPACED, ""),
    ty("", "v1", "secrets", "Secret", &[], NAMESPACED, ""),
    ty("", "v1", "serviceaccounts", "ServiceAccount", &["sa"], NAMESPACED, ""),
    ty("", "v1", "services", "Service", &["svc"], NAMESPACED, "all"),
    ty("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", &[], CLUSTER, "api-extensions"),
    ty("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", &[], CLUSTER, "api-extensions"),
    ty("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", &[], CLUSTER, "api-extensions"),
    ty("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", &[], CLUSTER, "api-extensions"),
    ty("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", &[], CLUSTER, "api-extensions"),
    ty("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", &[], CLUSTER, "api-extensions"),
    ty("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", &["crd", "crds"], CLUSTER, "api-extensions"),
    ty("apiregistration.k8s.io", "v1", "apiservices", "APIService", &[], CLUSTER, "api-extensions"),
    ty("apps", "v1", "controllerrevisions", "ControllerRevision", &[], NAMESPACED, ""),
    ty("apps", "v1", "daemonsets", "DaemonSet", &["ds"], NAMESPACED, "all"),
    ty("apps", "v1", "deployments", "Deployment", &["deploy"], NAMESPACED, "all"),
    ty("apps", "v1", "replicasets", "ReplicaSet", &["rs"], NAMESPACED, "all"),
    ty("apps", "v1", "statefulsets", "StatefulSet", &["sts"], NAMESPACED, "all"),
    ty("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", &["hpa"], NAMESPACED, "all"),
    ty("batch", "v1", "cronjobs", "CronJob", &["cj"], NAMESPACED, "all"),
    ty("batch", "v1", "jobs", "Job", &[], NAMESPACED, "all"),
    ty("certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", &["csr"], CLUSTER, ""),
    ty("coordination.k8s.io", "v1", "leases", "Lease", &[], NAMESPACED, ""),
    ty("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", &[], NAMESPACED, ""),
    ty("events.k8s.io", "v1", "events", "Event", &["ev"], NAMESPACED, ""),
    ty("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", &[], CLUSTER, ""),
    ty("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", &[], CLUSTER, ""),
    ty("networking.k8s.io", "v1", "ingressclasses", "IngressClass", &[], CLUSTER, ""),
    ty("networking.k8s.io", "v1", "ingresses", "Ingress", &["ing"], NAMESPACED, ""),
    ty("networking.k8s.io", "v1", "ipaddresses", "IPAddress", &["ip"], CLUSTER, ""),
    ty("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", &["netpol"], NAMESPACED, ""),
    ty("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", &[], CLUSTER, ""),
    ty("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", &[], CLUSTER, ""),
    ty("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", &["pdb"], NAMESPACED, ""),
    ty("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", &[], CLUSTER, ""),
    ty("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", &[], CLUSTER, ""),
    ty("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", &[], NAMESPACED, ""),
    ty("rbac.authorization.k8s.io", "v1", "roles", "Role", &[], NAMESPACED, ""),
    ty("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", &[], CLUSTER, ""),
    ty("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", &[], NAMESPACED, ""),
    ty("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", &[], NAMESPACED, ""),
    ty("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", &[], CLUSTER, ""),
    ty("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", &["pc"], CLUSTER, ""),
    ty("storage.k8s.io", "v1", "csidrivers", "CSIDriver", &[], CLUSTER, ""),
    ty("storage.k8s.io", "v1", "csinodes", "CSINode", &[], CLUSTER, ""),
    ty("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", &[], NAMESPACED, ""),
    ty("storage.k8s.io", "v1", "storageclasses", "StorageClass", &["sc"], CLUSTER, ""),
    ty("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", &[], CLUSTER, ""),
    ty("storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", &["vac"], CLUSTER, ""),
    ty("extensions", "v1beta1", "ingresses", "Ingress", &["ing"], NAMESPACED, ""),
    ty("extensions", "v1beta1", "daemonsets", "DaemonSet", &["ds"], NAMESPACED, ""),
    ty("extensions", "v1beta1", "deployments", "Deployment", &["deploy"], NAMESPACED, ""),
    ty("extensions", "v1beta1", "replicasets", "ReplicaSet", &["rs"], NAMESPACED, ""),
    ty("policy", "v1beta1", "podsecuritypolicies", "PodSecurityPolicy", &["psp"], CLUSTER, ""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::is_custom_group;

    #[test]
    fn the_table_corrects_what_the_guess_gets_wrong() {
        let plural = |api_version, kind| resource_type(api_version, kind, &Customs::new(), true).name();
        assert_eq!(plural("v1", "Endpoints"), "endpoints");
        assert_eq!(
            plural("networking.k8s.io/v1", "IngressClass"),
            "ingressclasses.networking.k8s.io"
        );
        assert_eq!(
            plural("gateway.networking.k8s.io/v1", "Gateway"),
            "gatewaies.gateway.networking.k8s.io"
        );
        assert_eq!(plural("example.org/v1", "Bus"), "buses.example.org");
        assert_eq!(plural("example.org/v1", "Thing"), "things.example.org");
        assert!(!resource_type("v1", "Node", &Customs::new(), true).namespaced);
    }

    #[test]
    fn built_in_types_have_no_custom_group() {
        for known in BUILT_IN {
            assert!(!is_custom_group(known.group), "{}", known.group);
        }
    }

    #[test]
    fn a_definition_wins_over_the_guess() {
        let customs = Customs::from([(
            ("example.org".to_owned(), "Gateway".to_owned()),
            Custom {
                group: "example.org".into(),
                scope: "Cluster".into(),
                names: Names {
                    plural: "gateways".into(),
                    kind: "Gateway".into(),
                    ..Names::default()
                },
            },
        )]);
        let ty = resource_type("example.org/v2", "Gateway", &customs, true);
        assert_eq!(
            (ty.name().as_str(), ty.version.as_str()),
            ("gateways.example.org", "v2")
        );
        assert!(!ty.namespaced);
    }

    #[test]
    fn every_needed_type_is_built_in() {
        for (group, plural) in NEEDED {
            assert!(built_in().any(|ty| ty.is(group, plural)), "{plural}");
        }
        for (group, plural, _) in ADDED {
            assert!(built_in().any(|ty| ty.is(group, plural)), "{plural}");
        }
    }
}
