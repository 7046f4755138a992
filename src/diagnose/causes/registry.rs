//! All causes that explain a finalizer on objects of one type. A new cause is a file and a line here.

use super::{api_machinery, cause::Cause, network, pods, storage};
use crate::{object::Finalizer, snapshot::facts::Object};

const CAUSES: &[Cause] = &[
    storage::pvc_protection::CAUSE,
    storage::pv_protection::CAUSE,
    storage::pv_reclaim::BY_PROVISIONER,
    storage::pv_reclaim::IN_TREE,
    storage::pv_attacher::CAUSE,
    storage::volume_attributes_class::CAUSE,
    storage::volume_attachment_detach::CAUSE,
    storage::source_protection::SNAPSHOT_SOURCE,
    storage::source_protection::CLONE_SOURCE,
    storage::source_protection::RESTORE_SOURCE,
    storage::volume_snapshot::AS_SOURCE,
    storage::volume_snapshot::BOUND,
    storage::volume_snapshot_content::CAUSE,
    pods::job_tracking::CAUSE,
    pods::resource_claim::CAUSE,
    network::service_cidr::CAUSE,
    api_machinery::crd_instances::CAUSE,
];

/// The cause that explains a finalizer on this object.
pub(crate) fn cause(object: &Object, finalizer: &Finalizer) -> Option<&'static Cause> {
    CAUSES.iter().find(|cause| cause.explains(object, finalizer))
}

/// Whether a cause is about objects of this type (`plural.group`).
pub(crate) fn is_for(type_name: &str) -> bool {
    CAUSES.iter().any(|cause| cause.is_for(type_name))
}
