//! A volume of a Pod, and the claims that are made for Pods.

use serde_json::Value;

use crate::diagnose::kinds::read::some_text;

/// A volume of a Pod.
#[derive(Clone, Copy)]
pub(crate) struct Volume<'a>(pub(super) &'a Value);

impl<'a> Volume<'a> {
    /// Its name in the Pod.
    pub(crate) fn name(self) -> Option<&'a str> {
        some_text(self.0, "/name")
    }

    /// The claim that it names directly.
    pub(crate) fn claim(self) -> Option<&'a str> {
        some_text(self.0, "/persistentVolumeClaim/claimName")
    }

    /// The driver that mounts it without a claim.
    pub(crate) fn csi_driver(self) -> Option<&'a str> {
        some_text(self.0, "/csi/driver")
    }

    /// Whether it is a directory that is deleted with the Pod.
    pub(crate) fn is_empty_dir(self) -> bool {
        self.has("emptyDir")
    }

    /// Whether its claim is created with the Pod and deleted with it.
    pub(crate) fn is_ephemeral(self) -> bool {
        self.has("ephemeral")
    }

    /// The claim that is made for a generic ephemeral volume.
    pub(crate) fn claim_template(self) -> Option<ClaimTemplate<'a>> {
        self.0
            .pointer("/ephemeral/volumeClaimTemplate")
            .map(ClaimTemplate)
    }

    fn has(self, source: &str) -> bool {
        self.0.get(source).is_some_and(Value::is_object)
    }
}

/// A claim that is made for Pods: for an ephemeral volume or by a StatefulSet.
#[derive(Clone, Copy)]
pub(crate) struct ClaimTemplate<'a>(pub(super) &'a Value);

impl<'a> ClaimTemplate<'a> {
    /// Its name, with which the names of the claims of a StatefulSet begin.
    pub(crate) fn name(self) -> Option<&'a str> {
        some_text(self.0, "/metadata/name")
    }

    /// The storage class that it names. An empty name asks for volumes without a class.
    pub(crate) fn class(self) -> Option<&'a str> {
        let annotations = self.0.pointer("/metadata/annotations");
        let old = annotations.and_then(|all| all.get(super::storage_class::BETA_CLASS));
        let class = old.or_else(|| self.0.pointer("/spec/storageClassName"));
        class.and_then(Value::as_str)
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::{apps::v1 as apps, core::v1 as core},
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;
    use crate::diagnose::kinds::{Pod, Workload, storage_class::BETA_CLASS, testing::reads};

    fn template(class: Option<&str>, old_class: Option<&str>) -> core::PersistentVolumeClaim {
        core::PersistentVolumeClaim {
            metadata: ObjectMeta {
                name: Some("data".into()),
                annotations: old_class.map(|class| [(BETA_CLASS.to_owned(), class.to_owned())].into()),
                ..Default::default()
            },
            spec: Some(core::PersistentVolumeClaimSpec {
                storage_class_name: class.map(Into::into),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn volumes() {
        let claim = core::PersistentVolumeClaimTemplate {
            spec: template(Some("fast"), None).spec.expect("a spec"),
            ..Default::default()
        };
        let volume = |name: &str| core::Volume {
            name: name.into(),
            ..Default::default()
        };
        let pod = core::Pod {
            spec: Some(core::PodSpec {
                volumes: Some(vec![
                    core::Volume {
                        persistent_volume_claim: Some(core::PersistentVolumeClaimVolumeSource {
                            claim_name: "web-data".into(),
                            ..Default::default()
                        }),
                        ..volume("data")
                    },
                    core::Volume {
                        csi: Some(core::CSIVolumeSource {
                            driver: "d.example".into(),
                            ..Default::default()
                        }),
                        ..volume("inline")
                    },
                    core::Volume {
                        empty_dir: Some(core::EmptyDirVolumeSource::default()),
                        ..volume("scratch")
                    },
                    core::Volume {
                        ephemeral: Some(core::EphemeralVolumeSource {
                            volume_claim_template: Some(claim),
                        }),
                        ..volume("made")
                    },
                ]),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(pod => |object| Pod(object).volumes();
            |all| all.filter_map(Volume::name).collect::<Vec<_>>()
                => ["data", "inline", "scratch", "made"], absent [""; 0];
            |all| all.filter_map(Volume::claim).collect::<Vec<_>>() => ["web-data"], absent [""; 0];
            |all| all.filter_map(Volume::csi_driver).collect::<Vec<_>>() => ["d.example"], absent [""; 0];
            |all| all.filter(|volume| volume.is_empty_dir()).filter_map(Volume::name).collect::<Vec<_>>()
                => ["scratch"], absent [""; 0];
            |all| all.filter(|volume| volume.is_ephemeral()).filter_map(Volume::name).collect::<Vec<_>>()
                => ["made"], absent [""; 0];
            |all| all.filter_map(Volume::claim_template).filter_map(ClaimTemplate::class).collect::<Vec<_>>()
                => ["fast"], absent [""; 0];
        );
    }

    #[test]
    fn claim_templates() {
        let set = |template| apps::StatefulSet {
            spec: Some(apps::StatefulSetSpec {
                volume_claim_templates: Some(vec![template]),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(set(template(Some("fast"), None)) => |object| Workload(object).claim_templates();
            |all| all.filter_map(ClaimTemplate::name).collect::<Vec<_>>() => ["data"], absent [""; 0];
            |all| all.filter_map(ClaimTemplate::class).collect::<Vec<_>>() => ["fast"], absent [""; 0];
        );
        reads!(set(template(Some("fast"), Some("slow"))) => |object| Workload(object).claim_templates();
            |all| all.filter_map(ClaimTemplate::class).collect::<Vec<_>>() => ["slow"], absent [""; 0];
        );
    }
}
