//! The fields of an object that one manager owns: an entry of `metadata.managedFields`.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::kinds::read::{some_text, text},
    snapshot::facts::Object,
};

/// The fields of an object that one manager owns.
#[derive(Clone, Copy)]
pub(crate) struct ManagedFields<'a>(&'a Value);

impl<'a> ManagedFields<'a> {
    /// The entries of all managers of an object, in their order.
    pub(crate) fn all(object: &'a Object) -> impl Iterator<Item = Self> {
        object.list("/metadata/managedFields").iter().map(ManagedFields)
    }

    /// The name of the program.
    pub(crate) fn manager(self) -> Option<&'a str> {
        some_text(self.0, "/manager")
    }

    /// When the program changed one of these fields last.
    pub(crate) fn time(self) -> Option<Timestamp> {
        self.time_in_words().parse().ok()
    }

    /// The same as it is written; empty if it is not.
    pub(crate) fn time_in_words(self) -> &'a str {
        text(self.0, "/time")
    }

    /// Whether it wrote them through the subresource `status`.
    pub(crate) fn is_of_status(self) -> bool {
        some_text(self.0, "/subresource") == Some("status")
    }

    /// The fields that it owns below this path, such as `f:metadata`, `f:finalizers`. None if it owns none there.
    pub(crate) fn below(self, path: &[&str]) -> Option<&'a Value> {
        let all = self.0.get("fieldsV1")?;
        path.iter().try_fold(all, |fields, name| fields.get(name))
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::core::v1 as core,
        apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta, Time},
    };
    use serde_json::json;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn entries() {
        let written: Timestamp = "2026-01-01T10:00:00Z".parse().expect("a time");
        let pod = core::Pod {
            metadata: ObjectMeta {
                managed_fields: Some(vec![ManagedFieldsEntry {
                    manager: Some("kubelet".into()),
                    time: Some(Time(written)),
                    subresource: Some("status".into()),
                    fields_v1: Some(FieldsV1(json!({"f:status": {"f:phase": {}}}))),
                    ..Default::default()
                }]),
                ..Default::default()
            },
            ..Default::default()
        };
        reads!(pod => |object| ManagedFields::all(object).next();
            |first| first.and_then(ManagedFields::manager) => Some("kubelet"), absent None::<()>;
            |first| first.and_then(ManagedFields::time) => Some(written), absent None::<()>;
            |first| first.map_or("", ManagedFields::time_in_words) => "2026-01-01T10:00:00Z", absent "";
            |first| first.is_some_and(ManagedFields::is_of_status) => true, absent false;
            |first| first.is_some_and(|one| one.below(&["f:status", "f:phase"]).is_some_and(Value::is_object)) => true, absent false;
        );
    }
}
