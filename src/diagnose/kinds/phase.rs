//! The phase of an object of any kind, and how far its controller has read it.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// The phase of an object, empty before it has one. None if the field holds something else than a text.
pub(crate) fn phase(object: &Object) -> Option<&str> {
    match object.field("/status/phase") {
        None | Some(Value::Null) => Some(""),
        Some(phase) => phase.as_str(),
    }
}

/// The generation of an object, and the one that its controller has seen, where the status tells.
pub(crate) fn generations(object: &Object) -> Option<(i64, i64)> {
    let seen = object.number("/status/observedGeneration")?;
    Some((object.number("/metadata/generation")?, seen))
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::{apps::v1 as apps, core::v1 as core},
        apimachinery::pkg::apis::meta::v1 as meta,
    };
    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    #[test]
    fn a_status_may_tell_which_generation_it_is_of() {
        let deployment = apps::Deployment {
            metadata: meta::ObjectMeta {
                generation: Some(3),
                ..Default::default()
            },
            status: Some(apps::DeploymentStatus {
                observed_generation: Some(2),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(deployment => generations; |of| of.unwrap_or_default() => (3, 2), absent (0, 0););
    }

    #[test]
    fn phases() {
        let namespace = core::Namespace {
            status: Some(core::NamespaceStatus {
                phase: Some("Terminating".into()),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(namespace => phase; |phase| phase.unwrap_or_default() => "Terminating", absent "";);
        let with = |status| bare("x.example", "widgets", "Widget", json!({"status": status}));
        assert_eq!(phase(&with(json!({}))), Some(""));
        assert_eq!(phase(&with(json!({"phase": 7}))), None);
    }
}
