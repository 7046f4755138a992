//! A reference of an object to one of its owners.

use serde_json::Value;

use crate::{
    diagnose::kinds::read::{boolean, some_text, text},
    snapshot::facts::Object,
};

/// A reference of an object to one of its owners.
#[derive(Clone, Copy)]
pub(crate) struct OwnerReference<'a>(&'a Value);

impl<'a> OwnerReference<'a> {
    /// All references of an object, in their order.
    pub(crate) fn all(object: &'a Object) -> impl Iterator<Item = Self> {
        object.owners().iter().map(OwnerReference)
    }

    /// The reference to the owner that controls the object.
    pub(crate) fn to_controller(object: &'a Object) -> Option<Self> {
        Self::all(object).find(|owner| owner.is_to_controller())
    }

    /// The place of the reference with this index, for a JSON patch.
    pub(crate) fn pointer(index: usize) -> String {
        format!("/metadata/ownerReferences/{index}")
    }

    /// The group and version of the owner.
    pub(crate) fn api_version(self) -> &'a str {
        text(self.0, "/apiVersion")
    }

    /// The group of the owner.
    pub(crate) fn group(self) -> &'a str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// The kind of the owner.
    pub(crate) fn kind(self) -> &'a str {
        text(self.0, "/kind")
    }

    /// The name of the owner.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// The uid of the owner.
    pub(crate) fn uid(self) -> &'a str {
        text(self.0, "/uid")
    }

    /// Whether this object is the owner.
    pub(crate) fn is_to(self, owner: &Object) -> bool {
        some_text(self.0, "/uid") == Some(owner.uid())
    }

    /// Whether the owner controls the object.
    pub(crate) fn is_to_controller(self) -> bool {
        boolean(self.0, "/controller") == Some(true)
    }

    /// Whether an owner that is deleted in the foreground waits for the object.
    pub(crate) fn blocks_deletion(self) -> bool {
        boolean(self.0, "/blockOwnerDeletion") == Some(true)
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::core::v1 as core, apimachinery::pkg::apis::meta::v1 as meta};
    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    #[test]
    fn owners() {
        let pod = core::Pod {
            metadata: meta::ObjectMeta {
                owner_references: Some(vec![meta::OwnerReference {
                    api_version: "apps/v1".into(),
                    kind: "ReplicaSet".into(),
                    name: "web-1".into(),
                    uid: "u-1".into(),
                    controller: Some(true),
                    block_owner_deletion: Some(true),
                }]),
                ..Default::default()
            },
            ..Default::default()
        };
        let owner = bare(
            "apps",
            "replicasets",
            "ReplicaSet",
            json!({"metadata": {"uid": "u-1"}}),
        );
        reads!(pod => |object| OwnerReference::all(object).next();
            |first| first.map_or("", OwnerReference::api_version) => "apps/v1", absent "";
            |first| first.map_or("", OwnerReference::group) => "apps", absent "";
            |first| first.map_or("", OwnerReference::kind) => "ReplicaSet", absent "";
            |first| first.map_or("", OwnerReference::name) => "web-1", absent "";
            |first| first.map_or("", OwnerReference::uid) => "u-1", absent "";
            |first| first.is_some_and(|one| one.is_to(&owner)) => true, absent false;
            |first| first.is_some_and(OwnerReference::is_to_controller) => true, absent false;
            |first| first.is_some_and(OwnerReference::blocks_deletion) => true, absent false;
        );
        reads!(pod => OwnerReference::to_controller;
            |controller| controller.map(OwnerReference::name) => Some("web-1"), absent None::<()>;
        );
        let whole = serde_json::to_value(&pod).expect("an object as JSON");
        let first = whole
            .pointer(&OwnerReference::pointer(0))
            .expect("the first owner");
        assert_eq!(OwnerReference(first).name(), "web-1");
    }
}
