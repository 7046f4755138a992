//! A PersistentVolumeClaim.

use crate::snapshot::facts::Object;

/// A PersistentVolumeClaim.
#[derive(Clone, Copy)]
pub(crate) struct PersistentVolumeClaim<'a>(pub(crate) &'a Object);

impl<'a> PersistentVolumeClaim<'a> {
    /// Its phase.
    pub(crate) fn phase(self) -> &'a str {
        self.0.text("/status/phase")
    }

    /// The volume that it is bound to, or asks for; empty if there is none.
    pub(crate) fn volume(self) -> &'a str {
        self.0.text("/spec/volumeName")
    }

    /// The capacity of its volume.
    pub(crate) fn capacity(self) -> &'a str {
        self.0.text("/status/capacity/storage")
    }

    /// The object of its namespace that its volume is filled from: kind and name.
    pub(crate) fn data_source(self) -> (&'a str, &'a str) {
        (
            self.0.text("/spec/dataSource/kind"),
            self.0.text("/spec/dataSource/name"),
        )
    }

    /// The VolumeAttributesClasses that it asks for, that its volume has, and that its volume is being given; empty for none.
    pub(crate) fn attributes_classes(self) -> [&'a str; 3] {
        [
            self.0.text("/spec/volumeAttributesClassName"),
            self.0.text("/status/currentVolumeAttributesClassName"),
            self.0
                .text("/status/modifyVolumeStatus/targetVolumeAttributesClassName"),
        ]
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::core::v1 as core, apimachinery::pkg::api::resource::Quantity};

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn claims() {
        let claim = core::PersistentVolumeClaim {
            spec: Some(core::PersistentVolumeClaimSpec {
                volume_name: Some("pv-1".into()),
                volume_attributes_class_name: Some("gold".into()),
                data_source: Some(core::TypedLocalObjectReference {
                    kind: "VolumeSnapshot".into(),
                    name: "before".into(),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            status: Some(core::PersistentVolumeClaimStatus {
                phase: Some("Bound".into()),
                capacity: Some([("storage".to_owned(), Quantity("1Gi".into()))].into()),
                current_volume_attributes_class_name: Some("silver".into()),
                modify_volume_status: Some(core::ModifyVolumeStatus {
                    target_volume_attributes_class_name: Some("iron".into()),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(claim => PersistentVolumeClaim;
            |claim| claim.phase() => "Bound", absent "";
            |claim| claim.volume() => "pv-1", absent "";
            |claim| claim.capacity() => "1Gi", absent "";
            |claim| claim.data_source() => ("VolumeSnapshot", "before"), absent ("", "");
            |claim| claim.attributes_classes() => ["gold", "silver", "iron"], absent ["", "", ""];
        );
    }
}
