//! A Job.

use crate::snapshot::facts::Object;

/// A Job.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a>(pub(crate) &'a Object);

impl<'a> Job<'a> {
    /// The controller that works on it. It is empty if Kubernetes itself does.
    pub(crate) fn manager(self) -> &'a str {
        self.0.text("/spec/managedBy")
    }

    /// Whether a Pod counts only once it has ended, and not as soon as it is being deleted.
    pub(crate) fn counts_only_ended(self) -> bool {
        self.0.text("/spec/podReplacementPolicy") == "Failed"
    }

    /// Whether somebody suspended it, so that no Pod of it runs.
    pub(crate) fn is_suspended(self) -> bool {
        self.0.field("/spec/suspend") == Some(&serde_json::Value::Bool(true))
    }

    /// How many of its Pods have not ended.
    pub(crate) fn active(self) -> i64 {
        self.0.number("/status/active").unwrap_or_default()
    }

    /// How many of its Pods have succeeded.
    pub(crate) fn succeeded(self) -> i64 {
        self.0.number("/status/succeeded").unwrap_or_default()
    }

    /// How many of its Pods have failed.
    pub(crate) fn failed(self) -> i64 {
        self.0.number("/status/failed").unwrap_or_default()
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::api::batch::v1 as batch;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn jobs() {
        let job = batch::Job {
            spec: Some(batch::JobSpec {
                managed_by: Some("kueue.example/multi".into()),
                pod_replacement_policy: Some("Failed".into()),
                suspend: Some(true),
                ..Default::default()
            }),
            status: Some(batch::JobStatus {
                active: Some(1),
                succeeded: Some(2),
                failed: Some(3),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(job => Job;
            |job| job.manager() => "kueue.example/multi", absent "";
            |job| job.is_suspended() => true, absent false;
            |job| job.counts_only_ended() => true, absent false;
            |job| job.active() => 1, absent 0;
            |job| job.succeeded() => 2, absent 0;
            |job| job.failed() => 3, absent 0;
        );
    }
}
