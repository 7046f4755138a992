//! Typed views of objects whose kind is known, one file a kind.
//!
//! A view borrows an object and answers questions about it, each named after its answer. So the path of a field stands
//! once, here. A misspelt path would compile and read as "absent". The tests therefore build each object with the types
//! of Kubernetes itself, and ask every question. A field that is missing, or has another JSON type, is absent: an empty
//! text, an empty list or `None`.
//!
//! The kinds of Kubernetes and of its CSI sidecars are here, and what objects of every kind have, such as conditions.
//! Fields of other kinds stay where they are read: the paths come from the catalogue, or one cause alone knows the
//! product. A place that a JSON patch names is a field too, so its view names it.

mod admission_policy;
mod api_service;
mod condition;
mod csi;
mod custom_resource_definition;
mod event;
mod job;
mod lease;
mod managed_fields;
mod matcher;
mod node;
mod owner_reference;
mod persistent_volume;
mod persistent_volume_claim;
mod phase;
mod pod;
mod pod_disruption_budget;
mod pod_spec;
pub(crate) mod quantity;
mod rbac;
mod read;
mod resource_claim;
mod service;
mod service_cidr;
mod service_reference;
mod storage_class;
#[cfg(test)]
mod testing;
mod volume;
mod volume_attachment;
mod volume_snapshot;
mod webhook_configuration;
mod workload;

pub(crate) use admission_policy::{AdmissionPolicy, ParameterReference, PolicyBinding};
pub(crate) use api_service::ApiService;
pub(crate) use condition::Condition;
pub(crate) use csi::{CsiDriver, CsiNode};
pub(crate) use custom_resource_definition::{CustomResourceDefinition, CustomVersion};
pub(crate) use event::Event;
pub(crate) use job::Job;
pub(crate) use lease::Lease;
pub(crate) use managed_fields::ManagedFields;
pub(crate) use matcher::{AdmissionRule, Matcher};
pub(crate) use node::Node;
pub(crate) use owner_reference::OwnerReference;
pub(crate) use persistent_volume::{NodeRequirement, PersistentVolume};
pub(crate) use persistent_volume_claim::PersistentVolumeClaim;
pub(crate) use phase::{generations, phase};
pub(crate) use pod::{NotReady, Pod};
pub(crate) use pod_disruption_budget::PodDisruptionBudget;
pub(crate) use pod_spec::PodSpec;
pub(crate) use rbac::{Role, RoleBinding, RoleRule, Subject};
pub(crate) use resource_claim::{Consumer, ResourceClaim, ResourceSlice};
pub(crate) use service::{Endpoint, EndpointSlice, Service, ServicePort};
pub(crate) use service_cidr::{IpAddress, ServiceCidr};
pub(crate) use service_reference::ServiceReference;
pub(crate) use storage_class::StorageClass;
pub(crate) use volume::{ClaimTemplate, Volume};
pub(crate) use volume_attachment::VolumeAttachment;
pub(crate) use volume_snapshot::{VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent};
pub(crate) use webhook_configuration::{Webhook, WebhookConfiguration};
pub(crate) use workload::Workload;
