//! A PersistentVolume.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::kinds::read::{list, some_text, texts},
    snapshot::facts::Object,
};

/// A PersistentVolume.
#[derive(Clone, Copy)]
pub(crate) struct PersistentVolume<'a>(pub(crate) &'a Object);

impl<'a> PersistentVolume<'a> {
    /// Its phase.
    pub(crate) fn phase(self) -> &'a str {
        self.0.text("/status/phase")
    }

    /// Since when it is in its phase.
    pub(crate) fn in_phase_since(self) -> Option<Timestamp> {
        self.0.time("/status/lastPhaseTransitionTime")
    }

    /// Why it is in its phase.
    pub(crate) fn message(self) -> &'a str {
        self.0.text("/status/message")
    }

    /// What becomes of the disk when the claim is gone: `Delete`, `Retain` or `Recycle`.
    pub(crate) fn reclaim_policy(self) -> &'a str {
        self.0.text("/spec/persistentVolumeReclaimPolicy")
    }

    /// The namespace of the claim that it is kept for.
    pub(crate) fn claim_namespace(self) -> &'a str {
        self.0.text("/spec/claimRef/namespace")
    }

    /// The name of the claim that it is kept for; empty if there is none.
    pub(crate) fn claim_name(self) -> &'a str {
        self.0.text("/spec/claimRef/name")
    }

    /// The uid of the claim that it is bound to; empty before.
    pub(crate) fn claim_uid(self) -> &'a str {
        self.0.text("/spec/claimRef/uid")
    }

    /// The driver of a CSI volume; empty for other volumes.
    pub(crate) fn csi_driver(self) -> &'a str {
        self.0.text("/spec/csi/driver")
    }

    /// The name that the driver of a CSI volume gave the disk.
    pub(crate) fn disk(self) -> &'a str {
        self.0.text("/spec/csi/volumeHandle")
    }

    /// The directory of a hostPath volume; empty for other volumes.
    pub(crate) fn host_path(self) -> &'a str {
        self.0.text("/spec/hostPath/path")
    }

    /// Whether its disk is of this type, such as `nfs`.
    pub(crate) fn is_of_type(self, source: &str) -> bool {
        let spec = self.0.value.get("spec");
        spec.and_then(|spec| spec.get(source))
            .is_some_and(Value::is_object)
    }

    /// Its capacity.
    pub(crate) fn capacity(self) -> &'a str {
        self.0.text("/spec/capacity/storage")
    }

    /// The VolumeAttributesClass that it has; empty for none.
    pub(crate) fn attributes_class(self) -> &'a str {
        self.0.text("/spec/volumeAttributesClassName")
    }

    /// The terms of which a node must meet one to reach it; none if every node may.
    pub(crate) fn node_terms(self) -> impl Iterator<Item = NodeTerm<'a>> {
        let terms = list(&self.0.value, "/spec/nodeAffinity/required/nodeSelectorTerms");
        terms.iter().map(NodeTerm)
    }
}

/// A term that a node meets if it meets all its requirements.
#[derive(Clone, Copy)]
pub(crate) struct NodeTerm<'a>(&'a Value);

impl<'a> NodeTerm<'a> {
    /// The requirements on the labels of the node.
    pub(crate) fn of_labels(self) -> impl Iterator<Item = NodeRequirement<'a>> {
        list(self.0, "/matchExpressions").iter().map(NodeRequirement)
    }

    /// The requirements on the fields of the node.
    pub(crate) fn of_fields(self) -> impl Iterator<Item = NodeRequirement<'a>> {
        list(self.0, "/matchFields").iter().map(NodeRequirement)
    }
}

/// What a term requires of one label or field of a node.
#[derive(Clone, Copy)]
pub(crate) struct NodeRequirement<'a>(&'a Value);

impl<'a> NodeRequirement<'a> {
    /// The label or field.
    pub(crate) fn key(self) -> Option<&'a str> {
        some_text(self.0, "/key")
    }

    /// How it is compared with the values, such as `In`.
    pub(crate) fn operator(self) -> Option<&'a str> {
        some_text(self.0, "/operator")
    }

    /// The values.
    pub(crate) fn values(self) -> impl Iterator<Item = &'a str> {
        texts(self.0, "/values")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::core::v1 as core,
        apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::Time},
    };

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn volumes() {
        let since: Timestamp = "2026-01-01T10:00:00Z".parse().expect("a time");
        let term = core::NodeSelectorTerm {
            match_fields: Some(vec![core::NodeSelectorRequirement {
                key: "metadata.name".into(),
                operator: "In".into(),
                values: Some(vec!["node-1".into()]),
            }]),
            match_expressions: Some(vec![core::NodeSelectorRequirement {
                key: "zone".into(),
                operator: "Exists".into(),
                ..Default::default()
            }]),
        };
        let volume = core::PersistentVolume {
            spec: Some(core::PersistentVolumeSpec {
                persistent_volume_reclaim_policy: Some("Retain".into()),
                capacity: Some([("storage".to_owned(), Quantity("1Gi".into()))].into()),
                claim_ref: Some(core::ObjectReference {
                    namespace: Some("shop".into()),
                    name: Some("data".into()),
                    uid: Some("u-1".into()),
                    ..Default::default()
                }),
                csi: Some(core::CSIPersistentVolumeSource {
                    driver: "d.example".into(),
                    volume_handle: "vol-1".into(),
                    ..Default::default()
                }),
                host_path: Some(core::HostPathVolumeSource {
                    path: "/tmp/disk".into(),
                    ..Default::default()
                }),
                node_affinity: Some(core::VolumeNodeAffinity {
                    required: Some(core::NodeSelector {
                        node_selector_terms: vec![term],
                    }),
                }),
                volume_attributes_class_name: Some("gold".into()),
                ..Default::default()
            }),
            status: Some(core::PersistentVolumeStatus {
                phase: Some("Failed".into()),
                message: Some("no such disk".into()),
                last_phase_transition_time: Some(Time(since)),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(volume => PersistentVolume;
            |volume| volume.phase() => "Failed", absent "";
            |volume| volume.in_phase_since() => Some(since), absent None::<()>;
            |volume| volume.message() => "no such disk", absent "";
            |volume| volume.reclaim_policy() => "Retain", absent "";
            |volume| volume.claim_namespace() => "shop", absent "";
            |volume| volume.claim_name() => "data", absent "";
            |volume| volume.claim_uid() => "u-1", absent "";
            |volume| volume.csi_driver() => "d.example", absent "";
            |volume| volume.disk() => "vol-1", absent "";
            |volume| volume.host_path() => "/tmp/disk", absent "";
            |volume| volume.capacity() => "1Gi", absent "";
            |volume| volume.attributes_class() => "gold", absent "";
        );
        reads!(volume => |object| PersistentVolume(object).node_terms().next().and_then(|term| term.of_labels().next());
            |one| one.and_then(NodeRequirement::key) => Some("zone"), absent None::<()>;
        );
        reads!(volume => |object| PersistentVolume(object).node_terms().next().and_then(|term| term.of_fields().next());
            |one| one.and_then(NodeRequirement::key) => Some("metadata.name"), absent None::<()>;
            |one| one.and_then(NodeRequirement::operator) => Some("In"), absent None::<()>;
            |one| one.and_then(|one| one.values().next()) => Some("node-1"), absent None::<()>;
        );
    }
}
