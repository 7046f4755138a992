//! The phase of an object of any kind.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// The phase of an object, empty before it has one. None if the field holds something else than a text.
pub(crate) fn phase(object: &Object) -> Option<&str> {
    match object.value.pointer("/status/phase") {
        None | Some(Value::Null) => Some(""),
        Some(phase) => phase.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1 as core;
    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

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
