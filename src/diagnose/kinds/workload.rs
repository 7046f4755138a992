//! What makes Pods: a Deployment, StatefulSet, DaemonSet, ReplicaSet or CronJob.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        read::{boolean, list, pairs},
        volume::ClaimTemplate,
    },
    snapshot::facts::Object,
};

/// What makes Pods. A question about a field that only some kinds have is answered with "absent" for the others.
#[derive(Clone, Copy)]
pub(crate) struct Workload<'a>(pub(crate) &'a Object);

impl<'a> Workload<'a> {
    /// The labels of its Pods.
    pub(crate) fn pod_labels(self) -> BTreeMap<String, String> {
        pairs(&self.0.value, "/spec/template/metadata/labels")
    }

    /// The labels by which it selects its Pods.
    pub(crate) fn selected_labels(self) -> BTreeMap<String, String> {
        pairs(&self.0.value, "/spec/selector/matchLabels")
    }

    /// The number of Pods that it is meant to have; none if it has no such number, as a DaemonSet.
    pub(crate) fn replicas(self) -> Option<i64> {
        Self::replicas_in(&self.0.value)
    }

    /// The same of a workload as somebody applied it.
    pub(crate) fn replicas_in(applied: &Value) -> Option<i64> {
        applied.pointer("/spec/replicas").and_then(Value::as_i64)
    }

    /// How many of its Pods are ready.
    pub(crate) fn ready_replicas(self) -> i64 {
        self.0.number("/status/readyReplicas").unwrap_or_default()
    }

    /// The number of nodes on which a DaemonSet is meant to run.
    pub(crate) fn wanted_nodes(self) -> Option<i64> {
        self.0.number("/status/desiredNumberScheduled")
    }

    /// On how many nodes a DaemonSet is ready.
    pub(crate) fn ready_nodes(self) -> i64 {
        self.0.number("/status/numberReady").unwrap_or_default()
    }

    /// How many Pods it has.
    pub(crate) fn pods(self) -> i64 {
        let replicas = self.0.number("/status/replicas");
        let of_daemon_set = || self.0.number("/status/currentNumberScheduled");
        replicas.or_else(of_daemon_set).unwrap_or_default()
    }

    /// Whether a CronJob starts no Jobs for now.
    pub(crate) fn is_suspended(self) -> bool {
        boolean(&self.0.value, "/spec/suspend") == Some(true)
    }

    /// The claims that a StatefulSet makes for each of its Pods.
    pub(crate) fn claim_templates(self) -> impl Iterator<Item = ClaimTemplate<'a>> {
        list(&self.0.value, "/spec/volumeClaimTemplates")
            .iter()
            .map(ClaimTemplate)
    }

    /// Whether a StatefulSet makes this claim from one of its templates: `TEMPLATE-SET-ORDINAL`.
    pub(crate) fn makes(self, claim: &Object) -> bool {
        let ordinal = |template: &str| {
            let rest = claim.name().strip_prefix(template)?;
            rest.strip_prefix('-')?
                .strip_prefix(self.0.name())?
                .strip_prefix('-')
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut names = self.claim_templates().filter_map(ClaimTemplate::name);
        names.any(|name| ordinal(name).is_some_and(is_number))
    }

    /// What becomes of the claims of a StatefulSet that is deleted: `Retain` or `Delete`.
    pub(crate) fn claims_when_deleted(self) -> &'a str {
        self.0
            .text("/spec/persistentVolumeClaimRetentionPolicy/whenDeleted")
    }

    /// What becomes of the claims of a StatefulSet that gets fewer Pods: `Retain` or `Delete`.
    pub(crate) fn claims_when_scaled(self) -> &'a str {
        self.0
            .text("/spec/persistentVolumeClaimRetentionPolicy/whenScaled")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::{apps::v1 as apps, batch::v1 as batch, core::v1 as core},
        apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
    };

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    fn labels() -> BTreeMap<String, String> {
        [("app".to_owned(), "web".to_owned())].into()
    }

    #[test]
    fn deployments() {
        let deployment = apps::Deployment {
            spec: Some(apps::DeploymentSpec {
                replicas: Some(3),
                selector: LabelSelector {
                    match_labels: Some(labels()),
                    ..Default::default()
                },
                template: core::PodTemplateSpec {
                    metadata: Some(ObjectMeta {
                        labels: Some(labels()),
                        ..Default::default()
                    }),
                    ..Default::default()
                },
                ..Default::default()
            }),
            status: Some(apps::DeploymentStatus {
                replicas: Some(2),
                ready_replicas: Some(1),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(deployment => Workload;
            |workload| workload.pod_labels() => labels(), absent BTreeMap::<&str, &str>::new();
            |workload| workload.selected_labels() => labels(), absent BTreeMap::<&str, &str>::new();
            |workload| workload.replicas() => Some(3), absent None::<()>;
            |workload| workload.ready_replicas() => 1, absent 0;
            |workload| workload.pods() => 2, absent 0;
        );
    }

    #[test]
    fn daemon_sets() {
        let daemon_set = apps::DaemonSet {
            status: Some(apps::DaemonSetStatus {
                desired_number_scheduled: 3,
                current_number_scheduled: 2,
                number_ready: 1,
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(daemon_set => Workload;
            |workload| workload.wanted_nodes() => Some(3), absent None::<()>;
            |workload| workload.pods() => 2, absent 0;
            |workload| workload.ready_nodes() => 1, absent 0;
        );
    }

    #[test]
    fn stateful_sets() {
        let set = apps::StatefulSet {
            spec: Some(apps::StatefulSetSpec {
                volume_claim_templates: Some(vec![core::PersistentVolumeClaim {
                    metadata: ObjectMeta {
                        name: Some("data".into()),
                        ..Default::default()
                    },
                    ..Default::default()
                }]),
                persistent_volume_claim_retention_policy: Some(
                    apps::StatefulSetPersistentVolumeClaimRetentionPolicy {
                        when_deleted: Some("Delete".into()),
                        when_scaled: Some("Retain".into()),
                    },
                ),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(set => Workload;
            |workload| workload.claim_templates().filter_map(ClaimTemplate::name).collect::<Vec<_>>()
                => ["data"], absent [""; 0];
            |workload| workload.claims_when_deleted() => "Delete", absent "";
            |workload| workload.claims_when_scaled() => "Retain", absent "";
        );
    }

    #[test]
    fn cron_jobs() {
        let job = batch::CronJob {
            spec: Some(batch::CronJobSpec {
                suspend: Some(true),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(job => Workload; |workload| workload.is_suspended() => true, absent false;);
    }
}
