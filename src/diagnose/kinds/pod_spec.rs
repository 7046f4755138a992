//! The spec of Pods.

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        read::{list, some_text, text},
        volume::Volume,
    },
    snapshot::facts::Object,
};

/// The spec of a Pod, or of the Pods that a workload makes.
#[derive(Clone, Copy)]
pub(crate) struct PodSpec<'a>(&'a Value);

impl<'a> PodSpec<'a> {
    /// The spec in a Pod, in a CronJob, or in the template of any other workload.
    pub(crate) fn of(object: &'a Object) -> Self {
        let place = if object.is("", "pods") {
            "/spec"
        } else if object.is("batch", "cronjobs") {
            "/spec/jobTemplate/spec/template/spec"
        } else {
            "/spec/template/spec"
        };
        PodSpec(object.value.pointer(place).unwrap_or(&Value::Null))
    }

    /// The `ServiceAccount` that it names; empty if it names none.
    pub(crate) fn service_account(self) -> &'a str {
        text(self.0, "/serviceAccountName")
    }

    /// Its containers without the init containers: name and image.
    pub(crate) fn containers(self) -> impl Iterator<Item = (Option<&'a str>, Option<&'a str>)> {
        let containers = list(self.0, "/containers").iter();
        containers.map(|container| (some_text(container, "/name"), some_text(container, "/image")))
    }

    /// The names of its containers.
    pub(crate) fn container_names(self) -> impl Iterator<Item = &'a str> {
        self.containers().filter_map(|(name, _)| name)
    }

    /// The images of its containers.
    pub(crate) fn images(self) -> impl Iterator<Item = &'a str> {
        self.containers().filter_map(|(_, image)| image)
    }

    /// What its containers start, where a container does not leave that to its image.
    pub(crate) fn commands(self) -> impl Iterator<Item = &'a str> {
        let containers = list(self.0, "/containers").iter();
        containers.filter_map(|container| some_text(container, "/command/0"))
    }

    /// Its volumes.
    pub(crate) fn volumes(self) -> impl Iterator<Item = Volume<'a>> {
        list(self.0, "/volumes").iter().map(Volume)
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::api::{apps::v1 as apps, batch::v1 as batch, core::v1 as core};
    use serde::Serialize;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    fn spec() -> core::PodSpec {
        core::PodSpec {
            service_account_name: Some("issuer".into()),
            containers: vec![core::Container {
                name: "main".into(),
                image: Some("example/issuer:1".into()),
                command: Some(vec!["/bin/issuer".into(), "serve".into()]),
                ..Default::default()
            }],
            volumes: Some(vec![core::Volume {
                name: "data".into(),
                ..Default::default()
            }]),
            ..Default::default()
        }
    }

    fn template() -> core::PodTemplateSpec {
        core::PodTemplateSpec {
            spec: Some(spec()),
            ..Default::default()
        }
    }

    fn is_read(object: &impl Serialize) {
        reads!(object => PodSpec::of;
            |spec| spec.service_account() => "issuer", absent "";
            |spec| spec.container_names().collect::<Vec<_>>() => ["main"], absent [""; 0];
            |spec| spec.images().collect::<Vec<_>>() => ["example/issuer:1"], absent [""; 0];
            |spec| spec.commands().collect::<Vec<_>>() => ["/bin/issuer"], absent [""; 0];
            |spec| spec.volumes().filter_map(Volume::name).collect::<Vec<_>>() => ["data"], absent [""; 0];
        );
    }

    #[test]
    fn finds_the_pod_spec_of_each_kind() {
        is_read(&core::Pod {
            spec: Some(spec()),
            ..Default::default()
        });
        is_read(&apps::Deployment {
            spec: Some(apps::DeploymentSpec {
                template: template(),
                ..Default::default()
            }),
            ..Default::default()
        });
        is_read(&apps::StatefulSet {
            spec: Some(apps::StatefulSetSpec {
                template: template(),
                ..Default::default()
            }),
            ..Default::default()
        });
        is_read(&apps::DaemonSet {
            spec: Some(apps::DaemonSetSpec {
                template: template(),
                ..Default::default()
            }),
            ..Default::default()
        });
        let job = batch::JobSpec {
            template: template(),
            ..Default::default()
        };
        is_read(&batch::CronJob {
            spec: Some(batch::CronJobSpec {
                job_template: batch::JobTemplateSpec {
                    spec: Some(job.clone()),
                    ..Default::default()
                },
                ..Default::default()
            }),
            ..Default::default()
        });
        is_read(&batch::Job {
            spec: Some(job),
            ..Default::default()
        });
    }
}
