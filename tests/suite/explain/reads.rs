//! What the plugin may read, and why. The audit log of a run is checked against this list.

use serde_json::Value;

use crate::harness::Asked;

/// Types that are read as whole objects. A cause that reads another type adds it here with its reason.
const LOOKED_AT: &[(&str, &str)] = &[
    (
        "apiservices.apiregistration.k8s.io",
        "why an API group does not answer, which stops every namespace",
    ),
    (
        "namespaces",
        "its finalizers and conditions; whether it exists for what is left in it",
    ),
    ("pods", "who uses a claim; how far a pod's own end is"),
    ("nodes", "whether a kubelet can confirm that a pod has stopped"),
    ("events", "what a driver or a kubelet complains of"),
    ("leases.coordination.k8s.io", "whether a holder is alive"),
    ("persistentvolumes", "what becomes of the data"),
    (
        "persistentvolumeclaims",
        "what holds a volume; what is made from a claim",
    ),
    ("replicasets.apps", "whether a Deployment makes the pods"),
    ("statefulsets.apps", "whether scaling down deletes claims"),
    ("jobs.batch", "whether a pod is still to be counted"),
    ("cronjobs.batch", "whose pods need a class or a driver"),
    ("volumeattachments.storage.k8s.io", "whether a disk is attached"),
    ("csidrivers.storage.k8s.io", "whether a driver is installed"),
    ("csinodes.storage.k8s.io", "whether a driver runs on any node"),
    (
        "resourceclaims.resource.k8s.io",
        "which drivers a pod has devices of",
    ),
    (
        "resourceslices.resource.k8s.io",
        "whether the driver of a device runs on the node",
    ),
    (
        "volumesnapshots.snapshot.storage.k8s.io",
        "what is made from a claim; what holds a content",
    ),
    (
        "volumesnapshotcontents.snapshot.storage.k8s.io",
        "what holds a snapshot",
    ),
    (
        "volumesnapshotclasses.snapshot.storage.k8s.io",
        "whose snapshot it is, once its content is gone",
    ),
    (
        "volumegroupsnapshots.groupsnapshot.storage.k8s.io",
        "what holds a snapshot of a group",
    ),
    (
        "customresourcedefinitions.apiextensions.k8s.io",
        "its conditions; who installed the type of an object",
    ),
    ("services", "whether a webhook can be called"),
    ("deployments.apps", "whether a holder runs"),
    ("daemonsets.apps", "whether a holder runs"),
    (
        "serviceaccounts",
        "whether the account of a holder is there, and what an operator acts as",
    ),
    (
        "clusterroles.rbac.authorization.k8s.io",
        "who may remove a finalizer",
    ),
    (
        "clusterrolebindings.rbac.authorization.k8s.io",
        "who may remove a finalizer",
    ),
    ("roles.rbac.authorization.k8s.io", "who may remove a finalizer"),
    (
        "rolebindings.rbac.authorization.k8s.io",
        "who may remove a finalizer",
    ),
    (
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "whose webhook refuses",
    ),
    (
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "whose webhook refuses",
    ),
    (
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "which policy refuses",
    ),
    (
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "whom a policy covers",
    ),
    (
        "servicecidrs.networking.k8s.io",
        "whether a range of addresses lies in another one",
    ),
    (
        "ipaddresses.networking.k8s.io",
        "which addresses of a range are given out",
    ),
    ("applications.argoproj.io", "which Applications name a project"),
    (
        "appprojects.argoproj.io",
        "whether an Application's project is there",
    ),
    (
        "providerconfigusages.gcp.upbound.io",
        "which resources use credentials",
    ),
    (
        "releases.helm.crossplane.io",
        "whether who uses a resource is there",
    ),
    (
        "clusterdeployments.hive.openshift.io",
        "which clusters a pool has",
    ),
    ("cephblockpools.ceph.rook.io", "whether a Ceph cluster has pools"),
    ("nodeclaims.karpenter.sh", "which machine a node is"),
    (
        "poddisruptionbudgets.policy",
        "whether a pod of a node that is drained may be evicted",
    ),
    (
        "clusters.cluster.x-k8s.io",
        "whether all that is of a Cluster is paused",
    ),
    ("machines.cluster.x-k8s.io", "which machines a cluster has"),
    (
        "awsmachines.infrastructure.cluster.x-k8s.io",
        "what a machine is at its provider",
    ),
    ("ingresses.networking.k8s.io", "who shares a load balancer"),
    (
        "subscriptions.operators.coreos.com",
        "whether OLM is to install an operator that is gone",
    ),
    (
        "catalogsources.operators.coreos.com",
        "whether OLM can install an operator",
    ),
    (
        "clusterserviceversions.operators.coreos.com",
        "whether an operator is installed that is said to be",
    ),
    (
        "settings.longhorn.io",
        "whether anybody confirmed that its storage may go",
    ),
    (
        "manifestworks.work.open-cluster-management.io",
        "what is deployed to a managed cluster",
    ),
    (
        "endpointslices.discovery.k8s.io",
        "whether a webhook's Service has anybody behind it",
    ),
];

/// Types whose content is confidential.
const CONFIDENTIAL: &[&str] = &["secrets", "configmaps"];

/// The dependents of an owner can be of any type.
const OWNERS: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Fails unless every request of an explanation only reads, and reads only what it may. Types outside the list
/// are allowed for the content of a namespace or definition, for dependents, for objects that wait for a controller, and
/// within the domain of the target, because objects of one product name each other.
#[track_caller]
pub fn only_what_it_may(asked: &[Asked], explanation: &Value) {
    let target = &explanation["target"]["resource"];
    let has_content = [
        "namespaces",
        "customresourcedefinitions.apiextensions.k8s.io",
        "deployments.apps",
        "statefulsets.apps",
        "daemonsets.apps",
    ];
    let waits = explanation["waitsFor"].as_array().into_iter().flatten();
    let mut finalizers = waits.map(|wait| &wait["finalizer"]["name"]);
    let any = has_content.iter().any(|type_name| target == type_name)
        || finalizers.any(|name| OWNERS.iter().any(|owner| name == owner));
    for one in asked {
        reads(one);
        // Confidential objects are read as metadata only, for example to see whether an owner or a referenced
        // Secret exists.
        let known = any
            || one.type_name.is_empty()
            || target == &one.type_name
            || CONFIDENTIAL.contains(&one.type_name.as_str())
            || is_of_one_domain(target.as_str().unwrap_or_default(), &one.type_name)
            || is_looked_at(&one.type_name);
        assert!(
            known,
            "{} is not in the list of what may be read: {:#}",
            one.type_name, one.event
        );
    }
}

/// Whether the groups of two custom types are the same, or one is below the other.
fn is_of_one_domain(target: &str, other: &str) -> bool {
    let group = |name: &str| {
        name.split_once('.')
            .map(|(_, group)| group.to_owned())
            .unwrap_or_default()
    };
    let (target, other) = (group(target), group(other));
    let is_below = |one: &str, other: &str| one == other || one.ends_with(&format!(".{other}"));
    // Groups of one product stand beside each other: `addon.example.io` and `work.example.io`. Those of Kubernetes do not.
    let product = |group: &str| {
        let (_, above) = group.split_once('.')?;
        (above.contains('.') && !above.ends_with("k8s.io")).then(|| above.to_owned())
    };
    let are_beside = product(&target).is_some_and(|above| product(&other) == Some(above));
    target.contains('.')
        && other.contains('.')
        && (is_below(&target, &other) || is_below(&other, &target) || are_beside)
}

/// Whether objects of this type may be read whole.
pub fn is_looked_at(type_name: &str) -> bool {
    LOOKED_AT.iter().any(|(known, _)| *known == type_name)
}

/// Fails unless a request only reads, reads no subresource, and reads only metadata of confidential types.
#[track_caller]
pub fn reads(asked: &Asked) {
    let Asked {
        verb,
        type_name,
        event,
    } = asked;
    let what = &event["objectRef"];
    let fine = match verb.as_str() {
        "get" if type_name.is_empty() => is_discovery(event["requestURI"].as_str().unwrap_or_default()),
        "get" => what["name"].is_string(),
        // In the audit log, a list by name has that name.
        "list" => what["name"].is_null() || is_by_name(event["requestURI"].as_str().unwrap_or_default()),
        _ => false,
    };
    assert!(fine && what["subresource"].is_null(), "{event:#}");
    if CONFIDENTIAL.contains(&type_name.as_str()) && event["responseStatus"]["code"] == 200 {
        let sent = &event["responseObject"];
        let kind = sent["kind"].as_str().unwrap_or_default();
        assert!(kind.starts_with("PartialObjectMetadata"), "{event:#}");
        assert!(
            sent.get("data").is_none() && !sent["items"].to_string().contains("\"data\""),
            "{event:#}"
        );
    }
}

fn is_by_name(uri: &str) -> bool {
    uri.contains("fieldSelector=metadata.name%3D")
}

/// `/api`, `/apis`, the types of one version of a group, and the version of the server.
fn is_discovery(path: &str) -> bool {
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    matches!(
        parts.as_slice(),
        ["api" | "apis" | "version"] | ["api", _] | ["apis", _, _]
    )
}
