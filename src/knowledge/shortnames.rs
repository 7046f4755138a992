//! Kinds with short names, as in `kubectl get`.
//!
//! A server would know these, but the catalogue works without one. The table has only types of nearly every
//! cluster. For all others, the kind or plural is compared.

use super::schema::GroupKind;

/// Short name or plural, kind, group.
const TYPES: &[(&[&str], &str, &str)] = &[
    (&["po", "pods"], "Pod", ""),
    (&["svc", "services"], "Service", ""),
    (&["ns", "namespaces"], "Namespace", ""),
    (&["no", "nodes"], "Node", ""),
    (&["pv", "persistentvolumes"], "PersistentVolume", ""),
    (&["pvc", "persistentvolumeclaims"], "PersistentVolumeClaim", ""),
    (&["cm", "configmaps"], "ConfigMap", ""),
    (&["secrets"], "Secret", ""),
    (&["sa", "serviceaccounts"], "ServiceAccount", ""),
    (&["deploy", "deployments"], "Deployment", "apps"),
    (&["ds", "daemonsets"], "DaemonSet", "apps"),
    (&["sts", "statefulsets"], "StatefulSet", "apps"),
    (&["rs", "replicasets"], "ReplicaSet", "apps"),
    (&["jobs"], "Job", "batch"),
    (&["cj", "cronjobs"], "CronJob", "batch"),
    (&["ing", "ingresses"], "Ingress", "networking.k8s.io"),
    (
        &["netpol", "networkpolicies"],
        "NetworkPolicy",
        "networking.k8s.io",
    ),
    (&["ingressclasses"], "IngressClass", "networking.k8s.io"),
    (&["ip", "ipaddresses"], "IPAddress", "networking.k8s.io"),
    (&["servicecidrs"], "ServiceCIDR", "networking.k8s.io"),
    (&["sc", "storageclasses"], "StorageClass", "storage.k8s.io"),
    (&["volumeattachments"], "VolumeAttachment", "storage.k8s.io"),
    (
        &["vac", "volumeattributesclasses"],
        "VolumeAttributesClass",
        "storage.k8s.io",
    ),
    (
        &["crd", "crds", "customresourcedefinitions"],
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
    ),
    (
        &["vs", "volumesnapshots"],
        "VolumeSnapshot",
        "snapshot.storage.k8s.io",
    ),
    (
        &["vsc", "volumesnapshotcontents"],
        "VolumeSnapshotContent",
        "snapshot.storage.k8s.io",
    ),
    (&["roles"], "Role", "rbac.authorization.k8s.io"),
    (&["rolebindings"], "RoleBinding", "rbac.authorization.k8s.io"),
    (&["clusterroles"], "ClusterRole", "rbac.authorization.k8s.io"),
    (
        &["clusterrolebindings"],
        "ClusterRoleBinding",
        "rbac.authorization.k8s.io",
    ),
    (&["resourceclaims"], "ResourceClaim", "resource.k8s.io"),
];

/// The kind of a short name, plural or kind of a built-in Kubernetes type.
pub(super) fn well_known(word: &str) -> Option<GroupKind<'static>> {
    let called = |names: &[&str], kind: &str| {
        kind.eq_ignore_ascii_case(word) || names.iter().any(|name| name.eq_ignore_ascii_case(word))
    };
    TYPES
        .iter()
        .find(|(names, kind, _)| called(names, kind))
        .map(|&(_, kind, group)| GroupKind { group, kind })
}

/// All these names.
pub(super) fn known_types<'a>() -> impl Iterator<Item = &'a str> {
    TYPES
        .iter()
        .flat_map(|(names, _, _)| names.iter().map(|name| -> &'a str { name }))
}
