//! Which rule is for which finalizer, on objects of which type.

use super::{
    attachment, claim, crd, detach, device, job_tracking, reclaim, service_range, snapshot, snapshot_content,
    sources, vac, volume,
};
use crate::{
    diagnose::{model::Finding, view::View},
    object::{Finalizer, join_group},
    snapshot::facts::Object,
};

/// One that ends in `/` stands for all that begin so.
fn matches(pattern: &str, name: &str) -> bool {
    pattern == name || pattern.ends_with('/') && name.starts_with(pattern)
}

/// A finalizer on objects of one type, and who knows about it.
pub(super) struct Rule {
    group: &'static str,
    plural: &'static str,
    finalizer: &'static str,
    /// Says what it waits for.
    pub(super) look: fn(&Object, &Finalizer, &View<'_>) -> Finding,
}

const RULES: &[Rule] = &[
    Rule {
        group: "",
        plural: "persistentvolumeclaims",
        finalizer: "kubernetes.io/pvc-protection",
        look: claim::in_use,
    },
    Rule {
        group: "",
        plural: "persistentvolumes",
        finalizer: "kubernetes.io/pv-protection",
        look: volume::bound,
    },
    Rule {
        group: "",
        plural: "persistentvolumes",
        finalizer: "external-provisioner.volume.kubernetes.io/finalizer",
        look: reclaim::by_provisioner,
    },
    Rule {
        group: "",
        plural: "persistentvolumes",
        finalizer: "kubernetes.io/pv-controller",
        look: reclaim::in_tree,
    },
    Rule {
        group: "",
        plural: "persistentvolumes",
        finalizer: "external-attacher/",
        look: attachment::on_volume,
    },
    Rule {
        group: "storage.k8s.io",
        plural: "volumeattributesclasses",
        finalizer: "kubernetes.io/vac-protection",
        look: vac::in_use,
    },
    Rule {
        group: "storage.k8s.io",
        plural: "volumeattachments",
        finalizer: "external-attacher/",
        look: detach::on_attachment,
    },
    Rule {
        group: "",
        plural: "persistentvolumeclaims",
        finalizer: "snapshot.storage.kubernetes.io/pvc-as-source-protection",
        look: sources::of_snapshot,
    },
    Rule {
        group: "",
        plural: "persistentvolumeclaims",
        finalizer: "provisioner.storage.kubernetes.io/cloning-protection",
        look: sources::of_clone,
    },
    Rule {
        group: "snapshot.storage.k8s.io",
        plural: "volumesnapshots",
        finalizer: "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
        look: sources::of_restore,
    },
    Rule {
        group: "snapshot.storage.k8s.io",
        plural: "volumesnapshots",
        finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
        look: snapshot::as_source,
    },
    Rule {
        group: "snapshot.storage.k8s.io",
        plural: "volumesnapshots",
        finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection",
        look: snapshot::bound,
    },
    Rule {
        group: "snapshot.storage.k8s.io",
        plural: "volumesnapshotcontents",
        finalizer: "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection",
        look: snapshot_content::bound,
    },
    Rule {
        group: "",
        plural: "pods",
        finalizer: "batch.kubernetes.io/job-tracking",
        look: job_tracking::look,
    },
    Rule {
        group: "resource.k8s.io",
        plural: "resourceclaims",
        finalizer: "resource.kubernetes.io/delete-protection",
        look: device::reserved,
    },
    Rule {
        group: "networking.k8s.io",
        plural: "servicecidrs",
        finalizer: "networking.k8s.io/service-cidr-finalizer",
        look: service_range::in_use,
    },
    Rule {
        group: "apiextensions.k8s.io",
        plural: "customresourcedefinitions",
        finalizer: "customresourcecleanup.apiextensions.k8s.io",
        look: crd::instances,
    },
];

/// The rule for a finalizer on this object.
pub(super) fn rule(object: &Object, finalizer: &Finalizer) -> Option<&'static Rule> {
    RULES
        .iter()
        .find(|rule| object.is(rule.group, rule.plural) && matches(rule.finalizer, &finalizer.name))
}

/// Whether there is a rule for objects of this type (`plural.group`).
pub(super) fn is_for(type_name: &str) -> bool {
    RULES
        .iter()
        .any(|rule| join_group(rule.plural, rule.group) == type_name)
}
