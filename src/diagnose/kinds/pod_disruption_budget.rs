//! A PodDisruptionBudget.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// A PodDisruptionBudget.
#[derive(Clone, Copy)]
pub(crate) struct PodDisruptionBudget<'a>(pub(crate) &'a Object);

impl<'a> PodDisruptionBudget<'a> {
    /// The selector of its Pods.
    pub(crate) fn selector(self) -> Option<&'a Value> {
        self.0.field("/spec/selector")
    }

    /// How many of its Pods may be evicted now.
    pub(crate) fn allowed_disruptions(self) -> i64 {
        self.0.number("/status/disruptionsAllowed").unwrap_or_default()
    }

    /// How many of its Pods are healthy.
    pub(crate) fn healthy(self) -> i64 {
        self.0.number("/status/currentHealthy").unwrap_or_default()
    }

    /// How many Pods it counts.
    pub(crate) fn expected(self) -> i64 {
        self.0.number("/status/expectedPods").unwrap_or_default()
    }

    /// How many of its Pods must be healthy.
    pub(crate) fn wanted(self) -> i64 {
        self.0.number("/status/desiredHealthy").unwrap_or_default()
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::policy::v1 as policy, apimachinery::pkg::apis::meta::v1::LabelSelector};
    use serde_json::json;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn budgets() {
        let budget = policy::PodDisruptionBudget {
            spec: Some(policy::PodDisruptionBudgetSpec {
                selector: Some(LabelSelector {
                    match_labels: Some([("app".to_owned(), "web".to_owned())].into()),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            status: Some(policy::PodDisruptionBudgetStatus {
                disruptions_allowed: 1,
                current_healthy: 2,
                desired_healthy: 3,
                expected_pods: 4,
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(budget => PodDisruptionBudget;
            |budget| budget.allowed_disruptions() => 1, absent 0;
            |budget| budget.healthy() => 2, absent 0;
            |budget| budget.wanted() => 3, absent 0;
            |budget| budget.expected() => 4, absent 0;
            |budget| budget.selector().is_some_and(|it| *it == json!({"matchLabels": {"app": "web"}}))
                => true, absent false;
        );
    }
}
