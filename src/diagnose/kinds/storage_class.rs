//! A StorageClass, and the class that claims and volumes name.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// The annotation that names the class in old objects. It precedes the spec
/// (`kubernetes/component-helpers:storage/volume/helpers.go` GetPersistentVolumeClaimClass).
pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// A StorageClass.
#[derive(Clone, Copy)]
pub(crate) struct StorageClass<'a>(pub(crate) &'a Object);

impl<'a> StorageClass<'a> {
    /// The class that a claim or a volume names; empty if it names none.
    pub(crate) fn named_by(object: &'a Object) -> &'a str {
        match object.annotation(BETA_CLASS) {
            "" => object.text("/spec/storageClassName"),
            class => class,
        }
    }

    /// The driver that makes its volumes.
    pub(crate) fn provisioner(self) -> &'a str {
        self.0.text("/provisioner")
    }

    /// Whether its driver gets this parameter.
    pub(crate) fn has_parameter(self, name: &str) -> bool {
        let parameters = self.0.field("/parameters");
        parameters.is_some_and(|all| all.get(name).is_some_and(Value::is_string))
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::{core::v1 as core, storage::v1 as storage},
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn classes() {
        let class = storage::StorageClass {
            provisioner: "d.example".into(),
            parameters: Some([("secret".to_owned(), "s".to_owned())].into()),
            ..Default::default()
        };
        reads!(class => StorageClass;
            |class| class.provisioner() => "d.example", absent "";
            |class| class.has_parameter("secret") => true, absent false;
        );
    }

    #[test]
    fn the_class_that_claims_and_volumes_name() {
        let claim = core::PersistentVolumeClaim {
            spec: Some(core::PersistentVolumeClaimSpec {
                storage_class_name: Some("fast".into()),
                ..Default::default()
            }),
            ..Default::default()
        };
        let volume = core::PersistentVolume {
            spec: Some(core::PersistentVolumeSpec {
                storage_class_name: Some("fast".into()),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(claim => StorageClass::named_by; |class| class => "fast", absent "";);
        reads!(volume => StorageClass::named_by; |class| class => "fast", absent "";);
        let old = core::PersistentVolumeClaim {
            metadata: ObjectMeta {
                annotations: Some([(BETA_CLASS.to_owned(), "slow".to_owned())].into()),
                ..Default::default()
            },
            ..claim
        };
        let old = serde_json::to_value(&old).expect("JSON");
        let object =
            crate::diagnose::testing::world::bare("", "persistentvolumeclaims", "PersistentVolumeClaim", old);
        assert_eq!(StorageClass::named_by(&object), "slow");
    }
}
